"""The inbox: one user starts a run, another decides in the page, and the run continues."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.e2e.support.axe import check_accessible
from tests.e2e.support.browser import Console, open_page
from tests.e2e.support.closed import PASSWORD, add_member, sign_in, start_closed_studio
from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

BO, CY = "bo@example.org", "cy@example.org"
INVOICE = """name: Pay invoices
nodes:
  ask: ChatInput
    label: The invoice
  read: ParseJSON
  check: Approval
    label: Ask a colleague
    question: Pay this invoice?
    not_starter: true
    timeout_hours: 5
    questions: [{"id": "centre", "label": "Cost centre", "type": "number"}]
    editable: ["amount", "message"]
  paid: ChatOutput
    label: Paid
  refused: ChatOutput
edges:
  ask.text -> read.text
  read.data -> check.value
  check.approve -> paid.input
  check.reject -> refused.input
"""
ORDER = (
    '{"supplier": "Taxi Stockholm AB", "amount": 4200, "urgent": true, "message": "Thanks for **the rides**.\\n\\n'
    '- to the airport\\n- and back", "lines": [{"ride": "Airport", "price": 2100}, {"ride": "Home", "price": 2100}]}'
)
pytestmark = [
    pytest.mark.skipif("HEADGATE_E2E_URL" in os.environ, reason="needs a server of its own"),
    pytest.mark.xdist_group("inbox"),  # one server for all of them
]


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with start_closed_studio(tmp_path_factory.mktemp("inbox")) as found:
        add_member(found, BO, "editor")
        add_member(found, CY, "runner")
        yield found


@pytest.fixture(scope="module")
def bo(closed: Studio) -> Iterator[httpx2.Client]:
    """The API as Bo, who makes flows and starts them."""
    with httpx2.Client(base_url=closed.api.base_url, timeout=closed.api.timeout) as client:
        me = client.post("/sign-in", json={"email": BO, "password": PASSWORD}).raise_for_status().json()
        client.headers["X-CSRF-Token"] = me["csrf_token"]
        yield client


@pytest.fixture
def page(browser: Browser, closed: Studio, console: Console) -> Iterator[Page]:
    console.allow("401")  # the browser's own line about a refused request
    with open_page(browser, closed.url, console) as found:
        yield found
    console.check()


def picture(page: Page, name: str) -> None:
    """A picture for whoever looks, where a folder for them is named."""
    if folder := os.environ.get("HEADGATE_E2E_PICTURES"):
        page.screenshot(path=Path(folder) / f"inbox-{name}.png")


def start(bo: httpx2.Client, question: str = "Pay this invoice?") -> dict[str, Any]:
    """A run of Bo's that waits for the approval of somebody else; the run."""
    spec = INVOICE.replace("Pay this invoice?", question)
    (space,) = (one["id"] for one in bo.get("/spaces").json()["items"] if one["role"] == "editor")
    flow = bo.post("/flows", json={"spec": spec, "space_id": space}).raise_for_status().json()
    body = {"text": ORDER, "version": "draft"}
    run: dict[str, Any] = bo.post(f"/flows/{flow['id']}/runs", json=body).raise_for_status().json()
    until(lambda: len(bo.get("/approvals", params={"run_id": run["id"]}).json()["items"]), 1)
    return run


def status_of(bo: httpx2.Client, run: dict[str, Any]) -> str:
    status: str = bo.get(f"/flow-runs/{run['id']}").json()["status"]
    return status


def open_inbox(page: Page, who: str, path: str = "/inbox") -> None:
    page.goto(f"/sign-in?next={path}")
    sign_in(page, who)
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()


