"""Takes the pictures of an approval, a loop in progress and an error edge: part of `make screenshots`."""

import json
import time
from collections.abc import Callable
from typing import Any, Protocol

from playwright.sync_api import Page, expect
from tests.e2e.support.studio import Studio

PATIENCE_SECONDS = 60.0
FORM = [
    {"id": "centre", "label": "Cost centre", "type": "number", "required": True, "min": 1, "max": 999},
    {"id": "kinds", "label": "What it is for", "type": "multiselect", "options": ["Travel", "Food", "Equipment"]},
    {"id": "seen", "label": "I have seen the receipt", "type": "checkbox", "required": True},
]
INVOICE = """name: Pay invoices
nodes:
  ask: ChatInput
  read: ParseJSON
  check: Approval
    label: Ask a colleague
    question: Pay this invoice?
    timeout_hours: 24
    questions: FORM
    editable: ["amount"]
  out: ChatOutput
edges:
  ask.text -> read.text
  read.data -> check.value
  check.approve -> out.input
"""
ORDER = {
    "supplier": "Taxi Stockholm AB",
    "amount": 4200,
    "due": "2026-12-31",
    "lines": [{"what": "To the airport", "price": 2100}, {"what": "From the airport", "price": 2100}],
}
ONE = """name: Check one row
nodes:
  row: ChatInput
  wait: Wait
    seconds: 1
  out: ChatOutput
edges:
  row.text -> wait.value
  wait.value -> out.input
"""
EACH = """name: Check every row
nodes:
  rows: ChatInput
  read: ParseJSON
  each: ForEach
    label: Check every row
    flow: Check one row
    parallel: 4
  out: ChatOutput
edges:
  rows.text -> read.text
  read.data -> each.items
  each.table -> out.input
"""
FAILING = """name: Ask twice
nodes:
  ask: ChatInput
  read: ParseJSON
    label: Read the answer
    policy:
      on_error: error_edge
  good: ChatOutput
    label: The answer
  what: SelectData
    label: What went wrong
    expression: message
  bad: ChatOutput
    label: The problem
edges:
  ask.text -> read.text
  read.data -> good.input
  read.error -> what.data
  what.text -> bad.input
"""


class Tour(Protocol):
    """Takes pictures of places."""

    def picture(
        self, name: str, path: str, *steps: Callable[[Page], object], dark: bool = False, narrow: bool = False
    ) -> None:
        """Go to a place, do something there, take the picture."""


def take_waiting(tour: Tour, studio: Studio) -> None:
    """An open approval, a loop that runs, and a flow whose error edge was taken."""
    approval = _pending(studio, _start(studio, INVOICE.replace("FORM", json.dumps(FORM)), json.dumps(ORDER))["id"])
    tour.picture("inbox", f"/inbox/{approval}", see_question)
    tour.picture("inbox-dark", f"/inbox/{approval}", see_question, dark=True)
    tour.picture("inbox-phone", f"/inbox/{approval}", see_question, narrow=True)
    inner = studio.post("/flows", {"spec": ONE})["id"]
    studio.post(f"/flows/{inner}/publish", {"notes": ""})
    loop = _start(studio, EACH, str(list(range(1, 41))))
    tour.picture("loop", f"/flows/{loop['flow_id']}/runs/{loop['id']}", see_steps)
    failed = _start(studio, FAILING, "no JSON")
    tour.picture("error-edge", f"/flows/{failed['flow_id']}", see_canvas)
    tour.picture("error-edge-dark", f"/flows/{failed['flow_id']}", see_canvas, dark=True)


def _start(studio: Studio, spec: str, text: str) -> dict[str, Any]:
    flow = studio.post("/flows", {"spec": spec})["id"]
    run: dict[str, Any] = studio.post(f"/flows/{flow}/runs", {"text": text, "version": "draft"})
    return run


def _pending(studio: Studio, run_id: str) -> str:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        if items := studio.get(f"/approvals?run_id={run_id}")["items"]:
            return str(items[0]["id"])
        time.sleep(0.1)
    raise TimeoutError("The run asks for no approval.")


def see_question(page: Page) -> None:
    """Wait until the approval is shown."""
    page.get_by_role("heading", name="Pay this invoice?").wait_for()


def see_steps(page: Page) -> None:
    """Choose the loop among the steps of the run."""
    page.get_by_role("list", name="Steps").get_by_role("button", name="Check every row").click()
    expect(page.get_by_text("Choose a step to see its input and output.")).to_have_count(0)


def see_canvas(page: Page) -> None:
    """Wait until the canvas is drawn."""
    page.locator(".react-flow__node").first.wait_for()
