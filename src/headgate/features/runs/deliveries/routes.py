"""HTTP routes of deliveries."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.deliveries import service
from headgate.features.runs.deliveries.schemas import (
    DeliveryOut,
    DeliveryState,
    RedeliveredMany,
    RedeliveredOut,
    RedeliverIn,
)
from headgate.features.runs.ports.flows import Deliveries
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    Routes,
    get_database,
    page_of,
    parse_cursor,
    part,
)
from headgate.foundation.database import Database

router = Routes(tags=["deliveries"])
_RUN = "/flow-runs/{run_id}"
_START = [needs(Permission.RUNS_START)]
Rows = Annotated[Database, Depends(get_database)]


Sending = Annotated[Deliveries, part("engine.services.deliveries")]


@router.get(_RUN + "/deliveries", "List a run's deliveries", [needs(Permission.RUNS_VIEW)], problems=(404,))
async def list_(run_id: str, session: ReadSession, caller: Caller) -> Page[DeliveryOut]:
    """List the deliveries of the run's steps, sent and pending, with every attempt."""
    return Page(items=await service.list_deliveries(session, caller, run_id))


@router.post(_RUN + "/deliveries/{delivery_id}/redeliver", "Deliver again", _START, problems=(404, 409))
async def redeliver(run_id: str, delivery_id: str, database: Rows, caller: Caller, sending: Sending) -> RedeliveredOut:
    """Send a delivered or failed delivery again, with the same idempotency key. No step is executed."""
    async with database.writing() as session:
        ids = await service.redeliver(session, caller, run_id, delivery_id)
    return await _sent(database, caller, run_id, ids, sending)


@router.post(_RUN + "/redeliver", "Retry failed deliveries of a run", _START, problems=(404,))
async def redeliver_failed(
    run_id: str,
    database: Rows,
    caller: Caller,
    sending: Sending,
    step_id: Annotated[str | None, Query(max_length=64, description="Only deliveries of this step.")] = None,
) -> RedeliveredOut:
    """Send the failed deliveries of a run again, and the pending ones now. No step is executed."""
    async with database.writing() as session:
        ids = await service.redeliver_failed(session, caller, run_id, step_id=step_id)
    return await _sent(database, caller, run_id, ids, sending)


@router.get("/deliveries", "List deliveries", [needs(Permission.RUNS_VIEW)])
async def list_all(
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    status: DeliveryState | None = None,
    flow_id: Annotated[str | None, Query(max_length=36)] = None,
) -> Page[DeliveryOut]:
    """List deliveries of all runs that the caller has read access to, newest first."""
    deliveries = await service.page_of_deliveries(
        session, caller, status=status, flow_id=flow_id, limit=limit + 1, before=parse_cursor(cursor)
    )
    items, following = page_of(deliveries, limit, "id")
    return Page(items=items, next_cursor=following)


@router.post("/deliveries/redeliver", "Retry deliveries of several runs", _START, problems=(404,))
async def redeliver_many(
    database: Rows, caller: Caller, sending: Sending, body: RedeliverIn | None = None
) -> RedeliveredMany:
    """Send failed deliveries again, at most 500 per request: all, those of a flow, or by id. No step is executed."""
    selection = body or RedeliverIn()
    async with database.writing() as session:
        ids = await service.redeliver_many(session, caller, ids=selection.ids, flow_id=selection.flow_id)
    for delivery_id in ids:
        sending.send_soon(delivery_id)
    return RedeliveredMany(ids=list(ids))


async def _sent(
    database: Database, caller: Caller, run_id: str, ids: Sequence[str], sending: Deliveries
) -> RedeliveredOut:
    """Start sending after the commit."""
    for delivery_id in ids:
        sending.send_soon(delivery_id)
    async with database.reading() as session:
        deliveries = await service.list_deliveries(session, caller, run_id, permission=Permission.RUNS_START)
    return RedeliveredOut(deliveries=[delivery for delivery in deliveries if delivery.id in ids])
