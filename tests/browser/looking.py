"""What every page is asked: nothing for axe to find, nothing wider than the window."""

from axe_playwright_python.sync_playwright import Axe


def accessible(page):
    found = [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in Axe().run(page).response["violations"]]
    assert found == [], page.url
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
