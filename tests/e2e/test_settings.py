"""The settings: what a person sets there is so, and no secret is ever shown again."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.choosing import choose
from tests.e2e.support.studio import Studio, start_studio
from tests.support.mcp_server import McpProcess
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import json_reply

KEY = "sk-neverseenagain123456"
SECTIONS = (
    "Models", "Connections", "Variables", "MCP servers", "Flowise servers", "API keys",
    "Workspace files", "Shared assistants",
    "Members and spaces", "Encryption keys", "Audit log", "Retention", "My account", "Appearance", "Shortcuts", "About",
)  # fmt: skip
pytestmark = pytest.mark.xdist_group("settings")  # one server for all of them


@pytest.fixture(scope="module")
def near(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server that lets flows reach this machine, where the MCP server of the test is."""
    with start_studio(
        tmp_path_factory.mktemp("near"), HEADGATE_HTTP__ALLOWED_INTERNAL_CIDRS='["127.0.0.0/8"]'
    ) as found:
        yield found


class TestProviders:
    def test_are_connected_and_tested_with_a_real_call(self, page: Page, studio: Studio) -> None:
        with OpenAIServer() as server:
            server.model_list = server.wrong_key("Incorrect API key provided.")
            page.goto("/settings/models")
            page.get_by_role("button", name="Connect a provider").click()
            page.get_by_role("radio", name="OpenAI-compatible server").click()
            page.get_by_role("button", name="Test connection").click()
            expect(page.get_by_role("alert")).to_have_text("Enter a value.")
            page.get_by_label("Server address").fill(server.base_url)
            page.get_by_label("API key").fill(KEY)
            page.get_by_role("button", name="Save and test").click()
            expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("Incorrect API key provided.")
            server.model_list = json_reply({"object": "list", "data": [{"id": "house-model"}]})
            page.get_by_role("button", name="Test connection").click()
            expect(page.get_by_text("Connected to OpenAI-compatible server")).to_be_visible()
            assert server.asked_for_models[-1].headers["authorization"] == f"Bearer {KEY}"
            page.get_by_role("button", name="Done").click()
        row = page.get_by_role("list", name="Providers").get_by_role("listitem").filter(has_text="OpenAI-compatible")
        expect(row.get_by_text("Ready", exact=True)).to_be_visible()
        assert KEY not in page.content()
        for name in ("OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_API_KEY"):
            studio.api.delete(f"/organisation/variables/{name}").raise_for_status()


class TestVariables:
    def test_are_written_and_never_shown(self, page: Page) -> None:
        page.goto("/settings/variables")
        page.get_by_role("button", name="Add a variable").first.click()
        page.get_by_label("Name").fill("TEAM_KEY")
        page.get_by_label("Value").fill(KEY)
        page.get_by_role("button", name="Save").click()
        row = page.get_by_role("list", name="Variables").get_by_role("listitem").filter(has_text="TEAM_KEY")
        expect(row).to_contain_text("secret")
        row.get_by_role("button", name="Replace").click()
        expect(page.get_by_label("Value")).to_have_value("")
        assert KEY not in page.content()
        page.keyboard.press("Escape")
        row.get_by_role("button", name="Delete TEAM_KEY").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
        expect(row).to_have_count(0)


class TestMcpServers:
    def test_show_their_tools_which_can_be_switched(
        self, browser: Browser, near: Studio, console: Console, tmp_path: Path
    ) -> None:
        with McpProcess(tmp_path / "tally") as server, open_page(browser, near.url, console) as page:
            page.goto("/settings/mcp")
            page.get_by_role("button", name="Add a server").first.click()
            page.get_by_label("Name").fill("helper")
            page.get_by_label("Address").fill(server.url)
            page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).last.click()
            row = page.get_by_role("list", name="MCP servers").get_by_role("listitem").filter(has_text="helper").first
            row.get_by_role("button", name="Tools", exact=True).click()
            tools = row.get_by_role("list", name="Tools")
            switch = tools.get_by_role("switch").first
            was = switch.get_attribute("aria-checked")
            switch.click()
            expect(switch).to_have_attribute("aria-checked", "false" if was == "true" else "true")
            row.get_by_role("button", name="Delete helper").click()
            page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
            expect(row).to_have_count(0)
        console.check()


