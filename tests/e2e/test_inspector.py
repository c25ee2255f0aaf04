"""What is selected is changed in the inspector: fields, contracts without JSON, policies, own code, the form."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.choosing import choose
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

SPEC = """
name: Case report
nodes:
  page: URL
    url: https://example.org
  brief: AIStep
    label: Summary
    prompt: "Summarise "
    model: openai/gpt-5.4-mini
  clock: CurrentDate
  hook: WebhookOut
    url: https://example.org/hook
edges:
  page.text -> brief.input
  clock.tool -> brief.tools
  brief.output -> hook.payload
form:
  who: text
    label: Who asks
"""
SHOUT = """
from headgate.sdk import Component, field, output


class Shout(Component):
    label = "Shout"
    text: str = field(label="Text")

    @output()
    async def loud(self) -> str:
        return self.text.upper()
"""


def saved(studio: Studio, flow: str, node: str, member: Callable[[dict[str, Any]], object], wanted: object) -> None:
    """Wait until the server has what was set."""

    def now() -> object:
        nodes = studio.get(f"/flows/{flow}")["definition"]["nodes"]
        return member(next(one for one in nodes if one["id"] == node))

    until(now, wanted)


def open_node(page: Page, flow: str, node: str) -> Locator:
    """The inspector of a node of an open flow."""
    page.goto(f"/flows/{flow}")
    page.locator(f'.react-flow__node[data-id="{node}"]').click(position={"x": 40, "y": 12})
    return page.get_by_role("complementary", name="Inspector")


@pytest.fixture
def flow(studio: Studio) -> str:
    return studio.flow(SPEC)


class TestFields:
    def test_variables_by_their_names_numbers_and_choices_are_saved(
        self, page: Page, studio: Studio, flow: str
    ) -> None:
        inspector = open_node(page, flow, "brief")
        prompt = inspector.get_by_label("Prompt")
        prompt.press("End")
        inspector.get_by_role("button", name="Insert a variable").first.click()
        page.get_by_role("option", name="Input: Who asks").click()
        expect(prompt).to_have_value("Summarise {{flow_input.who}}")
        expect(prompt).to_be_focused()
        page.keyboard.type(" from {{")
        page.get_by_placeholder("Search variables…").fill("Title")
        page.keyboard.press("Enter")
        saved(
            studio, flow, "brief", lambda n: n["params"]["prompt"], "Summarise {{flow_input.who}} from {{page.title}}"
        )
        inspector.get_by_label("Name").fill("Brief of the page")
        choose(inspector.get_by_role("combobox", name="Answer"), "json")
        inspector.get_by_role("button", name="Advanced").click()
        inspector.get_by_label("Temperature").fill("0,3")
        saved(studio, flow, "brief", lambda n: n["params"].get("temperature"), 0.3)
        saved(studio, flow, "brief", lambda n: n["params"].get("output_type"), "json")
        saved(studio, flow, "brief", lambda n: n["label"], "Brief of the page")

    def test_a_secret_is_named_and_its_value_never_shown(self, page: Page, studio: Studio, flow: str) -> None:
        inspector = open_node(page, flow, "hook")
        inspector.get_by_role("button", name="New variable").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("hook secret")
        dialog.get_by_label("Value").fill("whsec_never_to_be_seen")
        dialog.get_by_role("button", name="Save").click()
        saved(studio, flow, "hook", lambda n: n["params"].get("secret"), {"secret": "HOOK_SECRET"})
        page.reload()
        expect(open_node(page, flow, "hook")).to_be_visible()
        assert "whsec_never_to_be_seen" not in page.content()
        assert "whsec_never_to_be_seen" not in page.evaluate("JSON.stringify({...localStorage})")
        assert "HOOK_SECRET" in [one["name"] for one in studio.get("/variables")["items"]]


class TestPolicies:
    def test_input_is_fetched_from_the_web_with_a_secret_in_a_header(
        self, page: Page, studio: Studio, flow: str
    ) -> None:
        inspector = open_node(page, flow, "brief")
        inspector.get_by_role("tab", name="Input").click()
        choose(inspector.get_by_role("combobox", name="Input source"), "URL (POST)")
        inspector.get_by_role("textbox", name="URL").fill("https://example.org/cases")
        inspector.get_by_role("group", name="Headers").get_by_role("button", name="Add").click()
        inspector.get_by_label("Name 1").fill("Authorization")
        inspector.get_by_label("Type of value 1").get_by_text("Secret").click()
        inspector.get_by_role("button", name="New variable").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("crm token")
        dialog.get_by_label("Value").fill("crm-token-value")
        dialog.get_by_role("button", name="Save").click()
        inspector.get_by_role("textbox", name="Body").fill('{"who": "{{flow_input.who}}"}')
        saved(studio, flow, "brief", lambda n: n["policy"].get("input_source"), "http_post")
        saved(
            studio,
            flow,
            "brief",
            lambda n: {key: (n["policy"].get("input_config") or {}).get(key) for key in ("url", "headers", "body")},
            {
                "url": "https://example.org/cases",
                "headers": {"Authorization": {"secret": "CRM_TOKEN", "scheme": "Bearer"}},
                "body": '{"who": "{{flow_input.who}}"}',
            },
        )

    def test_a_contract_is_made_without_json(self, page: Page, studio: Studio, flow: str) -> None:
        inspector = open_node(page, flow, "brief")
        inspector.get_by_role("tab", name="Contract").click()
        choose(inspector.get_by_role("combobox", name="Output contract"), "JSON with fields")
        inspector.get_by_role("button", name="Add field").click()
        inspector.get_by_label("Name of field 1").fill("people")
        choose(inspector.get_by_role("combobox", name="Type of people"), "Object")
        inspector.get_by_role("button", name="people is a list").click()
        inspector.get_by_role("button", name="Add a field to people").click()
        inspector.get_by_label("Name of field 1").nth(1).fill("age")
        choose(inspector.get_by_role("combobox", name="Type of age"), "Whole number")
        age = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
        schema = {"type": "object", "properties": {"people": {"type": "array", "items": age}}, "required": ["people"]}
        saved(studio, flow, "brief", lambda n: n["policy"].get("output_contract"), {"type": "json", "schema": schema})
        inspector = open_node(page, flow, "hook")
        inspector.get_by_role("tab", name="Settings").click()
        inspector.get_by_role("button", name="Insert a variable").first.click()
        expect(page.get_by_role("option", name="people")).to_be_visible()

    def test_a_contract_is_made_of_an_example(self, page: Page, studio: Studio, flow: str) -> None:
        inspector = open_node(page, flow, "brief")
        inspector.get_by_role("tab", name="Contract").click()
        choose(inspector.get_by_role("combobox", name="Output contract"), "JSON with fields")
        inspector.get_by_role("button", name="From an example").click()
        dialog = page.get_by_role("dialog", name="Fields from an example")
        dialog.get_by_role("textbox").click()
        page.keyboard.insert_text('{"who": "Ada", "age": 36, "tags": ["x"]}')
        dialog.get_by_role("button", name="Use these fields").click()
        expect(dialog).to_be_hidden()
        expect(inspector.get_by_label("Name of field 2")).to_have_value("age")
        tags = {"type": "array", "items": {"type": "string"}}
        told = {"who": {"type": "string"}, "age": {"type": "integer"}, "tags": tags}
        schema = {"type": "object", "properties": told, "required": ["who", "age", "tags"]}
        saved(studio, flow, "brief", lambda n: n["policy"].get("output_contract"), {"type": "json", "schema": schema})

    def test_only_tools_on_the_list_may_be_called(self, page: Page, studio: Studio, flow: str) -> None:
        inspector = open_node(page, flow, "brief")
        inspector.get_by_role("tab", name="Policy").click()
        inspector.get_by_role("radio", name="Only selected tools").click()
        expect(inspector.get_by_text("No tool is selected")).to_be_visible()
        inspector.get_by_role("checkbox", name="current_date").click()
        saved(studio, flow, "brief", lambda n: n["policy"].get("tool_allowlist"), ["current_date"])
        saved(studio, flow, "brief", lambda n: n["policy"].get("tool_policy"), "restricted")


class TestOwnCode:
    def test_code_is_checked_with_findings_by_line_and_then_known(self, page: Page, studio: Studio) -> None:
        node = {
            "id": "shout",
            "type": "Shout",
            "code": SHOUT.replace("return", "import os\n        return os.system or"),
        }
        made = studio.post("/flows", {"definition": {"name": "Own code", "nodes": [node]}})["id"]
        inspector = open_node(page, made, "shout")
        inspector.get_by_role("tab", name="Code").click()
        inspector.get_by_role("button", name="Check the code").click()
        expect(inspector.get_by_text("The code cannot run yet.")).to_be_visible()
        expect(inspector.get_by_text("'os.system' is not available").first).to_be_visible()
        inspector.get_by_role("textbox", name="Code").fill(SHOUT.strip())
        inspector.get_by_role("button", name="Check the code").click()
        expect(inspector.get_by_text("The code passed the check: Shout can run.")).to_be_visible()
        expect(inspector.get_by_text("Outputs: Loud")).to_be_visible()
        saved(studio, made, "shout", lambda n: n["code"].strip(), SHOUT.strip())
        inspector.get_by_role("tab", name="Settings").click()
        expect(inspector.get_by_role("textbox", name="Text")).to_be_visible()


class TestTheForm:
    def test_the_form_is_asked_for_and_built_beside_the_canvas(self, page: Page, studio: Studio, flow: str) -> None:
        page.goto(f"/flows/{flow}")
        page.get_by_role("button", name="Form and settings of this flow").click()
        inspector = page.get_by_role("complementary", name="Inspector")
        inspector.get_by_role("button", name="Add field").click()
        inspector.get_by_label("Question 2").fill("Which kind?")
        choose(inspector.get_by_role("combobox", name="Answer type: Which kind?"), "Choice")
        inspector.get_by_label("Entry 1").fill("new")
        inspector.get_by_role("button", name="More options for Which kind?").click()
        inspector.get_by_role("checkbox", name="Required").click()
        inspector.get_by_role("button", name=re.compile("Move Which kind")).press("ArrowUp")
        wanted = [("Which kind?", "select", True, ["new"]), ("Who asks", "text", False, [])]

        def form() -> object:
            asked = studio.get(f"/flows/{flow}")["definition"]["form"]
            return [(one["label"], one["type"], one["required"], one["options"]) for one in asked]

        until(form, wanted)


class TestEverybody:
    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    def test_the_inspector_is_accessible(
        self, browser: Browser, studio: Studio, console: Console, flow: str, dark: bool
    ) -> None:
        with open_page(browser, studio.url, console, dark=dark) as page:
            inspector = open_node(page, flow, "brief")
            for tab in ("Settings", "Input", "Contract", "Policy"):
                inspector.get_by_role("tab", name=tab).click()
                check_accessible(page, within="aside[aria-label=Inspector]")
        console.check()

    def test_tabs_that_do_not_fit_are_hinted_at(
        self, browser: Browser, studio: Studio, console: Console, flow: str
    ) -> None:
        with open_page(browser, studio.url, console, locale="sv-SE") as page:
            page.goto(f"/flows/{flow}")
            page.locator('.react-flow__node[data-id="brief"]').click(position={"x": 40, "y": 12})
            tabs = page.get_by_role("tablist", name="Inspektörens avsnitt")
            expect(tabs).to_be_visible()
            assert tabs.evaluate("tabs => tabs.scrollWidth > tabs.clientWidth")
            expect(tabs).to_have_css("background-attachment", "local, local, scroll, scroll")
        console.check()

    def test_on_a_telephone_it_is_a_sheet(self, browser: Browser, studio: Studio, console: Console, flow: str) -> None:
        with open_page(browser, studio.url, console, narrow=True) as page:
            page.goto(f"/flows/{flow}/steps")
            page.get_by_role("button", name="More for Summary").click()
            page.get_by_role("menuitem", name="Show on the canvas").click()
            inspector = page.get_by_role("complementary", name="Inspector")
            expect(inspector.get_by_label("Prompt")).to_be_visible()
            box = inspector.bounding_box()
            assert box is not None
            assert box["width"] == 390
            assert page.evaluate("document.documentElement.scrollWidth") == 390
            inspector.get_by_role("button", name="Close the inspector").click()
            expect(inspector).to_be_hidden()
        console.check()
