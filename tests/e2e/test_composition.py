"""Selected steps become a flow on the canvas, and steps again; undo takes either back."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until
from tests.e2e.test_canvas import node, opened

WORDS = """name: Words
nodes:
  heard: ChatInput
  first: PromptTemplate
    template: "{words} one"
  second: PromptTemplate
    template: "{words} two"
  said: ChatOutput
edges:
  heard.text -> first.words
  first.text -> second.words
  second.text -> said.input
"""


def choose(page: Page) -> None:
    """Select both steps in the middle."""
    node(page, "first").click()
    page.keyboard.down("Shift")
    node(page, "second").click()
    page.keyboard.up("Shift")


def types(studio: Studio, flow: str) -> list[str]:
    """The types of the stored draft."""
    return sorted(one["type"] for one in studio.get(f"/flows/{flow}")["definition"]["nodes"])


class TestExtract:
    def test_by_keyboard_and_back_by_undo(self, page: Page, studio: Studio) -> None:
        flow = opened(page, studio, WORDS)
        choose(page)
        page.keyboard.press("ControlOrMeta+Shift+e")
        dialog = page.get_by_role("dialog", name="Extract into a flow")
        expect(dialog).to_be_visible()
        check_accessible(page)
        dialog.get_by_role("textbox", name="Name of the new flow").fill("Two words")
        dialog.get_by_role("button", name="Extract").click()
        expect(dialog).to_be_hidden()
        expect(node(page, "two_words")).to_be_visible()
        until(lambda: types(studio, flow), ["ChatInput", "ChatOutput", "RunFlow"])
        page.keyboard.press("ControlOrMeta+z")
        expect(node(page, "first")).to_be_visible()
        until(lambda: types(studio, flow), ["ChatInput", "ChatOutput", "PromptTemplate", "PromptTemplate"])

    def test_for_each_line_by_the_menu(self, page: Page, studio: Studio) -> None:
        flow = opened(page, studio, WORDS)
        choose(page)
        node(page, "second").click(button="right")
        page.get_by_role("menuitem", name="Repeat for each item").click()
        dialog = page.get_by_role("dialog", name="Repeat for each item")
        expect(dialog.get_by_role("radio", name="For each item")).to_be_checked()
        check_accessible(page)
        dialog.get_by_role("radio", name="Until").click()
        dialog.get_by_role("textbox", name="Name of the new flow").fill("Two words")
        expect(dialog.get_by_role("button", name="Extract")).to_be_disabled()
        dialog.get_by_role("radio", name="For each item").click()
        dialog.get_by_role("button", name="Extract").click()
        expect(page.get_by_text("It runs for each item from heard.", exact=True)).to_be_visible()
        until(lambda: types(studio, flow), ["ChatInput", "ChatOutput", "ForEach"])
        expect(node(page, "two_words").get_by_role("button", name="Flow: Two words")).to_be_visible()
        page.keyboard.press("ControlOrMeta+z")
        expect(node(page, "first")).to_be_visible()
        until(lambda: types(studio, flow), ["ChatInput", "ChatOutput", "PromptTemplate", "PromptTemplate"])

    def test_and_inline_by_the_menu(self, page: Page, studio: Studio) -> None:
        flow = opened(page, studio, WORDS)
        choose(page)
        node(page, "second").click(button="right")
        page.get_by_role("menuitem", name=re.compile("Extract into a flow")).click()
        page.get_by_role("textbox", name="Name of the new flow").fill("Menu words")
        page.get_by_role("dialog").get_by_role("button", name="Extract").click()
        call = node(page, "menu_words")
        expect(call).to_be_visible()
        call.click(button="right")
        page.get_by_role("menuitem", name=re.compile("Inline the flow")).click()
        expect(node(page, "first")).to_be_visible()
        until(lambda: types(studio, flow), ["ChatInput", "ChatOutput", "PromptTemplate", "PromptTemplate"])

    def test_a_refusal_is_shown_in_the_dialog(self, page: Page, studio: Studio, console: Console) -> None:
        console.allow("422")
        opened(page, studio, WORDS)
        node(page, "heard").click()
        page.keyboard.press("ControlOrMeta+Shift+e")
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("textbox", name="Name of the new flow").fill("Nothing")
        dialog.get_by_role("button", name="Extract").click()
        expect(dialog.get_by_role("alert")).to_contain_text("no step that can become a flow")


LINE = """name: One line
nodes:
  heard: ChatInput
  read: ParseJSON
  said: ChatOutput
edges:
  heard.text -> read.text
  read.data -> said.input
"""
BATCH = """name: Batch
nodes:
  heard: TextInput
    text: |
      1
      two
      3
  each: ForEach
    flow: {flow}
    parallel: 1
    on_error: continue
  said: ChatOutput
