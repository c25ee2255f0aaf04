"""HTTP routes of the state of flows."""

from typing import Annotated

from fastapi import Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.flows.state import service
from headgate.features.flows.state.changes import MOST_VALUES
from headgate.features.flows.state.schemas import StateIn, StateList, StateOut
from headgate.foundation.api import ReadSession, Routes, WriteSession, part
from headgate.foundation.crypto import SecretBox

router = Routes(prefix="/flows", tags=["flows"])
_VIEW, _EDIT = [needs(Permission.RUNS_VIEW)], [needs(Permission.FLOWS_EDIT)]


Box = Annotated[SecretBox, part("box")]
Draft = Annotated[bool, Query(description="The state of versions that were never published, such as test runs.")]


@router.get("/{flow_id}/state", "List the state of a flow", _VIEW, problems=(404,))
async def list_(flow_id: str, session: ReadSession, caller: Caller, *, draft: Draft = False) -> StateList:
    """List the names of values that last between runs of the flow."""
    return StateList(items=list(await service.list_state(session, caller, flow_id, draft=draft)))


@router.get("/{flow_id}/state/{name}", "Read a state", _VIEW, problems=(404,))
async def read(
    flow_id: str,
    name: str,
    session: ReadSession,
    caller: Caller,
    box: Box,
    *,
    draft: Draft = False,
    history: Annotated[int, Query(ge=0, le=MOST_VALUES, description="How many of the last values to return.")] = 20,
) -> StateOut:
    """Return a value, its version, and the last values with the runs and steps that wrote them."""
    return await service.get_state(session, caller, flow_id, name, draft=draft, box=box, history=history)


@router.put("/{flow_id}/state/{name}", "Set a state", _EDIT, problems=(403, 404, 409))
async def put(
    flow_id: str, name: str, body: StateIn, session: WriteSession, caller: Caller, box: Box, *, draft: Draft = False
) -> StateOut:
    """Set a value by hand. The state of published versions needs `flows.publish`."""
    return await service.set_state(session, caller, flow_id, name, body, draft=draft, box=box)


@router.delete("/{flow_id}/state/{name}", "Delete a state", _EDIT, problems=(403, 404))
async def delete(flow_id: str, name: str, session: WriteSession, caller: Caller, *, draft: Draft = False) -> None:
    """Delete a value and its history. The state of published versions needs `flows.publish`."""
    await service.delete_state(session, caller, flow_id, name, draft=draft)
