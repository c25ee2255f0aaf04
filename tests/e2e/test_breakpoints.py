"""Breakpoints in the page: set one, see the run stop before it, step and continue; it is kept after a reload."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import PATIENCE_MS, Console, open_page
from tests.e2e.support.studio import Studio

FLOW = """name: Stepped
nodes:
  start: TextInput
    label: The text
  first: PromptTemplate
    label: First step
    template: "first {text}"
  second: PromptTemplate
    label: Second step
    template: "second {text}"
  out: ChatOutput
    label: The result
edges:
  start.text -> first.text
  first.text -> second.text
  second.text -> out.input
"""

expect.set_options(timeout=PATIENCE_MS)


def node(page: Page, node_id: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{node_id}"]')


def begin(page: Page, flow_id: str) -> Locator:
    """Set a breakpoint by keyboard, press Run, and return the stopped panel."""
    page.goto(f"/flows/{flow_id}")
    node(page, "first").click()
    page.keyboard.press("b")
    expect(node(page, "first").get_by_role("img", name="Breakpoint")).to_be_visible()
    page.locator("header").get_by_role("button", name="Run", exact=True).first.click()
    panel = page.get_by_role("complementary", name="Run", exact=True)
    expect(panel.get_by_text("Stops at 1 breakpoint")).to_be_visible()
    run = panel.get_by_role("button", name="Run", exact=True)
    stopped = panel.get_by_text("Stopped before First step")
    expect(run.or_(stopped).first).to_be_visible()
    if run.is_visible():
        run.click()
    expect(stopped).to_be_visible()
    return panel


@pytest.fixture
def page(browser: Browser, studio: Studio, console: Console) -> Iterator[Page]:
    with open_page(browser, studio.url, console) as page:
        yield page
    console.check()


class TestBreakpoints:
    def test_a_run_stops_steps_and_continues(self, page: Page, studio: Studio, tmp_path: Path) -> None:
        flow_id = studio.flow(FLOW)
        panel = begin(page, flow_id)
        run_id = studio.get(f"/flow-runs?flow_id={flow_id}")["items"][0]["id"]
        page.screenshot(path=str(tmp_path / "stopped.png"))
        check_accessible(page)
        panel.get_by_role("button", name="Next step").click()
        expect(panel.get_by_text("Stopped before Second step")).to_be_visible()
        statuses = [step["status"] for step in studio.get(f"/flow-runs/{run_id}")["steps"]]
        assert statuses == ["completed", "completed", "waiting", "pending"]
        panel.get_by_role("button", name="Continue", exact=True).click()
        expect(panel.get_by_text("Completed").first).to_be_visible()
        page.reload()
        node(page, "first").click(button="right")
        page.get_by_role("menuitem", name="Remove breakpoint").click()
        expect(page.get_by_role("img", name="Breakpoint")).to_have_count(0)
        page.locator("header").get_by_role("button", name="Run", exact=True).first.click()
        panel.get_by_role("button", name="Step through").click()
        expect(panel.get_by_text("Stopped before The text")).to_be_visible()
        panel.get_by_role("button", name="Continue without stops").click()
        expect(panel.get_by_text("Completed").first).to_be_visible()

    def test_a_narrow_dark_page_shows_where_a_run_is_stopped(
        self, browser: Browser, studio: Studio, console: Console, tmp_path: Path
    ) -> None:
        flow_id = studio.flow(FLOW)
        run = studio.post(f"/flows/{flow_id}/runs", {"stop_before": ["first"]})
        with open_page(browser, studio.url, console, narrow=True, dark=True) as page:
            page.goto(f"/flows/{flow_id}/runs/{run['id']}")
            expect(page.get_by_text("Stopped before First step")).to_be_visible()
            page.screenshot(path=str(tmp_path / "narrow.png"))
            check_accessible(page)
            page.get_by_role("button", name="Continue without stops").click()
            expect(page.get_by_text("Completed").first).to_be_visible()