edges:
  heard.text -> each.items
  each.text -> said.input
"""


def batch(page: Page, studio: Studio) -> tuple[str, str]:
    """Open a flow that runs another one for each line; the ids of both."""
    inner = studio.flow(LINE)
    studio.post(f"/flows/{inner}/publish", {})
    return inner, opened(page, studio, BATCH.format(flow=inner))


class TestShowSteps:
    def test_by_keyboard_with_the_states_of_each_run(self, page: Page, studio: Studio) -> None:
        inner, flow = batch(page, studio)
        node(page, "each").focus()
        node(page, "each").click()
        page.keyboard.press("s")
        region = page.get_by_role("region", name="Steps of One line, version 1")
        expect(region).to_be_focused()
        expect(region.get_by_role("status")).to_have_text("3 steps")
        expect(region.get_by_role("button", name="Parse JSON")).to_be_visible()
        expect(region.get_by_role("link", name="Edit One line")).to_have_attribute(
            "href", f"/flows/{inner}?caller={flow}"
        )
        check_accessible(page)
        page.keyboard.press("Escape")
        expect(region).to_be_hidden()
        expect(node(page, "each")).to_be_focused()
        page.keyboard.press("s")
        run(page)
        expect(region.get_by_role("status")).to_have_text("2 of 3 completed, 1 failed")
        read = region.get_by_role("button", name="Parse JSON")
        expect(read).to_have_accessible_name("Parse JSON, read, completed")
        region.get_by_role("button", name="Previous run").click()
        expect(region.get_by_text("2 of 3", exact=True)).to_be_visible()
        expect(read).to_have_accessible_name("Parse JSON, read, failed")
        read.press("Enter")
        expect(region.get_by_role("status")).to_contain_text("Parse JSON · Failed")
        check_accessible(page)
        page.reload()
        expect(region).to_be_visible()
        region.get_by_role("button", name="Hide steps").click()
        expect(region).to_be_hidden()
        assert studio.get(f"/flows/{flow}")["revision"] == 1

    def test_leads_to_the_flow_and_back_and_shows_what_was_changed(self, page: Page, studio: Studio) -> None:
        inner, _ = batch(page, studio)
        node(page, "each").click()
        page.keyboard.press("s")
        region = page.get_by_role("region", name="Steps of One line")
        expect(region.get_by_role("status")).to_have_text("3 steps")
        region.get_by_role("link", name="Edit One line").click()
        expect(node(page, "read")).to_be_visible()
        back = page.get_by_role("link", name="Back to Batch")
        expect(back).to_have_attribute("title", re.compile("runs the published version of this flow"))
        node(page, "said").click()
        page.keyboard.press("Delete")
        until(lambda: types(studio, inner) == ["ChatInput", "ParseJSON"])
        check_accessible(page)
        back.click()
        expect(region.get_by_role("status")).to_have_text("3 steps")
        region.get_by_role("link", name="Edit One line").click()
        studio.post(f"/flows/{inner}/publish", {})
        back.click()
        expect(region.get_by_role("status")).to_have_text("2 steps")
        expect(region).to_have_accessible_name("Steps of One line, version 2")

    def test_changes_a_step_in_the_frame_in_the_flow_that_it_is_of(self, page: Page, studio: Studio) -> None:
        inner, flow = batch(page, studio)
        node(page, "each").click()
        page.keyboard.press("s")
        region = page.get_by_role("region", name="Steps of One line")
        region.get_by_role("button", name="Parse JSON").click()
        panel = page.get_by_role("complementary", name="Inspector")
        expect(page.get_by_text("You change the flow One line.")).to_be_visible()
        check_accessible(page)
        text = panel.get_by_role("textbox", name="Name").first
        text.fill("Read the line")
        text.blur()
        until(lambda: studio.get(f"/flows/{inner}")["definition"]["nodes"][1].get("label"), "Read the line")
        assert studio.get(f"/flows/{flow}")["revision"] == 1
        page.locator("[data-nested-draft]").get_by_role("button", name="Undo", exact=True).click()
        until(lambda: studio.get(f"/flows/{inner}")["definition"]["nodes"][1].get("label") or "", "")
        assert studio.get(f"/flows/{flow}")["revision"] == 1
        page.get_by_role("button", name="Settings of the node that runs this flow").click()
        expect(page.get_by_text("You change the flow One line.")).to_be_hidden()
        expect(panel.get_by_text("For each").first).to_be_visible()


def run(page: Page) -> None:
    """Run the flow."""
    page.locator("header").first.get_by_role("button", name="Run", exact=True).click()
    panel = page.get_by_role("complementary", name="Run", exact=True)
    panel.get_by_role("textbox", name="Text").fill("now")
    panel.get_by_role("button", name="Run", exact=True).click()
