"""Windows of the browser, and what is wrong in them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Response

from tests.support.patience import PATIENCE_SECONDS

EXECUTABLE = os.environ.get("HEADGATE_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
BROWSER_OPTIONS: dict[str, Any] = {
    "executable_path": EXECUTABLE,  # None: the browser that Playwright itself installed
    "args": [
        *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
        *("--disable-component-update", "--disable-sync", "--no-sandbox"),
    ],
}
WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
PATIENCE_MS = 1000 * PATIENCE_SECONDS


class Console:
    """Errors and broken policies of the pages of one test."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self._allowed: list[str] = []
        self._refused: list[Response] = []
        self._told: list[str] = []

    def allow(self, part: str) -> None:
        """An error with these words is what the test is about."""
        self._allowed.append(part)

    def watch(self, page: Page) -> None:
        """Note what this page complains of."""
        page.on("console", self._heard)
        page.on("pageerror", self._crashed)
        page.on("response", self._answered)

    def read(self) -> None:
        """Note what was asked and answered where a page complained, as long as its answers can be asked for."""
        for answer in self._refused:
            if any(answer.url in error for error in self.errors):
                self._told.append(_said(answer))
        self._refused.clear()

    def check(self) -> None:
        """Fail where a page complained."""
        found = [error for error in self.errors if not any(part in error for part in self._allowed)]
        assert not found, "\n".join([*found, *self._told])

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _crashed(self, error: Error) -> None:
        self.errors.append(str(error))

    def _answered(self, answer: Response) -> None:
        if answer.status >= 400:
            self._refused.append(answer)


def _said(answer: Response) -> str:
    request = answer.request
    asked = f"{answer.status} {request.method} {answer.url} {(request.post_data or '')[:4000]}"
    try:
        return f"{asked}\n{answer.text()[:2000]}"
    except Error as error:  # the page has gone on: its answers are forgotten
        return f"{asked}\n{error}"


@contextmanager
def open_page(
    browser: Browser, url: str, console: Console, *, dark: bool = False, narrow: bool = False, **options: Any
) -> Iterator[Page]:
    """A private window on the studio, in English unless `locale` says otherwise."""
    context = browser.new_context(
        **{
            "base_url": url,
            "viewport": NARROW if narrow else WIDE,
            "color_scheme": "dark" if dark else "light",
            "locale": "en-GB",
            **options,
        }
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    console.watch(page)
    try:
        yield page
    finally:
        console.read()
        context.close()