class TestInbox:
    def test_decides_what_another_user_started_and_the_run_continues(
        self, page: Page, browser: Browser, closed: Studio, console: Console, bo: httpx2.Client
    ) -> None:
        open_inbox(page, CY)
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        check_accessible(page)
        picture(page, "empty")
        run = start(bo)
        navigation = page.get_by_role("navigation", name="Main")
        expect(navigation.get_by_role("link", name="Inbox")).to_contain_text("1 waiting for you")
        waiting = page.get_by_role("list", name="Waiting for me")
        picture(page, "list")
        waiting.get_by_role("link", name="Pay this invoice?").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Pay this invoice?")).to_be_visible()
        expect(page.get_by_text("Taxi Stockholm AB")).to_be_visible()
        expect(page.get_by_role("table")).to_contain_text("Airport")
        picture(page, "detail")
        page.get_by_role("button", name="Edit amount").click()
        page.get_by_role("textbox", name="amount").fill("4000")
        expect(page.get_by_role("region", name="Change of amount")).to_contain_text("4200")
        page.get_by_label("Cost centre").fill("12")
        page.get_by_label("Comment").fill("Agreed on the phone")
        check_accessible(page)
        picture(page, "changed")
        with open_page(browser, closed.url, console) as other:
            other.goto(f"/sign-in?next=/flows/{run['flow_id']}/runs/{run['id']}")
            sign_in(other, BO)
            note = other.get_by_role("list", name="Waiting for approval")
            expect(note).to_contain_text("every user who may start the flow, except the user who started the run")
            picture(other, "run")
            note.get_by_role("link", name="View").click()
            expect(other.get_by_text("You started this run, so another user must decide.")).to_be_visible()
            page.get_by_role("button", name="Approve with changes").click()
            expect(page.get_by_text("Approved. The run continues.")).to_be_visible()
            expect(navigation.get_by_role("link", name="Inbox")).not_to_contain_text("waiting for you")
            expect(other.get_by_text("Approved. The run continues.")).to_be_visible()
            other.get_by_role("link", name="Open the run").click()
            expect(other.get_by_text("Completed").first).to_be_visible()
            expect(other.get_by_role("list", name="Waiting for approval")).to_have_count(0)
        picture(page, "decided")
        ended = bo.get(f"/flow-runs/{run['id']}").json()
        assert '"amount": 4000' in ended["text"].replace('"amount":4000', '"amount": 4000')

    def test_says_when_another_user_was_faster(
        self, page: Page, console: Console, bo: httpx2.Client, closed: Studio
    ) -> None:
        console.allow("409")
        run = start(bo, "Book the flight?")
        open_inbox(page, CY)
        page.get_by_role("link", name="Book the flight?").click()
        (approval,) = closed.get(f"/approvals?run_id={run['id']}")["items"]

        def overtake(route: Route) -> None:
            closed.post(f"/approvals/{approval['id']}/decision", {"decision": "reject", "comment": "No travel now"})
            route.continue_()

        page.route(f"**/approvals/{approval['id']}/decision", overtake)
        page.get_by_role("button", name="Approve", exact=True).click()
        expect(page.get_by_text("Your decision was not stored")).to_be_visible()
        expect(page.get_by_text("No travel now")).to_be_visible()

    def test_decides_several_together(self, page: Page, bo: httpx2.Client) -> None:
        runs = [start(bo, question) for question in ("Send the letter?", "Order the paper?")]
        open_inbox(page, CY)
        for question in ("Send the letter?", "Order the paper?"):
            page.get_by_role("checkbox", name=f"Select: {question}").click()
        picture(page, "several")
        page.get_by_role("button", name="Reject").click()
        dialog = page.get_by_role("dialog", name="Reject 2 approvals?")
        dialog.get_by_label("Comment").fill("Not now")
        dialog.get_by_role("button", name="Reject").click()
        dialog = page.get_by_role("dialog", name="Decisions")
        expect(dialog.get_by_text("2 of 2 decisions stored")).to_be_visible()
        check_accessible(page)
        picture(page, "several-done")
        dialog.get_by_role("button", name="Close").last.click()
        for run in runs:
            until(partial(status_of, bo, run), "completed")

    def test_fits_a_phone_in_the_dark_in_swedish(
        self, browser: Browser, closed: Studio, console: Console, bo: httpx2.Client
    ) -> None:
        run = start(bo, "Publicera sidan?")
        console.allow("401")
        with open_page(browser, closed.url, console, dark=True, narrow=True, locale="sv-SE") as page:
            page.goto("/sign-in?next=/inbox")
            page.get_by_label("E-postadress").fill(CY)
            page.get_by_label("Lösenord", exact=True).fill(PASSWORD)
            page.get_by_role("button", name="Logga in", exact=True).click()
            link = page.get_by_role("link", name="Publicera sidan?")
            expect(link).to_be_visible()
            picture(page, "narrow-list")
            link.click()
            expect(page.get_by_role("button", name="Godkänn")).to_be_visible()
            expect(page.get_by_role("heading", name="Inkorg")).to_be_hidden()
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            check_accessible(page)
            picture(page, "narrow-detail")
            page.get_by_role("link", name="Tillbaka till listan").click()
            expect(link).to_be_visible()
        bo.post(f"/flow-runs/{run['id']}/cancel").raise_for_status()
        console.check()
