"""What every page is asked: nothing for axe to find, nothing wider than the window."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


def settled(page):
    """What htmx brought is there and listens: a key or a choice before then would be lost, as nobody's hand is so fast."""
    expect(page.locator(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")).to_have_count(0)


def accessible(page):
    found = [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in Axe().run(page).response["violations"]]
    assert found == [], page.url
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url


def roomy(page):
    """Nothing to be hit is too small for a hand: WCAG 2.2's rule, which axe asks only when told to."""
    found = Axe().run(page, options={"runOnly": ["target-size"]}).response["violations"]
    assert [node["html"][:120] for violation in found for node in violation["nodes"]] == [], page.url
