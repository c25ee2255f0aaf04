"""Continues a session that failed, was stopped, or lacks budget or its model's key."""

from typing import Any

from headgate.agents.codev.errors import BudgetTooSmall
from headgate.agents.codev.schemas import Retry
from headgate.agents.codev.sessions.answers import not_waiting
from headgate.agents.codev.sessions.repository import STOPPED
from headgate.agents.codev.sessions.responses import STOP_CODE, can_go_on, lacks_budget, waits_for_model_key
from headgate.agents.codev.tables import SessionRow
from headgate.foundation.errors import Invalid


def continuation(row: SessionRow | None, request: Retry) -> dict[str, Any]:
    """Options that change when a session continues. Raises `NotWaiting`, `BudgetTooSmall`, `Invalid`."""
    if row is None or not can_go_on(row):
        raise not_waiting("Only a session that failed, was stopped, or lacks budget or a model key can continue.")
    used = row.input_tokens + row.output_tokens
    if lacks_budget(row) and (request.token_budget or 0) <= used:
        raise BudgetTooSmall(used)
    if request.token_budget is not None and not lacks_budget(row):
        raise Invalid("The session's budget is not used up.", remedy="Omit `token_budget`.")
    stopped = row.status == STOPPED and bool(row.options.get(STOP_CODE))
    again = {"continued": row.options.get("continued", 0) + 1, STOP_CODE: ""} if stopped else {}
    return again | ({"token_budget": request.token_budget} if request.token_budget is not None else {})


def tried_again(row: SessionRow) -> dict[str, Any]:
    """Return the columns of a continued session: one that waits for its model's key retries."""
    if not waits_for_model_key(row):
        return {"interrupt": None}
    response = {"type": "credential_check", "skip": False}
    return {"answer": {"interrupt_id": (row.interrupt or {})["id"], "response": response}}
