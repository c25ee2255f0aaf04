"""Folders, tags, favourites, selection and the trash on the first page; comments on nodes; item counts on edges."""

import re

from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import NARROW, Console, open_page
from tests.e2e.support.studio import Studio

TALK = "name: {}\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"
LINES = """
name: Counted
nodes:
  text: TextInput
    text: "one\\ntwo\\nthree"
  lines: SplitText
    separator: "\\n"
  joined: JoinText
edges:
  text.text -> lines.text
  lines.parts -> joined.parts
"""


def three(studio: Studio, word: str) -> list[str]:
    return [studio.flow(TALK.format(f"{word} {number}")) for number in (1, 2, 3)]


def show(page: Page, word: str) -> None:
    page.goto(f"/?search={word}")
    expect(page.get_by_role("link", name=f"{word} 1")).to_be_visible()


class TestSelection:
    def test_by_keys_moves_several_into_a_folder_that_the_address_keeps(self, page: Page, studio: Studio) -> None:
        three(studio, "Walrus")
        show(page, "Walrus")
        page.get_by_role("link", name="Walrus 3").focus()
        page.keyboard.press(" ")
        page.keyboard.press("Shift+ArrowRight")
        bar = page.get_by_role("region", name="2 selected")
        check_accessible(page)
        bar.get_by_role("button", name="Move to folder").click()
        page.get_by_label("Folder", exact=True).fill("Sea/Mammals")
        page.get_by_role("dialog").get_by_role("button", name="Move to folder").click()
        expect(page.get_by_text("2 flows moved").first).to_be_visible()
        expect(bar).to_have_count(0)
        page.get_by_role("button", name=re.compile("^Sea")).click()
        expect(page).to_have_url(re.compile("folder=Sea"))
        expect(page.get_by_role("link", name=re.compile("^Walrus"))).to_have_count(2)
        page.reload()
        expect(page.get_by_role("link", name=re.compile("^Walrus"))).to_have_count(2)
        page.get_by_role("button", name=re.compile("^Mammals")).click()
        expect(page).to_have_url(re.compile("folder=Sea%2FMammals"))
        expect(page.get_by_role("link", name=re.compile("^Walrus"))).to_have_count(2)

    def test_by_mouse_tags_them_and_the_tag_filters(self, page: Page, studio: Studio) -> None:
        three(studio, "Otter")
        show(page, "Otter")
        page.get_by_role("checkbox", name="Select Otter 1").click()
        page.get_by_role("checkbox", name="Select Otter 2").click()
        page.get_by_role("region", name="2 selected").get_by_role("button", name="Tags").click()
        page.get_by_role("dialog").get_by_label("Tags", exact=True).fill("Playful, otters")
        page.get_by_role("button", name="Add tags").click()
        expect(page.get_by_text("2 flows tagged").first).to_be_visible()
        page.goto("/?tag=playful")
        expect(page.get_by_role("link", name=re.compile("^Otter"))).to_have_count(2)
        check_accessible(page)

    def test_favourites_have_their_place(self, page: Page, studio: Studio) -> None:
        three(studio, "Lynx")
        show(page, "Lynx")
        page.get_by_role("button", name="Favourite: Lynx 2").click()
        expect(page.get_by_role("button", name="Favourite: Lynx 2")).to_have_attribute("aria-pressed", "true")
        page.goto("/?show=favourites")
        expect(page.get_by_role("link", name="Lynx 2")).to_be_visible()
        expect(page.get_by_role("link", name="Lynx 1")).to_have_count(0)

    def test_deleted_flows_come_back_from_the_trash(self, page: Page, studio: Studio) -> None:
        three(studio, "Heron")
        show(page, "Heron")
        page.get_by_role("link", name="Heron 1").focus()
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        expect(page.get_by_text("3 flows moved to the trash").first).to_be_visible()
        page.get_by_role("button", name=re.compile("^Trash")).click()
        expect(page.get_by_text("After 30 days in the trash, flows can no longer be restored")).to_be_visible()
        check_accessible(page)
        page.get_by_role("button", name="Heron 2", exact=True).click()
        page.get_by_role("region", name="1 selected").get_by_role("button", name="Restore").click()
        expect(page.get_by_text("1 flow restored").first).to_be_visible()
        show_again = page.goto("/?search=Heron")
        assert show_again is not None
        expect(page.get_by_role("link", name="Heron 2")).to_be_visible()
        expect(page.get_by_role("link", name=re.compile("^Heron"))).to_have_count(1)


