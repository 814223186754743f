"""A real Chromium against a real server on a real socket; every page is watched for CSP and console errors."""

import os
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.conftest import CHROMIUM

# Playwright's own event loop runs in this thread; the ORM is called beside it, not inside it
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@dataclass
class Watched:
    """Pages of one person; `complaints` is what the console and the network had to say."""

    context: BrowserContext
    base: str
    complaints: list[str] = field(default_factory=list)

    def page(self) -> Page:
        page = self.context.new_page()
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "response", lambda r: self.complaints.append(f"{r.status} {r.url}") if r.status >= 500 else None
        )
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.text} {message.location.get('url', '')}")

    def sign_in(self, name: str, password: str = "pass-word-1") -> Page:
        page = self.page()
        page.goto(f"{self.base}/sign-in/")
        page.fill("input[name=username]", name)
        page.fill("input[name=password]", password)
        page.keyboard.press("Enter")
        page.wait_for_url(lambda address: "sign-in" not in address)
        page.wait_for_load_state()
        return page


@pytest.fixture
def browse(chromium: Browser, live_server):
    """`browse(width=390, dark=True)` opens a browser of one's own; afterwards nothing may have complained."""
    opened: list[Watched] = []

    def open_(*, width: int = 1440, height: int = 900, dark: bool = False, script: bool = True) -> Watched:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
            reduced_motion="reduce",
        )
        context.set_default_timeout(30_000)  # generous: the machine may be busy
        watched = Watched(context=context, base=live_server.url)
        opened.append(watched)
        return watched

    yield open_
    complaints = [text for watched in opened for text in watched.complaints]
    for watched in opened:
        watched.context.close()
    assert complaints == []