class TestKeys:
    def test_are_shown_once_and_work_until_they_are_revoked(self, page: Page, studio: Studio) -> None:
        name = f"From a test, {uuid4()}"
        page.goto("/settings/keys")
        page.get_by_role("button", name="Create an API key").first.click()
        page.get_by_label("Name").fill(name)
        page.get_by_role("dialog").get_by_role("button", name="Create an API key").click()
        key = page.get_by_test_id("new-key").inner_text()
        page.get_by_role("button", name="I have saved it").click()
        assert key not in page.content()
        headers = {"Authorization": f"Bearer {key}"}
        assert httpx2.get(f"{studio.url}/api/v1/me", headers=headers).status_code in {200, 403}
        assert httpx2.get(f"{studio.url}/api/v1/flows", headers=headers).status_code == 200
        row = page.get_by_role("list", name="API keys").get_by_role("listitem").filter(has_text=name)
        row.get_by_role("button", name="Revoke").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Revoke").click()
        expect(row.get_by_text("Revoked")).to_be_visible()
        assert httpx2.get(f"{studio.url}/api/v1/flows", headers=headers).status_code == 401


class TestTheRest:
    def test_the_audit_log_is_filtered_and_verified(self, page: Page, studio: Studio) -> None:
        studio.api.put("/variables/AUDITED", json={"value": "x"}).raise_for_status()
        page.goto("/settings/audit")
        choose(page.get_by_role("combobox", name="Resource"), "Variables")
        page.get_by_role("button", name="Variable set AUDITED").first.click()
        expect(page.get_by_text("Asked for")).to_be_visible()
        page.get_by_role("button", name="Verify").click()
        expect(page.get_by_text("The log is intact")).to_be_visible()

    def test_shortcuts_get_other_keys_and_tell_conflicts(self, page: Page) -> None:
        page.goto("/settings/shortcuts")
        page.get_by_role("button", name="Keys for Commands").click()
        page.keyboard.press("Control+z")
        expect(page.get_by_role("alert")).to_contain_text("Undo")
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Keys for Commands").click()
        page.keyboard.press("Control+Shift+p")
        expect(page.get_by_text("One shortcut is customised.")).to_be_visible()
        page.keyboard.press("Control+Shift+p")
        expect(page.get_by_role("dialog")).to_be_visible()

    def test_theme_and_language_are_kept(self, page: Page) -> None:
        page.goto("/settings/appearance")
        page.get_by_role("radio", name="Dark").click()
        page.get_by_role("radio", name="Svenska").click()
        expect(page.get_by_role("heading", name="Utseende")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="Utseende")).to_be_visible()
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        assert page.evaluate("document.documentElement.lang") == "sv"

    def test_a_workspace_file_is_uploaded_changed_and_deleted(self, page: Page) -> None:
        page.goto("/settings/files")
        page.get_by_label("Upload").set_input_files({"name": "notes.md", "mimeType": "text/plain", "buffer": b"# Hi"})
        page.get_by_role("button", name="notes.md", exact=True).click()
        expect(page.get_by_role("dialog")).to_contain_text("# Hi")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Delete notes.md").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_role("button", name="notes.md", exact=True)).to_have_count(0)

    def test_a_file_whose_letters_would_be_lost_is_not_kept(self, page: Page) -> None:
        page.goto("/settings/files")
        lost = "Malm\u00f6".encode("latin-1")
        page.locator("input[type=file]").set_input_files({"name": "town.txt", "mimeType": "text/plain", "buffer": lost})
        told = "town.txt: The file is not UTF-8 text. Only text files can be stored here."
        expect(page.get_by_text(told, exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="town.txt")).to_have_count(0)

    def test_a_space_is_made_renamed_and_deleted(self, page: Page, studio: Studio) -> None:
        name = f"Team {uuid4().hex[:6]}"
        page.goto("/settings/members")
        page.get_by_role("button", name="New space").click()
        page.get_by_role("textbox", name="Name").fill(name)
        page.keyboard.press("Enter")
        page.get_by_role("button", name=f"More for {name}").click()
        page.get_by_role("menuitem", name="Rename the space").click()
        page.get_by_role("textbox", name="Name").fill(f"{name} B")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text(f"The space is now called {name} B", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name=f"More for {name} B")).to_be_focused()
        page.keyboard.press("Enter")
        page.get_by_role("menuitem", name="Delete the space").click()
        page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
        expect(page.get_by_text(f"{name} B was deleted", exact=True)).to_be_visible()
        assert name not in str(studio.get("/spaces"))

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark and narrow"])
    def test_every_section_is_for_everybody(
        self, browser: Browser, studio: Studio, console: Console, dark: bool
    ) -> None:
        with open_page(browser, studio.url, console, dark=dark, narrow=dark) as page:
            page.goto("/settings")
            for section in SECTIONS:
                if dark:
                    choose(page.get_by_role("combobox", name="Section"), section)
                else:
                    page.get_by_role("navigation", name="Settings").get_by_role("link", name=section).click()
                expect(page.get_by_role("heading", name=section, level=2, exact=True)).to_be_visible()
                expect(page.locator("main .animate-pulse")).to_have_count(0)
                check_accessible(page)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), section
        console.check()
