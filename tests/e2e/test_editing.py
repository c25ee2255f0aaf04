"""A draft that saves itself, follows what others do to it, and loses nothing."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

NODES = [
    {"id": "question", "type": "ChatInput", "label": "Question", "position": {"x": 0, "y": 0}},
    {
        "id": "ask",
        "type": "PromptTemplate",
        "label": "Ask",
        "position": {"x": 320, "y": 0},
        "params": {"template": "T"},
    },
    {"id": "answer", "type": "ChatOutput", "label": "Answer", "position": {"x": 640, "y": 0}},
]


@pytest.fixture
def flow(studio: Studio) -> str:
    """A flow of three nodes."""
    found: str = studio.post("/flows", {"name": "Letters", "definition": {"name": "Letters", "nodes": NODES}})["id"]
    return found


@pytest.fixture
def other(browser: Browser, studio: Studio, console: Console) -> Iterator[Page]:
    """A second window on the same studio."""
    with open_page(browser, studio.url, console) as page:
        yield page


def edit(studio: Studio, flow: str, **about: Any) -> None:
    """Change a flow as a program does: again where the page was quicker."""
    while True:
        found = studio.get(f"/flows/{flow}")
        change = {"revision": found["revision"], "definition": found["definition"] | about}
        answer = studio.api.patch(f"/flows/{flow}/draft", json=change)
        if answer.status_code != 409:
            answer.raise_for_status()
            return


def draft(studio: Studio, flow: str) -> dict[str, Any]:
    """The draft as the server has it."""
    found: dict[str, Any] = studio.get(f"/flows/{flow}")["definition"]
    return found


def open_flow(page: Page, flow: str) -> None:
    """Open a flow and wait until it is there."""
    page.goto(f"/flows/{flow}")
    expect(state(page, "Saved")).to_be_visible()


def state(page: Page, text: str) -> Locator:
    """The word that tells whether everything is saved."""
    return page.locator("header [role=status]").get_by_text(text, exact=True)


def rename(page: Page, name: str) -> None:
    """Give the flow another name in its header."""
    page.get_by_role("heading", level=1).get_by_role("button").click()
    page.get_by_label("Name of the flow").fill(name)
    page.keyboard.press("Enter")


def name_of(page: Page, name: str) -> Locator:
    """The flow's name in the header."""
    return page.get_by_role("heading", level=1, name=name)


class TestAutoSave:
    """Seed 002, Auto-Save with Draft Indicator."""

    def test_says_not_saved_then_saving_then_saved_and_the_server_has_it(
        self, page: Page, studio: Studio, flow: str
    ) -> None:
        open_flow(page, flow)
        page.evaluate(
            "window.seen = ['Saved'];"
            "new MutationObserver(() => seen.push(document.querySelector('header [role=status]').textContent))"
            ".observe(document.querySelector('header'), {subtree: true, childList: true, characterData: true})"
        )
        rename(page, "Kind letters")
        until(lambda: page.evaluate("seen.includes('Saving…') && seen.at(-1) === 'Saved'"))
        steps = [text for text, _ in groupby(page.evaluate("seen"))]
        assert steps == ["Saved", "Not saved", "Saving…", "Saved"]
        assert draft(studio, flow)["name"] == "Kind letters"
        page.locator("header [data-state=saved]").hover()
        expect(page.get_by_role("tooltip")).to_contain_text("Last saved")

    def test_ctrl_s_saves_at_once_and_undo_is_saved_too(self, page: Page, studio: Studio, flow: str) -> None:
        open_flow(page, flow)
        rename(page, "Second")
        page.keyboard.press("Control+s")
        expect(state(page, "Saved")).to_be_visible()
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(name_of(page, "Letters")).to_be_visible()
        expect(state(page, "Saved")).to_be_visible()
        assert draft(studio, flow)["name"] == "Letters"
        page.get_by_role("button", name="History", exact=True).click()
        expect(page.get_by_role("dialog", name="History").get_by_role("button").first).to_contain_text("Rename")

    def test_a_network_cut_loses_nothing(self, page: Page, studio: Studio, flow: str, console: Console) -> None:
        for part in ("ERR_INTERNET_DISCONNECTED", "409"):
            console.allow(part)
        open_flow(page, flow)
        page.context.set_offline(True)
        rename(page, "Written on a train")
        expect(state(page, "Not saved: no connection")).to_be_visible()
        expect(page.get_by_text("No network.")).to_be_visible()
        edit(studio, flow, description="Meanwhile")
        page.context.set_offline(False)
        expect(state(page, "Saved")).to_be_visible()
        found = draft(studio, flow)
        assert (found["name"], found["description"]) == ("Written on a train", "Meanwhile")

    def test_a_page_that_fell_over_offers_what_was_not_saved(
        self, page: Page, studio: Studio, flow: str, console: Console
    ) -> None:
        console.allow("Failed to load resource")
        open_flow(page, flow)
        # A page that falls over sends no last word.
        page.evaluate("const send = fetch; window.fetch = (a, b) => (b?.keepalive ? Promise.reject(b) : send(a, b))")
        page.route("**/draft", lambda route: route.fulfill(status=503, json={"code": "unavailable", "detail": "Busy"}))
        rename(page, "Almost lost")
        expect(state(page, "Not saved: no connection")).to_be_visible()
        page.on("dialog", lambda dialog: dialog.accept())
        page.reload()
        banner = page.get_by_role("region", name=re.compile("Unsaved changes from"))
        expect(banner).to_contain_text("One item differs")
        page.unroute("**/draft")
        banner.get_by_role("button", name="Restore changes").click()
        expect(name_of(page, "Almost lost")).to_be_visible()
        expect(state(page, "Saved")).to_be_visible()
        assert draft(studio, flow)["name"] == "Almost lost"
        page.reload()
        expect(name_of(page, "Almost lost")).to_be_visible()
        expect(banner).not_to_be_visible()

    def test_works_where_the_browser_keeps_nothing(self, page: Page, studio: Studio, flow: str) -> None:
        page.add_init_script(
            "for (const name of ['localStorage', 'sessionStorage'])"
            " Object.defineProperty(window, name, {get() { throw new DOMException('no', 'SecurityError') }})"
        )
        open_flow(page, flow)
        rename(page, "Private")
        expect(state(page, "Saved")).to_be_visible()
        assert draft(studio, flow)["name"] == "Private"


