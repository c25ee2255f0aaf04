"""HTTP routes of the attention list."""

from typing import Annotated

from fastapi import Depends, Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.attention.acting import act
from headgate.features.attention.action_schemas import AttentionActionIn, AttentionResults
from headgate.features.attention.filters import AttentionFilter, Hours
from headgate.features.attention.schemas import AttentionOut, Kind
from headgate.features.attention.service import list_attention
from headgate.features.idempotency.http import Once
from headgate.features.runs.bulk import MOST_SECONDS
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.foundation.api import ReadSession, Routes, get_database, part
from headgate.foundation.database import Database

router = Routes(prefix="/attention", tags=["runs"])
VIEW = needs(Permission.RUNS_VIEW)
_Id = Annotated[str | None, Query(max_length=36)]


@router.get("", "List what needs a human", [VIEW])
async def read(
    session: ReadSession,
    caller: Caller,
    *,
    kind: Annotated[list[Kind] | None, Query(max_length=20, description="Only items of these kinds.")] = None,
    space_id: Annotated[str | None, Query(max_length=36, description="Only items of this space.")] = None,
    flow_id: _Id = None,
    owner_id: Annotated[str | None, Query(max_length=36, description="Only flows of this owner.")] = None,
    assigned_to: Annotated[str | None, Query(max_length=36, description="Assigned to this user, or `nobody`.")] = None,
    within_hours: Annotated[Hours | None, Query(description="Last seen in these hours.")] = None,
    older_hours: Annotated[Hours | None, Query(description="First seen before these hours.")] = None,
    dismissed: Annotated[bool, Query(description="Also items that you have dismissed or muted.")] = False,
) -> AttentionOut:
    """List failed, queued and stuck runs, failed deliveries, stopped triggers, broken connections, approvals, alerts.

    Daily budgets that are exhausted are listed, too, and servers and workers that died. Runs of a flow that fail with
    the same error are one item: error code, step and message without numbers and ids. The newest 5,000 failed runs of 7
    days are grouped. Only what you may view is listed.
    """
    item_filter = AttentionFilter(
        tuple(kind or ()), space_id, flow_id, owner_id, assigned_to, within_hours, older_hours
    )
    return await list_attention(session, caller, dismissed=dismissed, item_filter=item_filter)


@router.post("/actions", "Act on items", [VIEW], problems=(409,))
async def change(
    body: AttentionActionIn,
    engine: Annotated[ExecutionBackend, part("engine")],
    database: Annotated[Database, Depends(get_database)],
    caller: Caller,
    once: Once,
) -> AttentionResults:
    """Resume, rerun, cancel or redeliver what is behind items; assign them; dismiss or mute them for yourself.

    The response has one result per run, delivery, trigger or item. A request changes at most 200. Each run needs
    `runs.start` in its space, each trigger `triggers.manage`, an assignment `runs.start`. With an
    `Idempotency-Key` the response is stored for 24 hours.
    """
    return await once.perform(MOST_SECONDS, lambda: act(database, engine, caller, body), AttentionResults)
