"""The public page of a form: filled in by a visitor in a real browser, and managed in the studio."""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.studio import Studio

FORM = [
    {"id": "who", "label": "Your name", "required": True},
    {"id": "mail", "label": "E-mail address", "required": True},
    {"id": "amount", "label": "Number of participants", "type": "number"},
    {"id": "which", "label": "Course", "type": "select", "options": ["Introduction", "Advanced"]},
    {"id": "paper", "label": "Your application", "type": "document"},
]
WELCOME = "Registration for the **autumn courses**. Questions? [Write to us](https://example.org/contact)."
pytestmark = pytest.mark.skipif("HEADGATE_E2E_URL" in os.environ, reason="needs a server of its own")


@pytest.fixture
def flow_id(studio: Studio) -> str:
    """A published flow with a form."""
    definition = {
        "name": "Course registration",
        "nodes": [
            {"id": "heard", "type": "TextInput", "params": {"text": "Hi {{flow_input.who}}"}},
            {"id": "said", "type": "ChatOutput"},
        ],
        "edges": [{"source": "heard", "output": "text", "target": "said", "input": "input"}],
        "form": FORM,
    }
    flow: str = studio.post("/flows", {"definition": definition})["id"]
    studio.post(f"/flows/{flow}/publish", {})
    return flow


def form(studio: Studio, flow_id: str, **config: Any) -> dict[str, Any]:
    body = {"name": "Registration", "config": {"kind": "form", "welcome_text": WELCOME, **config}}
    made: dict[str, Any] = studio.post(f"/flows/{flow_id}/triggers", body)
    return made


def shot(page: Page, name: str) -> None:
    """Keep a picture where `HEADGATE_SHOTS` names a folder."""
    if folder := os.environ.get("HEADGATE_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


class TestPublicPage:
    def test_is_filled_in_and_thanks(self, page: Page, studio: Studio, flow_id: str) -> None:
        trigger = form(studio, flow_id)
        page.goto(f"{studio.url}{trigger['path']}")
        expect(page.get_by_role("heading", name="Course registration")).to_be_visible()
        assert page.evaluate("origin") == "null"
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("alert").filter(has_text="Answer this first.")).to_have_count(2)
        page.get_by_label("Your name").fill("Åsa")
        page.get_by_label("E-mail address").fill("asa@example.org")
        page.get_by_label("Number of participants").fill("3")
        page.get_by_label("Course").select_option("Advanced")
        paper: FilePayload = {"name": "a.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4"}
        page.get_by_label("Your application").set_input_files(paper)
        expect(page.get_by_text("a.pdf")).to_be_visible()
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", name="Thank you")).to_be_focused()
        shot(page, "form-thanks")
        page.get_by_role("button", name="Send another answer").click()
        expect(page.get_by_label("Your name")).to_have_value("")
        (row,) = studio.get(f"/triggers/{trigger['id']}/occurrences")["items"]
        run = studio.get(f"/flow-runs/{row['run_id']}")
        assert run["input"]["form_data"] | {"paper": 1} == {
            "who": "Åsa",
            "mail": "asa@example.org",
            "amount": 3,
            "which": "Advanced",
            "paper": 1,
        }

    def test_of_a_link_is_used_once_and_leads_to_another_page(
        self, page: Page, studio: Studio, flow_id: str, console: Console
    ) -> None:
        console.allow("410")
        trigger = form(studio, flow_id, access="links", redirect_url=f"{studio.url}/health")
        (link,) = studio.post(f"/triggers/{trigger['id']}/links", {"label": "Åsa"})["items"]
        page.goto(f"{studio.url}{link['path']}")
        page.get_by_label("Your name").fill("Åsa")
        page.get_by_label("E-mail address").fill("asa@example.org")
        page.get_by_role("button", name="Send").click()
        page.wait_for_url(f"{studio.url}/health")
        page.go_back()
        expect(page.get_by_role("heading", name="This link is no longer valid")).to_be_visible()
        shot(page, "form-link-spent")

    @pytest.mark.parametrize("look", ["wide-light", "wide-dark", "narrow-light", "narrow-dark"])
    def test_is_for_everybody(
        self, browser: Browser, studio: Studio, console: Console, flow_id: str, look: str
    ) -> None:
        console.allow("404")
        trigger = form(studio, flow_id)
        looks = {"dark": "dark" in look, "narrow": "narrow" in look}
        with open_page(browser, studio.url, console, **looks, bypass_csp=True) as page:
            page.goto(trigger["path"])
            expect(page.get_by_label("Your name")).to_be_visible()
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
            check_accessible(page)
            shot(page, f"form-{look}")
            page.goto("/forms/none")
            expect(page.get_by_role("heading", name="There is no form here")).to_be_visible()
            check_accessible(page)
            shot(page, f"form-missing-{look}")
        console.check()


class TestStudio:
    def test_adds_a_form_and_creates_links(self, page: Page, studio: Studio, flow_id: str) -> None:
        page.goto(f"{studio.url}/flows/{flow_id}/triggers")
        page.get_by_role("button", name="Add trigger").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Name").fill("Registration")
        dialog.get_by_label("Starts").click()
        page.get_by_role("option", name="When its form is submitted").click()
        dialog.get_by_label("Heading").fill("Autumn courses")
        dialog.get_by_label("Closes after submissions").fill("2")
        check_accessible(page)
        shot(page, "add-form")
        dialog.get_by_role("button", name="Add trigger").click()
        expect(dialog.get_by_role("heading", name="Address of the form")).to_be_visible()
        expect(dialog.locator("code")).to_contain_text("/forms/")
        check_accessible(page)
        dialog.get_by_role("button", name="Done").click()
        expect(dialog).to_be_hidden()
        page.get_by_role("button", name="Show details of Registration").click()
        expect(page.get_by_text("Submissions: 0 of 2")).to_be_visible()
        page.get_by_role("button", name="Create links").click()
        dialog.get_by_label("For whom").fill("Board")
        dialog.get_by_label("Number of links").fill("3")
        shot(page, "create-links")
        dialog.get_by_role("button", name="Create links").click()
        expect(dialog.locator("code")).to_contain_text("/forms/")
        check_accessible(page)
        dialog.get_by_role("button", name="Done").click()
        rows = page.get_by_role("region", name="One-time links").get_by_role("listitem")
        expect(rows).to_have_count(3)
        rows.first.get_by_role("button", name="Revoke").click()
        expect(rows.first.get_by_text("revoked")).to_be_visible()
        check_accessible(page)
        shot(page, "form-trigger")
