"""HTTP routes of service level objectives."""

from typing import Annotated

from fastapi import Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.slos import service
from headgate.features.slos.schemas import SloDetail, SloIn, SloOut, SloPatch
from headgate.foundation.api import Page, ReadSession, Routes, WriteSession
from headgate.graph.json_values import PlainText

router = Routes(tags=["slos"])
_VIEW, _MANAGE = [needs(Permission.RUNS_VIEW)], [needs(Permission.ALERTS_MANAGE)]
FlowId = Annotated[PlainText | None, Query(max_length=36, description="Only those of this flow.")]


@router.get("/slos", "List service level objectives", _VIEW)
async def list_slos(session: ReadSession, caller: Caller, flow_id: FlowId = None) -> Page[SloOut]:
    """List the objectives of your spaces with their error budgets, the least budget left first."""
    return Page(items=await service.list_slos(session, caller, flow_id=flow_id))


@router.post(
    "/flows/{flow_id}/slos", "Add a service level objective", _MANAGE, status_code=201, problems=(403, 404, 409)
)
async def add_slo(flow_id: str, body: SloIn, session: WriteSession, caller: Caller) -> SloOut:
    """Add an objective to a flow. Its past runs count, too. Needs `runs.view` as well, as figures are returned."""
    return await service.add_slo(session, caller, flow_id, body)


@router.get("/slos/{slo_id}", "Read a service level objective", _VIEW, problems=(403, 404))
async def read_slo(slo_id: str, session: ReadSession, caller: Caller) -> SloDetail:
    """Return an objective with its error budget over time."""
    return await service.get_slo(session, caller, slo_id)


@router.patch("/slos/{slo_id}", "Change a service level objective", _MANAGE, problems=(403, 404, 409))
async def change_slo(slo_id: str, body: SloPatch, session: WriteSession, caller: Caller) -> SloOut:
    """Change the name, the target or the window of an objective. Needs `runs.view` as well."""
    return await service.change_slo(session, caller, slo_id, body)


@router.delete("/slos/{slo_id}", "Remove a service level objective", _MANAGE, problems=(403, 404))
async def remove_slo(slo_id: str, session: WriteSession, caller: Caller) -> None:
    """Remove an objective with its counts."""
    await service.remove_slo(session, caller, slo_id)
