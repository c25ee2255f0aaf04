"""The overview in the browser: a flow as it is, and as a run went through it."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.choosing import choose
from tests.e2e.support.studio import Studio

FLOW = """
name: Numbers
nodes:
  given: TextInput
    label: What was given
    text: "{{flow_input.text}}"
  parsed: ParseJSON
    label: As data
  told: PromptTemplate
    label: Told
    template: "{data}"
  out: ChatOutput
    policy:
      input_source: all_previous_steps
edges:
  given.text -> parsed.text
  parsed.data -> told.data
  told.text -> out.input
"""


@pytest.fixture
def flow(studio: Studio) -> str:
    """A flow whose second step fails on what is no JSON."""
    return studio.flow(FLOW)


def run(studio: Studio, flow: str, text: str) -> str:
    found: str = studio.post(f"/flows/{flow}/runs", {"text": text, "wait": True})["id"]
    return found


def test_a_flow_is_shown_as_it_is_and_cannot_be_changed(page: Page, flow: str) -> None:
    page.goto(f"/flows/{flow}/overview")
    steps = page.get_by_role("region", name="Steps")
    expect(steps.get_by_role("listitem")).to_have_count(4)
    expect(page.locator(".react-flow__node")).to_have_count(4)
    expect(page.locator(".react-flow__minimap-node")).to_have_count(4)
    drawn = "paths => paths.map(path => getComputedStyle(path).strokeDasharray).sort()"
    assert page.locator(".react-flow__edge-path").evaluate_all(drawn).count("8px, 6px") == 2
    box = page.locator('.react-flow__node[data-id="given"]')
    before = box.bounding_box()
    assert before is not None
    page.mouse.move(before["x"] + 20, before["y"] + 10)
    page.mouse.down()
    page.mouse.move(before["x"] + 20, before["y"] + 110, steps=4)
    page.mouse.up()
    page.keyboard.press("Delete")
    expect(page.locator(".react-flow__node")).to_have_count(4)
    expect(page.get_by_text("Unsaved")).to_have_count(0)


def test_a_failed_run_shows_at_a_glance_where_it_failed(page: Page, studio: Studio, flow: str) -> None:
    failed = run(studio, flow, "no json")
    page.goto(f"/flows/{flow}/overview?run={failed}")
    expect(page.locator('[data-node="given"][data-status="completed"]')).to_be_visible()
    expect(page.locator('[data-node="parsed"][data-status="failed"]')).to_be_visible()
    error = studio.get(f"/flow-runs/{failed}")["error"]["message"]
    steps = page.get_by_role("region", name="Steps")
    expect(steps.get_by_text(error[:40])).to_be_visible()
    page.get_by_role("link", name="As data").click()
    expect(page).to_have_url(f"{studio.url}/flows/{flow}/runs/{failed}?step=parsed")


def test_runs_are_chosen_and_their_files_taken(page: Page, studio: Studio, flow: str) -> None:
    good = run(studio, flow, '{"a": 1}')
    page.goto(f"/flows/{flow}/overview")
    choose(page.get_by_role("combobox", name="Show"), "completed", exact=False)
    expect(page).to_have_url(f"{studio.url}/flows/{flow}/overview?run={good}")
    expect(page.locator('[data-status="completed"]')).to_have_count(4)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
        page.get_by_role("menuitem", name="Run evidence").click()
    evidence = json.loads(Path(download.value.path()).read_bytes())
    assert evidence["run"]["flow_run_id"] == good
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
        page.get_by_role("menuitem", name="Diagram (SVG)").click()
    assert "completed, " in Path(download.value.path()).read_text()


def test_a_run_that_goes_on_is_followed(page: Page, studio: Studio) -> None:
    waiting = """
name: Slow
nodes:
  first: TextInput
    text: one
  pause: Wait
    seconds: 8
  out: ChatOutput
edges:
  first.text -> pause.value
  pause.value -> out.input
"""
    flow = studio.flow(waiting)
    page.goto(f"/flows/{flow}/overview")  # what the page needs is there before the run begins
    expect(page.locator('[data-node="pause"]')).to_be_visible()
    going = studio.post(f"/flows/{flow}/runs", {"text": "x"})["id"]
    page.goto(f"/flows/{flow}/overview?run={going}")
    expect(page.locator('[data-node="pause"][data-status="waiting"]')).to_be_visible()
    expect(page.locator('[data-node="out"][data-status="completed"]')).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_read_it(browser: Browser, studio: Studio, console: Console, flow: str, *, dark: bool) -> None:
    failed = run(studio, flow, "no json")
    with open_page(browser, studio.url, console, dark=dark, narrow=dark) as page:
        page.goto(f"/flows/{flow}/overview?run={failed}")
        expect(page.locator(".react-flow__node")).to_have_count(4)
        check_accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    console.check()
