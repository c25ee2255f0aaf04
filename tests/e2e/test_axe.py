"""Every main place without any violation that axe-core finds, in both themes and on a phone."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_clean
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio

TALK = "name: Clean\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"
SECTIONS = (
    *("models", "variables", "mcp", "flowise", "assistants", "files", "keys", "members", "directory", "keyring"),
    *("audit", "limits", "retention", "account", "appearance", "shortcuts", "about"),
)
PLACES = (
    *("/", "/?show=trash", "/templates", "/runs", "/inbox", "/develop", "/develop/new", "/observe", "/design"),
    *(f"/settings/{section}" for section in SECTIONS),
)
SETTLED = """async () => {
    const size = () => document.body.innerHTML.length;
    for (let before = -1; before !== size(); ) {
        before = size();
        await new Promise((resolve) => setTimeout(resolve, 600));
    }
}"""
"""Waits until the page draws nothing new: streams of a flow never let the network rest."""
VIEWS = ("", "/steps", "/overview", "/runs", "/tests", "/publish")


def visit(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.locator("h1").first).to_be_attached()  # the module of the place was loaded
    page.evaluate(SETTLED)


@pytest.mark.parametrize(
    ("dark", "narrow"),
    [
        pytest.param(False, False, id="wide-light"),
        pytest.param(True, True, id="narrow-dark"),
        pytest.param(True, False, id="wide-dark", marks=pytest.mark.campaign),
        pytest.param(False, True, id="narrow-light", marks=pytest.mark.campaign),
    ],
)
class TestPlaces:
    def test_are_clean(self, browser: Browser, studio: Studio, *, dark: bool, narrow: bool) -> None:
        flow_id = studio.flow(TALK)
        run = studio.post(f"/flows/{flow_id}/runs", {"text": "hello", "wait": True})
        views = [f"/flows/{flow_id}{view}" for view in (*VIEWS, f"/runs/{run['id']}")]
        console = Console()
        problems = []
        with open_page(browser, studio.url, console, dark=dark, narrow=narrow) as page:
            for address in (*PLACES, *views):
                visit(page, address)
                try:
                    check_clean(page)
                except AssertionError as error:
                    problems.append(str(error))
        assert not problems, "\n\n".join(problems)
