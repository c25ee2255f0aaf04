"""The state of a flow for users: list, read, set and delete its values."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record_of
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.service import get_flow
from headgate.features.flows.state import repository
from headgate.features.flows.state.errors import StateNotFound
from headgate.features.flows.state.schemas import StateEntry, StateIn, StateOut, StateSummary
from headgate.features.flows.state.sealed import Sealer, unseal
from headgate.features.flows.state.tables import FlowStateRow, FlowStateValueRow
from headgate.features.flows.state.writing import Place, Writer, type_of, write_value
from headgate.features.flows.tables import FlowRow
from headgate.foundation.canonical import digest, portable
from headgate.foundation.database import moment
from headgate.sdk.state import StateChange


async def list_state(
    session: AsyncSession, principal: Principal, flow_id: str, *, draft: bool
) -> Sequence[StateSummary]:
    """List the names of a flow's state. Raises `FlowNotFound`, `PermissionMissing`."""
    await get_flow(session, principal, flow_id, permission=Permission.RUNS_VIEW)
    rows = await repository.list_states(session, flow_id, draft=draft, tenant_id=principal.tenant_id)
    return [StateSummary.model_validate(_summary(row)) for row in rows]


async def get_state(
    session: AsyncSession, principal: Principal, flow_id: str, name: str, *, draft: bool, box: Sealer, history: int
) -> StateOut:
    """Return a value and its newest earlier ones. Raises `FlowNotFound`, `PermissionMissing`, `StateNotFound`."""
    await get_flow(session, principal, flow_id, permission=Permission.RUNS_VIEW)
    return await _read(session, flow_id, name, draft=draft, tenant_id=principal.tenant_id, box=box, history=history)


async def _read(
    session: AsyncSession, flow_id: str, name: str, *, draft: bool, tenant_id: str, box: Sealer, history: int
) -> StateOut:
    place: dict[str, Any] = {"draft": draft, "tenant_id": tenant_id}
    row = await repository.find_state(session, flow_id, name, **place)
    if row is None:
        raise StateNotFound(name)
    values = await repository.list_values(session, flow_id, name, limit=history, **place) if history else ()
    return StateOut.model_validate(
        {
            **_summary(row),
            "value": unseal(box, row.content)["value"],
            "history": [_entry(value, box) for value in values],
        }
    )


async def set_state(
    session: AsyncSession, principal: Principal, flow_id: str, name: str, body: StateIn, *, draft: bool, box: Sealer
) -> StateOut:
    """Set a value by hand. Raises `FlowNotFound`, `PermissionMissing`, `StateInvalid`, `StateChanged`."""
    flow = await _editable(session, principal, flow_id, draft=draft)
    change = StateChange(name, "set", body.value, expected_version=body.expected_version)
    place = Place(principal.tenant_id, flow_id, draft)
    written = (await write_value(session, change, Writer(user_id=principal.user_id), place, box=box)).value
    await record_of(
        session,
        principal,
        "flow.state_set",
        flow,
        payload={
            "state": name,
            "draft": draft,
            "version": written.version,
            "value_hash": digest(portable(written.value)),
        },
    )
    return await _read(session, flow_id, name, draft=draft, tenant_id=principal.tenant_id, box=box, history=1)


async def delete_state(session: AsyncSession, principal: Principal, flow_id: str, name: str, *, draft: bool) -> None:
    """Delete a value with its history. Raises `FlowNotFound`, `PermissionMissing`, `StateNotFound`."""
    flow = await _editable(session, principal, flow_id, draft=draft)
    row = await repository.find_state(session, flow_id, name, draft=draft, tenant_id=principal.tenant_id, lock=True)
    if row is None:
        raise StateNotFound(name)
    await repository.delete_states(session, flow_id, tenant_id=principal.tenant_id, draft=draft, only=name)
    payload = {"state": name, "draft": draft, "version": row.version}
    await record_of(session, principal, "flow.state_deleted", flow, payload=payload)


async def _editable(session: AsyncSession, principal: Principal, flow_id: str, *, draft: bool) -> FlowRow:
    """Return the flow. What its published version reads is changed by users who may publish."""
    flow = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT)
    if not draft:
        principal.require_in(flow.space_id, Permission.FLOWS_PUBLISH, FlowNotFound(flow_id))
    return flow


def _summary(row: FlowStateRow) -> dict[str, object]:
    return {
        "name": row.name,
        "version": row.version,
        "size": row.size,
        "classification": row.classification,
        "type": type_of(row),
        "changed_at": moment(row.changed_at),
    }


def _entry(row: FlowStateValueRow, box: Sealer) -> StateEntry:
    return StateEntry(
        version=row.version,
        value=unseal(box, row.content)["value"],
        classification=row.classification,
        run_id=row.flow_run_id,
        step_id=row.step_id,
        user_id=row.user_id,
        written_at=moment(row.written_at),
    )
