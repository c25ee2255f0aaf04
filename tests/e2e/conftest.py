"""A real browser on the real server: Debian's Chromium, driven by Playwright.

`studio` is a server of this worker with auto-login; `page` a fresh, private browser window on it, in English. A test
fails when the page wrote an error to the console or broke its content policy, whatever else it saw.
`HEADGATE_E2E_URL` names a page that runs already (`vite dev`), for work on the page.
"""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.support.browser import BROWSER_OPTIONS, PATIENCE_MS, Console, open_page
from tests.e2e.support.studio import Studio, start_studio

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser a worker; its windows share nothing."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**BROWSER_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server with auto-login, SQLite and the offline builder; tests share it and make flows of their own."""
    running = os.environ.get("HEADGATE_E2E_URL")
    if running:
        yield Studio(running)
        return
    with start_studio(tmp_path_factory.mktemp("studio")) as found:
        yield found


@pytest.fixture
def console() -> Console:
    """What pages of this test wrote to the console; `console.allow("...")` for what a test brings about."""
    return Console()


@pytest.fixture
def page(browser: Browser, studio: Studio, console: Console) -> Iterator[Page]:
    """A private window of 1440x900 on the studio."""
    with open_page(browser, studio.url, console) as page:
        yield page
    console.check()