MORE = re.compile("More$")
"""The button of the other places; before that it says how many things wait there."""
BREAKS = (
    "name: Broken heron\nnodes:\n  heard: ChatInput\n  parse: ParseJSON\n  said: ChatOutput\nedges:\n"
    "  heard.text -> parse.text\n  parse.data -> said.input\n"
)


class TestPhone:
    def test_reaches_places_that_the_bar_has_no_room_for(self, browser: Browser, studio: Studio) -> None:
        flow_id = studio.flow(BREAKS)
        studio.post(f"/flows/{flow_id}/publish", {})
        studio.post(f"/flows/{flow_id}/runs", {"text": "no JSON", "wait": True, "version": "published"})
        console = Console()
        with open_page(browser, studio.url, console, viewport=NARROW) as page:
            page.goto("/")
            more = page.get_by_role("button", name=MORE)
            more.click()
            sheet = page.get_by_role("dialog", name="More")
            expect(sheet.get_by_role("link")).to_have_text(
                ["Templates", "Chat", "Triggers", "Knowledge", re.compile(r"\d waiting for you ?Observe$"), "Settings"]
            )
            check_accessible(page, within="[role=dialog]")
            sheet.get_by_role("link", name="Templates").click()
            expect(page).to_have_url(re.compile("/templates$"))
            expect(more).to_have_attribute("data-status", "active")
        console.check()


class TestPalette:
    def test_forgives_letters_and_offers_what_was_used_last(self, page: Page, studio: Studio) -> None:
        page.goto(f"/flows/{studio.flow(TALK.format('Recent badger'))}/overview")
        expect(page.get_by_role("heading", level=1, name="Recent badger")).to_be_visible()
        palette = page.get_by_role("dialog", name="Commands")
        page.keyboard.press("Control+k")
        expect(palette.get_by_role("combobox")).to_be_focused()
        page.keyboard.type("autolay")
        expect(palette.get_by_role("option", name="Auto layout")).to_be_visible()
        page.keyboard.press("Control+a")
        page.keyboard.type("add text input")
        palette.get_by_role("option", name="Add Text input").first.click()
        expect(page.locator(".react-flow__node")).to_have_count(3)
        page.keyboard.press("Control+k")
        expect(palette.get_by_role("group", name="Recent")).to_be_visible()
        expect(palette.get_by_role("option", name="Recent badger")).to_have_count(1)


class TestComments:
    def test_are_written_on_a_node_marked_and_resolved(self, page: Page, studio: Studio) -> None:
        page.goto(f"/flows/{studio.flow(TALK.format('Discussed'))}")
        node = page.locator(".react-flow__node").first
        node.click()
        page.get_by_role("tab", name="Comments").click()
        box = page.get_by_role("textbox", name="Comment")
        box.fill("Why @")
        page.get_by_role("list", name="Members to mention").get_by_role("button").first.click()
        expect(box).to_have_value(re.compile("^Why @.+ $"))
        page.get_by_role("button", name="Comment", exact=True).click()
        comments = page.get_by_role("list", name="Comments")
        expect(comments.get_by_role("listitem")).to_have_count(1)
        expect(node.get_by_role("img", name="1 comment")).to_be_visible()
        check_accessible(page)
        comments.get_by_role("button", name="More for this comment").click()
        page.get_by_role("menuitem", name="Resolve").click()
        expect(node.get_by_role("img", name="1 comment")).to_have_count(0)
        page.get_by_role("button", name="Show 1 resolved comment").click()
        expect(comments.get_by_text("Resolved")).to_be_visible()
