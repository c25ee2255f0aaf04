"""Responses of the API about a session: from its row, its last checkpoint and its writes."""

from collections.abc import Sequence
from typing import Any

from headgate.agents.codev.keys import HINT
from headgate.agents.codev.schemas import InterruptPayload, SessionResponse
from headgate.agents.codev.sessions.repository import ERROR, PENDING, STOPPED
from headgate.agents.codev.tables import SessionRow, WriteRow
from headgate.agents.codev.workflow.routing import CONTINUES
from headgate.foundation.shaped import shaped

SHOWN = (
    *("clarification", "discovery_summary", "plan", "cases", "patch_summary", "trials"),
    *("converge_verdict", "conflict"),
)
"""What of the graph's state is shown."""

LEFT_OUT = "left_out"
"""Option of a session: whether the last user text contained a possible key."""
STOP_CODE = "stop_code"
"""Of a session's options: why it stopped, as `state.AgentState` names it."""
BY_HAND = "Stopped by "
"""Prefix of the reason when a user stopped it."""


def can_go_on(row: SessionRow) -> bool:
    """Whether it failed, was stopped by hand, ran out of budget or lacks its model's key, so that it can continue."""
    if row.status == STOPPED:
        return row.stop_reason.startswith(BY_HAND) or row.options.get(STOP_CODE) in CONTINUES
    return row.status == ERROR or waits_for_model_key(row)


def waits_for_model_key(row: SessionRow) -> bool:
    """Whether the session waits for the key of its model."""
    return row.status == PENDING and ((row.interrupt or {}).get("data") or {}).get("of") == "model"


def lacks_budget(row: SessionRow) -> bool:
    """Whether the session stopped since its budget is used up."""
    return row.status == STOPPED and row.options.get(STOP_CODE) == "budget"


def response(row: SessionRow, *, can_roll_back: bool, state: dict[str, Any] | None = None) -> SessionResponse:
    """Return the response for a session."""
    interrupt = row.interrupt if row.status == PENDING else None
    return shaped(
        SessionResponse,
        row,
        thread_id=row.id,
        link=str(row.options.get("link", "")) if row.flow_id else "",
        interrupt=InterruptPayload.model_validate(interrupt) if interrupt else None,
        total_input_tokens=row.input_tokens,
        total_output_tokens=row.output_tokens,
        token_budget=int(row.options.get("token_budget") or 0),
        can_roll_back=can_roll_back,
        can_go_on=can_go_on(row),
        lacks_budget=lacks_budget(row),
        hint=HINT if row.options.get(LEFT_OUT) else "",
        last_event=row.events,
        state=state or {},
    )


def shown_state(known: dict[str, Any], writes: Sequence[WriteRow]) -> dict[str, Any]:
    """Return the visible state, and the writes."""
    state = {name: known[name] for name in SHOWN if known.get(name) not in (None, "", [])}
    if writes:
        state["writes"] = [
            {
                "number": row.number,
                "tool": row.tool,
                "summary": row.summary,
                "state": row.state,
                "at": row.at.isoformat(),
            }
            for row in writes
        ]
    return state
