"""Writes drafts of a session: each with its comparison in one transaction, so that no change is overwritten.

Writing goes through `features.flows`, as the studio's own saving does: audited, and seen live by whoever has the flow
open.
"""

from typing import cast

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.domain import Change, Held, PutBack
from headgate.agents.codev.domains.headgate.definitions import Definition, definition_of, flow_of, held_of, id_for
from headgate.agents.codev.domains.headgate.place import Place
from headgate.agents.codev.errors import WriteConflict
from headgate.features.access.permissions import Permission
from headgate.features.flows import service as flows
from headgate.features.flows import versions
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.tables import FlowRow
from headgate.graph.diff import is_replaced


async def write(place: Place, change: Change, before: Held | None, token: str) -> Held:
    """Save a change to `before`, or a new flow. Raises `WriteConflict` when the flow is not `before` any more."""
    if before is None:
        return await _create(place, change, token)
    after = flow_of(change.definition)
    async with place.studio.database.writing() as session:
        row = await _locked(session, place, before.flow_id, before.mark, before.name)
        there = flows.definition_of(row)
        if is_replaced(there, after):
            await versions.keep_draft(session, place.principal, place.studio.registry, row.id)
        for created in change.creates:
            inner = flow_of(cast("Definition", created["definition"]))
            await flows.create_flow(
                session,
                place.principal,
                place.catalog,
                definition=inner,
                space_id=row.space_id,
                flow_id=str(created["id"]),
            )
        row = await flows.save_draft(
            session, place.principal, place.catalog, row.id, revision=row.revision, definition=after
        )
        return held_of(row)


async def find_written(place: Place, token: str) -> Held | None:
    """Return the current flow that the write with this token created; None without one, or if it is deleted."""
    async with place.studio.database.reading() as session:
        try:
            row = await flows.get_flow(session, place.principal, id_for(token), permission=Permission.FLOWS_EDIT)
        except FlowNotFound:
            return None
    return held_of(row)


async def remove(place: Place, flow_id: str, expected_mark: str) -> None:
    """Delete a flow that is as expected."""
    async with place.studio.database.writing() as session:
        row = await _locked(session, place, flow_id, expected_mark)
        await flows.delete_flow(session, place.principal, row.id)


async def put_back(session: AsyncSession, place: Place, step: PutBack) -> None:
    """Restore an earlier version of a flow, or remove it. The current state is kept as a version."""
    if step.now is None:
        row = await flows.restore_flow(session, place.principal, step.flow_id)
    else:
        row = await _locked(session, place, step.flow_id, step.now.mark, step.now.name)
    if step.target is None:
        await flows.delete_flow(session, place.principal, row.id)
        return
    await versions.keep_draft(session, place.principal, place.studio.registry, row.id)
    definition = flow_of(step.target.definition)
    await flows.save_draft(
        session, place.principal, place.catalog, row.id, revision=row.revision, definition=definition
    )


async def _create(place: Place, change: Change, token: str) -> Held:
    """A new flow under the token's id; once, also where two processes make it at the same moment."""
    try:
        return await _created(place, change, token)
    except IntegrityError:
        return await _created(place, change, token)


async def _created(place: Place, change: Change, token: str) -> Held:
    """Return a new flow; an existing one from the same write, if unchanged."""
    flow, flow_id = flow_of(change.definition), id_for(token)
    async with place.studio.database.writing() as session:
        try:
            row = await flows.get_flow_ever(session, place.principal, flow_id, permission=Permission.FLOWS_EDIT)
        except FlowNotFound:
            row = await flows.create_flow(
                session,
                place.principal,
                place.catalog,
                definition=flow,
                space_id=place.space_id,
                flow_id=flow_id,
            )
            return held_of(row)
        held = held_of(row)
        if row.deleted_at is not None or held.definition != definition_of(flow):
            raise WriteConflict(row.name)
        return held


async def _locked(session: AsyncSession, place: Place, flow_id: str, mark: str, name: str = "") -> FlowRow:
    """Return the row, locked until the transaction ends. Raises `WriteConflict` when it has changed.

    A flow that was deleted meanwhile is one where a name is known: somebody changed it in the strongest way.
    """
    try:
        row = await flows.get_flow(session, place.principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    except FlowNotFound:
        if not name:
            raise
        raise WriteConflict(name) from None
    if held_of(row).mark != mark:
        raise WriteConflict(row.name)
    return row
