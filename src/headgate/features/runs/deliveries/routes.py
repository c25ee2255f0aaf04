"""HTTP routes of deliveries."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

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
from headgate.features.runs.ports import Deliveries
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, get_database, page_of, parse_cursor, problems
from headgate.foundation.database import Database

router = APIRouter(tags=["deliveries"])
_RUN = "/flow-runs/{run_id}"
_START = [needs(Permission.RUNS_START)]
Rows = Annotated[Database, Depends(get_database)]


def _deliveries(request: Request) -> Deliveries:
    found: Deliveries = request.app.state.engine.services.deliveries
    return found


Sending = Annotated[Deliveries, Depends(_deliveries)]


@router.get(
    _RUN + "/deliveries",
    summary="List a run's deliveries",
    responses=problems(404),
    dependencies=[needs(Permission.RUNS_VIEW)],
)
async def list_(run_id: str, session: ReadSession, caller: Caller) -> Page[DeliveryOut]:
    """What the run's steps sent to web addresses, every attempt, and what is still to be sent."""
    return Page(items=await service.list_deliveries(session, caller, run_id))


@router.post(
    _RUN + "/deliveries/{delivery_id}/redeliver",
    summary="Deliver again",
    responses=problems(404, 409),
    dependencies=_START,
)
async def redeliver(run_id: str, delivery_id: str, database: Rows, caller: Caller, sending: Sending) -> RedeliveredOut:
    """Send one delivery again, delivered before or not, with the same idempotency key. No step runs again."""
    async with database.writing() as session:
        wanted = await service.redeliver(session, caller, run_id, delivery_id)
    return await _sent(database, caller, run_id, wanted, sending)


@router.post(_RUN + "/redeliver", summary="Deliver again what failed", responses=problems(404), dependencies=_START)
async def redeliver_failed(
    run_id: str,
    database: Rows,
    caller: Caller,
    sending: Sending,
    step_id: Annotated[str | None, Query(max_length=64, description="Only of this step.")] = None,
) -> RedeliveredOut:
    """Send every failed delivery of a run again, and those that wait for a later attempt now. No step runs again."""
    async with database.writing() as session:
        wanted = await service.redeliver_failed(session, caller, run_id, step_id=step_id)
    return await _sent(database, caller, run_id, wanted, sending)


@router.get("/deliveries", summary="List deliveries", responses=problems(), dependencies=[needs(Permission.RUNS_VIEW)])
async def list_all(
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    status: DeliveryState | None = None,
    flow_id: Annotated[str | None, Query(max_length=36)] = None,
) -> Page[DeliveryOut]:
    """Deliveries of all runs that the caller has read access to, newest first."""
    found = await service.page_of_deliveries(
        session, caller, status=status, flow_id=flow_id, limit=limit + 1, before=parse_cursor(cursor)
    )
    kept, following = page_of(found, limit, "id")
    return Page(items=kept, next_cursor=following)


@router.post("/deliveries/redeliver", summary="Deliver again across runs", responses=problems(404), dependencies=_START)
async def redeliver_many(
    database: Rows, caller: Caller, sending: Sending, body: RedeliverIn | None = None
) -> RedeliveredMany:
    """Send failed deliveries again, at most 500 at a time: all, those of a flow, or these. No step runs again."""
    wanted = body or RedeliverIn()
    async with database.writing() as session:
        ids = await service.redeliver_many(session, caller, ids=wanted.ids, flow_id=wanted.flow_id)
    for delivery_id in ids:
        sending.send_soon(delivery_id)
    return RedeliveredMany(ids=list(ids))


async def _sent(
    database: Database, caller: Caller, run_id: str, wanted: Sequence[str], sending: Deliveries
) -> RedeliveredOut:
    """Begin sending, now that it is written down."""
    for delivery_id in wanted:
        sending.send_soon(delivery_id)
    async with database.reading() as session:
        found = await service.list_deliveries(session, caller, run_id, permission=Permission.RUNS_START)
    return RedeliveredOut(deliveries=[one for one in found if one.id in wanted])