class TestLiveFollow:
    """Two tabs, a program, an MCP client: everybody sees one draft."""

    @pytest.fixture(autouse=True)
    def conflicts(self, console: Console) -> None:
        """Whoever saves second may be refused; the page then merges both changes and saves again."""
        console.allow("409")

    def test_two_tabs_follow_each_other(self, page: Page, other: Page, flow: str) -> None:
        open_flow(page, flow)
        open_flow(other, flow)
        rename(page, "From the first")
        expect(name_of(other, "From the first")).to_be_visible()
        expect(other.get_by_text("You, in another window, renamed the flow")).to_be_visible()
        rename(other, "From the second")
        expect(name_of(page, "From the second")).to_be_visible()
        for one in (page, other):
            expect(state(one, "Saved")).to_be_visible()

    def test_what_a_program_changes_appears_and_keeps_what_is_typed_here(
        self, page: Page, studio: Studio, flow: str
    ) -> None:
        open_flow(page, flow)
        rename(page, "Mine")
        more = {"id": "extra", "type": "TextInput", "label": "Extra step", "position": {"x": 0, "y": 300}}
        edit(studio, flow, nodes=[*draft(studio, flow)["nodes"], more])
        expect(page.get_by_text("added a node")).to_be_visible()
        expect(page.get_by_text("Extra step").first).to_be_visible()
        expect(state(page, "Saved")).to_be_visible()
        found = draft(studio, flow)
        assert found["name"] == "Mine"
        assert len(found["nodes"]) == 4

    def test_a_conflict_shows_both_sides_and_is_chosen_place_by_place(
        self, page: Page, studio: Studio, flow: str, console: Console
    ) -> None:
        open_flow(page, flow)
        expect(page.locator("html[data-parts=here]")).to_be_attached()
        page.context.set_offline(True)
        console.allow("ERR_INTERNET_DISCONNECTED")
        rename(page, "My name")
        page.get_by_role("button", name="More", exact=True).click()
        page.get_by_role("menuitem", name="Flow settings").click()
        page.get_by_label("Description").fill("My words")
        page.get_by_role("button", name="Done").click()
        edit(studio, flow, name="Their name", description="Their words")
        page.context.set_offline(False)
        page.get_by_role("button", name="Compare").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("2 items have two new values")
        for words in ("My name", "Their name", "My words", "Their words"):
            expect(dialog).to_contain_text(words)
        check_accessible(page)
        dialog.get_by_role("group", name="Name").get_by_label("Theirs").check()
        dialog.get_by_role("button", name="Save selection").click()
        expect(state(page, "Saved")).to_be_visible()
        found = draft(studio, flow)
        assert (found["name"], found["description"]) == ("Their name", "My words")
        expect(name_of(page, "Their name")).to_be_visible()

    def test_a_flow_that_is_deleted_elsewhere_can_be_kept_as_a_new_one(
        self, page: Page, studio: Studio, console: Console, flow: str
    ) -> None:
        console.allow("404")  # what the page asks of the flow at that moment
        open_flow(page, flow)
        studio.api.delete(f"/flows/{flow}").raise_for_status()
        expect(page.get_by_role("region", name="This flow was deleted")).to_be_visible()
        page.get_by_role("button", name="Save as a new flow").click()
        expect(name_of(page, "Letters (copy)")).to_be_visible()

    def test_a_version_that_somebody_publishes_is_told(self, page: Page, studio: Studio) -> None:
        flow = studio.flow("name: Echo\nnodes:\n  text: TextInput\n    text: hello\n")
        open_flow(page, flow)
        expect(page.get_by_role("img", name="Published")).not_to_be_visible()
        studio.post(f"/flows/{flow}/publish", {})
        expect(page.get_by_role("img", name="Published")).to_be_visible()
