"""The steps view: the same draft as the canvas, as cards in order."""

from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.choosing import choose
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

SPEC = """
name: Case report
nodes:
  picture: FileInput
    field: drawing
  look: AIStep
    label: Look at it
    prompt: What is on it?
    model: groq/openai/gpt-oss-120b
  trim: Regex
    pattern: a
  split: SplitText
edges:
  picture.file -> look.files
  look.output -> trim.text
  trim.text -> split.text
form:
  drawing: image
    label: Drawing
"""


def draft(studio: Studio, flow: str) -> dict[str, Any]:
    found: dict[str, Any] = studio.get(f"/flows/{flow}")["definition"]
    return found


def node(studio: Studio, flow: str, node_id: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in draft(studio, flow)["nodes"] if one["id"] == node_id)
    return found


def edges(studio: Studio, flow: str) -> set[str]:
    return {f"{one['source']}>{one['target']}" for one in draft(studio, flow)["edges"]}


@pytest.fixture
def flow(studio: Studio) -> str:
    return studio.flow(SPEC)


def test_steps_and_canvas_edit_one_draft(page: Page, studio: Studio, flow: str) -> None:
    page.goto(f"/flows/{flow}/steps")
    page.get_by_role("textbox", name="Name of step 2").fill("See what is there")
    page.get_by_role("link", name="Canvas").click()
    expect(page.locator('.react-flow__node[data-id="look"]')).to_contain_text("See what is there")
    until(lambda: node(studio, flow, "look")["label"], "See what is there")


def test_a_step_is_added_where_it_fits_moved_and_taken_back(page: Page, studio: Studio, flow: str) -> None:
    page.goto(f"/flows/{flow}/steps")
    page.get_by_role("button", name="Add a step after Regular expression").click()
    page.get_by_placeholder("Search components…").fill("combine")
    page.keyboard.press("Enter")
    until(lambda: {"combine_text>split", "trim>combine_text"} <= edges(studio, flow))
    page.get_by_role("button", name="Move Combine text up").click()
    until(lambda: edges(studio, flow), {"picture>look", "look>combine_text", "combine_text>trim", "trim>split"})
    page.get_by_role("button", name="More for Combine text").click()
    page.get_by_role("menuitem", name="Remove").click()
    until(lambda: any(one["id"] == "combine_text" for one in draft(studio, flow)["nodes"]), False)
    page.get_by_role("button", name="Undo").last.click()
    until(lambda: "combine_text>trim" in edges(studio, flow))


def test_a_model_that_sees_no_images_and_a_step_that_gives_another_kind_are_told(page: Page, flow: str) -> None:
    page.goto(f"/flows/{flow}/steps")
    expect(page.get_by_text("cannot read images")).to_be_visible()
    page.get_by_role("button", name="Expand Look at it").click()
    step = page.get_by_role("article", name="Step 2: Look at it")
    step.get_by_role("button", name="Model").click()
    page.get_by_placeholder("Search models…").fill("GPT-5.4 mini")
    page.keyboard.press("Enter")
    expect(page.get_by_text("cannot read images")).to_be_hidden()
    page.get_by_role("button", name="Expand Split text").click()
    step = page.get_by_role("article", name="Step 4: Split text")
    step.get_by_role("button", name="Input", exact=True).click()
    choose(step.get_by_role("combobox", name="Input type"), "Image")
    expect(page.get_by_text("Regular expression returns JSON, but this step expects an image.")).to_be_visible()


def test_a_shared_assistant_is_made_of_a_step_and_linked_by_another(page: Page, studio: Studio, flow: str) -> None:
    name = f"Looker {uuid4().hex[:6]}"
    page.goto(f"/flows/{flow}/steps")
    page.get_by_role("button", name="Expand Look at it").click()
    step = page.get_by_role("article", name="Step 2: Look at it")
    step.get_by_label("System prompt").fill("You look closely.")
    step.get_by_role("button", name="Share with other flows").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Create").click()
    until(lambda: node(studio, flow, "look")["params"].get("assistant"), name)
    made = {one["name"]: one["instructions"] for one in studio.get("/assistants")["items"]}
    assert made[name] == "You look closely."
    step.get_by_role("radio", name="Create new").click()
    until(lambda: node(studio, flow, "look")["params"].get("assistant"), None)
    step.get_by_role("radio", name="Use existing").click()
    choose(step.get_by_role("combobox", name="Use existing"), name)
    until(lambda: node(studio, flow, "look")["params"].get("assistant"), name)


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_use_it(browser: Browser, studio: Studio, console: Console, flow: str, *, dark: bool) -> None:
    with open_page(browser, studio.url, console, dark=dark, narrow=dark) as page:
        page.goto(f"/flows/{flow}/steps")
        page.get_by_role("button", name="Form").click()
        page.get_by_role("button", name="Expand Look at it").click()
        expect(page.get_by_label("Prompt", exact=False).first).to_be_visible()
        check_accessible(page, within="#content")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    console.check()
