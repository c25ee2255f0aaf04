"""The first page: from nothing, a sentence, a template or a file to a flow; and looking after the flows there are."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio

TALK = "name: {}\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"
WEATHER = '''
from typing import ClassVar
from headgate.sdk import Component, Text, output

class Weather(Component):
    """Tells the weather."""

    hosts: ClassVar = ("api.example.org",)

    @output()
    def told(self) -> Text:
        return "sunny"
'''


TWINS = '{"headgate_flow": 1, "nodes": [{"id": "twin", "type": "ChatInput"}, {"id": "twin", "type": "ChatInput"}]}'
HOSTILE: list[tuple[str | bytes, str]] = [
    ("[" * 100_000, "is nested more than"),
    (b"\xff\xfe\x00binary", "not UTF-8 text"),
    ('{"headgate_flow": 1, "nodes": 7}', "nodes"),
    ('{"nodes": [{"type": "n8n-nodes-base.code", "typeVersion": 1}], "connections": {}}', "a file of n8n"),
    (TWINS, "2 nodes have the id 'twin'"),
]


def choose(page: Page, name: str, content: str | bytes) -> None:
    file: FilePayload = {
        "name": name,
        "mimeType": "text/plain",
        "buffer": content if isinstance(content, bytes) else content.encode(),
    }
    page.get_by_role("dialog").locator("input[type=file]").set_input_files(file)


class TestFirstVisit:
    def test_offers_one_field_and_templates_that_run_as_they_are(self, page: Page) -> None:
        nothing: dict[str, Any] = {"items": [], "next_cursor": None}
        page.route("**/api/v1/flows?**", lambda route: route.fulfill(json=nothing))
        page.goto("/")
        expect(page.get_by_label("Describe what the flow should do")).to_be_visible()
        expect(page.get_by_role("heading", name="Or start from a template")).to_be_visible()
        expect(page.get_by_text("Ready to run", exact=True)).to_have_count(6)
        check_accessible(page)

    def test_a_template_with_a_file_runs_on_its_sample_data(self, page: Page) -> None:
        page.goto("/templates")
        page.get_by_role("button", name="Spreadsheets", exact=True).click()
        page.get_by_role("button", name="View Sales by month").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("2026-01-05,120")).to_be_visible()
        check_accessible(page)
        dialog.get_by_role("button", name="Use template").click()
        page.wait_for_url("**/flows/*")
        page.get_by_role("button", name="Run", exact=True).click()
        panel = page.get_by_role("complementary", name="Run")
        expect(panel.get_by_text("sales.csv").first).to_be_visible()
        panel.get_by_role("button", name="Run", exact=True).click()
        expect(panel.get_by_text("Completed").first).to_be_visible()
        expect(panel.get_by_text("2026-03", exact=True).first).to_be_visible()

    def test_a_template_with_a_form_is_filled_in(self, page: Page) -> None:
        page.goto("/templates")
        page.get_by_role("button", name="Ready to run", exact=True).click()
        expect(page.get_by_role("button", name="View Research assistant")).to_have_count(0)
        page.get_by_role("button", name="View Quote with VAT").click()
        page.get_by_role("dialog").get_by_role("button", name="Use template").click()
        page.wait_for_url("**/flows/*")
        page.get_by_role("button", name="Run", exact=True).click()
        panel = page.get_by_role("complementary", name="Run")
        expect(panel.get_by_label("Customer")).to_have_value("Nordia")
        panel.get_by_role("button", name="Run", exact=True).click()
        expect(panel.get_by_text("Quote for Nordia").first).to_be_visible()

    def test_a_sentence_becomes_a_flow_and_asks_the_assistant(self, page: Page) -> None:
        page.goto("/")
        page.get_by_role("button", name="Mask email addresses and personal numbers in a text").click()
        page.keyboard.press("Enter")
        page.wait_for_url("**/flows/*")
        expect(page.get_by_role("heading", name="Mask email addresses and personal numbers in a text")).to_be_visible()
        expect(page).not_to_have_url("?ask=")

    def test_a_template_is_looked_at_and_used(self, page: Page) -> None:
        page.goto("/templates")
        page.get_by_label("Search templates, or describe what you need").fill("mask personal data")
        page.get_by_role("button", name="View Mask personal data").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("None: it is ready to run.")).to_be_visible()
        dialog.get_by_role("button", name="Use template").click()
        page.wait_for_url("**/flows/*")
        expect(page.get_by_role("heading", name="Mask personal data")).to_be_visible()


class TestFiles:
    def test_are_looked_into_before_they_open(self, page: Page, studio: Studio) -> None:
        before = len(studio.get("/flows")["items"])
        nodes: list[Any] = [{"id": "weather", "type": "Weather", "code": WEATHER}, {"id": "said", "type": "ChatOutput"}]
        edges = [{"source": "weather", "output": "told", "target": "said", "input": "input"}]
        sent = {"headgate_flow": 1, "name": "Weather report", "nodes": nodes, "edges": edges}
        page.goto("/")
        page.get_by_role("button", name="From a file").click()
        choose(page, "weather.json", json.dumps(sent))
        dialog = page.get_by_role("dialog", name="Weather report")
        expect(dialog.get_by_text("Nothing has been run.")).to_be_visible()
        expect(dialog.get_by_text("not checked here")).to_be_visible()
        expect(dialog.get_by_text("api.example.org").first).to_be_visible()
        assert len(studio.get("/flows")["items"]) == before
        check_accessible(page, within="[role=dialog]")
        dialog.get_by_role("button", name="Open flow").click()
        page.wait_for_url("**/flows/*")
        expect(page.get_by_role("heading", name="Weather report")).to_be_visible()

    def test_that_are_hostile_are_refused_in_words(self, page: Page) -> None:
        page.goto("/")
        page.get_by_role("button", name="From a file").click()
        for content, told in HOSTILE:
            choose(page, "evil.json", content)
            expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text(told)
            expect(page.get_by_role("button", name="Open flow")).to_have_count(0)
            another = page.get_by_role("button", name="Choose another file")
            if another.is_visible():
                another.click()


class TestFlows:
    def test_are_found_deleted_and_brought_back(self, page: Page, studio: Studio) -> None:
        studio.flow(TALK.format("Quarterly letters"))
        studio.flow(TALK.format("Something else"))
        page.goto("/")
        page.get_by_label("Search flows").fill("quarterly")
        expect(page.get_by_role("link", name="Something else")).to_have_count(0)
        flow = page.get_by_role("link", name="Quarterly letters")
        expect(flow).to_be_visible()
        page.get_by_role("button", name="More for Quarterly letters").click()
        page.get_by_role("menuitem", name="Delete").click()
        expect(flow).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(flow).to_be_visible()
        page.get_by_label("Search flows").fill("nothing is called this")
        page.get_by_role("button", name="Show all flows").click()
        expect(page.get_by_role("link", name="Something else").first).to_be_visible()
        page.get_by_label("Search flows").fill("quarterly")
        expect(flow).to_be_visible()
        for _ in range(9):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "Quarterly letters":
                break
        page.keyboard.press("Enter")
        page.wait_for_url("**/flows/*")

    def test_show_their_newest_run_and_what_is_wrong(self, page: Page, studio: Studio) -> None:
        flow_id = studio.flow(TALK.format("Ran once"))
        studio.post(f"/flows/{flow_id}/runs", {"text": "a", "wait": True})
        studio.flow("name: Half done\nnodes:\n  said: ChatOutput\n")
        page.goto("/")
        card = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Ran once"))
        expect(card.get_by_text("Completed")).to_be_visible()
        expect(card.get_by_role("img", name="Preview of Ran once")).to_be_attached()
        half = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Half done"))
        expect(half.get_by_text("1 problem")).to_be_visible()

    def test_are_renamed_copied_and_downloaded(self, page: Page, studio: Studio, tmp_path: Path) -> None:
        studio.flow(TALK.format("First name"))
        page.goto("/")
        page.get_by_role("button", name="More for First name").click()
        page.get_by_role("menuitem", name="Rename").click()
        page.get_by_role("textbox", name="Name").fill("Second name")
        page.keyboard.press("Enter")
        more = page.get_by_role("button", name="More for Second name", exact=True)
        more.click()
        page.get_by_role("menuitem", name="Duplicate").click()
        expect(page.get_by_role("link", name="Second name (copy)")).to_be_visible()
        more.click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name="Download (JSON)").click()
        assert download.value.suggested_filename == "Second-name.json"
        download.value.save_as(tmp_path / "flow.json")
        assert json.loads((tmp_path / "flow.json").read_text())["headgate_flow"] == 1

    def test_come_page_by_page(self, page: Page, studio: Studio) -> None:
        for number in range(30):
            studio.flow(TALK.format(f"Paged {number:02}"))
        page.goto("/?search=paged")
        cards = page.get_by_role("link", name="Paged")
        expect(cards).to_have_count(24)
        page.get_by_role("button", name="Show more").click()
        expect(cards).to_have_count(30)
        page.get_by_role("radio", name="List").click()
        expect(cards).to_have_count(30)
        check_accessible(page)

    def test_can_be_used_in_the_dark_and_on_a_telephone(
        self, browser: Browser, studio: Studio, console: Console
    ) -> None:
        studio.flow(TALK.format("In the dark"))
        with open_page(browser, studio.url, console, dark=True, narrow=True) as page:
            for place, shown in (("/", "Preview of In the dark"), ("/templates", "Preview of Echo")):
                page.goto(place)
                page.get_by_role("heading", name=shown.removeprefix("Preview of ")).first.scroll_into_view_if_needed()
                expect(page.get_by_role("img", name=shown).first).to_be_attached()
                assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
                check_accessible(page)
        console.check()
