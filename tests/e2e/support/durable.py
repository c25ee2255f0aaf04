"""Flows for pictures: one with an error edge, a run that repeats a flow for each row, one that waits for approval."""

from tests.e2e.support.studio import Studio
from tests.e2e.support.waiting import until

ORDERS = """name: Read orders
nodes:
  ask: ChatInput
    label: The order
  read: ParseJSON
    label: Read the order
    policy:
      on_error: error_edge
  good: ChatOutput
    label: Store the order
  bad: ChatOutput
    label: Report the problem
edges:
  ask.text -> read.text
  read.data -> good.input
  read.error -> bad.input
"""
SHIP = """name: Ship an order
nodes:
  ask: ChatInput
  packed: WaitForEvent
    event: packed
    correlation: "{{ask.text}}"
  said: ChatOutput
edges:
  ask.text -> packed.value
  packed.data -> said.input
"""
ROWS = """name: Ship all orders
nodes:
  ask: ChatInput
    label: The orders
  each: ForEach
    label: Ship each order
    flow: {flow}
    parallel: 2
  said: ChatOutput
    label: What was shipped
edges:
  ask.text -> each.items
  each.text -> said.input
"""
PAYMENT = """name: Pay invoices
nodes:
  ask: ChatInput
    label: The invoice
  read: ParseJSON
  check: Approval
    label: Ask a colleague
    question: Pay this invoice?
    editable: ["amount"]
  paid: ChatOutput
    label: Paid
edges:
  ask.text -> read.text
  read.data -> check.value
  check.approve -> paid.input
"""
INVOICE = '{"supplier": "Taxi Stockholm AB", "amount": 4200, "lines": [{"ride": "Airport", "price": 4200}]}'


def durable_ids(studio: Studio) -> dict[str, str]:
    """Make the flows and their runs. Returns the ids that pictures open."""
    return {"orders": studio.flow(ORDERS), **_repeating(studio), "approval": _asked(studio)}


def _repeating(studio: Studio) -> dict[str, str]:
    """A run of three rows, the first of which is done."""
    ship = studio.flow(SHIP)
    studio.post(f"/flows/{ship}/publish", {})
    flow = studio.flow(ROWS.format(flow=ship))
    run = studio.post(f"/flows/{flow}/runs", {"text": "order-1\norder-2\norder-3"})["id"]
    until(lambda: len(studio.get("/events/waiting")["items"]), 2)
    studio.post("/events", {"name": "packed", "correlation": "order-1", "data": "order-1 is shipped"})
    until(lambda: {one["correlation"] for one in studio.get("/events/waiting")["items"]}, {"order-2", "order-3"})
    until(lambda: studio.get(f"/flow-runs/{run}")["status"], "waiting")
    return {"rows": flow, "repeating": run}


def _asked(studio: Studio) -> str:
    """The approval that a run waits for."""
    flow = studio.flow(PAYMENT)
    studio.post(f"/flows/{flow}/runs", {"text": INVOICE})
    until(lambda: len(studio.get("/approvals")["items"]), 1)
    found: str = studio.get("/approvals")["items"][0]["id"]
    return found
