"""Creating, reading, saving and deleting flows."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space, spaces_shown
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record_of
from headgate.features.flows import repository
from headgate.features.flows.errors import AmbiguousFlow, FlowNotFound, StaleRevision
from headgate.features.flows.live import announce_change, announce_draft
from headgate.features.flows.tables import FlowRow
from headgate.foundation.database import now
from headgate.foundation.ids import new_id
from headgate.graph.issues import raise_if_any
from headgate.graph.links import unlink
from headgate.graph.model import Flow
from headgate.graph.validate import check_kept

if TYPE_CHECKING:
    from headgate.features.catalog.registry import Components

MOST_DRAFTS = 100
"""Earlier drafts of a flow that are kept."""
_CHANGES = frozenset[Action]({"flow.draft_saved", "flow.renamed", "flow.restored", "flow.version_restored"})
"""Who does one of these is the one who changed a flow last."""


async def create_flow(
    session: AsyncSession,
    principal: Principal,
    catalog: "Components",
    *,
    definition: Flow,
    space_id: str | None = None,
    flow_id: str | None = None,
) -> FlowRow:
    """Save a new flow. Raises `FlowInvalid` when the graph does not hold together, `SpaceNotFound`.

    `flow_id` is for a caller who must find it again when the answer is lost; otherwise it gets a new one.
    """
    space = space_id or principal.space_id
    await require_space(session, principal, space, Permission.FLOWS_EDIT)
    known = await catalog.for_flow(principal.tenant_id, definition, session=session)
    raise_if_any(check_kept(definition, known))
    row = FlowRow(
        id=flow_id or new_id(),
        tenant_id=principal.tenant_id,
        space_id=space,
        name=definition.name,
        description=definition.description,
        draft=_stored(definition),
        revision=1,
        restores=None,
        draft_version=None,
        last_version=0,
        last_release=0,
        published_version=None,
        created_by_user_id=principal.user_id,
        owner_user_id=principal.user_id,
        updated_by_user_id=principal.user_id or None,
        created_at=now(),
        updated_at=now(),
        deleted_at=None,
    )
    session.add(row)
    await session.flush()
    await record_change(session, principal, row, "flow.created", after=draft_as_recorded(row))
    return row


async def get_flow(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    *,
    permission: Permission = Permission.FLOWS_VIEW,
    lock: bool = False,
) -> FlowRow:
    """A flow that the caller may do this with; `lock` holds it until the transaction ends.

    Raises `FlowNotFound`, also for a flow in a space that is not there for them; `PermissionMissing`.
    """
    row = await repository.find_flow(session, flow_id, tenant_id=principal.tenant_id, lock=lock)
    if row is None:
        raise FlowNotFound(flow_id)
    principal.require_in(row.space_id, permission, FlowNotFound(flow_id))
    return row


async def get_flow_ever(
    session: AsyncSession, principal: Principal, flow_id: str, *, permission: Permission
) -> FlowRow:
    """A flow that the caller may do this with, a deleted one too. Raises `FlowNotFound`, `PermissionMissing`."""
    row = await repository.find_flow(session, flow_id, tenant_id=principal.tenant_id, deleted=True)
    if row is None:
        raise FlowNotFound(flow_id)
    principal.require_in(row.space_id, permission, FlowNotFound(flow_id))
    return row


async def space_of(session: AsyncSession, flow_id: str, *, tenant_id: str) -> str:
    """The space that a flow is in, a deleted one too: its last runs still end. Raises `FlowNotFound`."""
    found = await repository.find_space_of(session, flow_id, tenant_id=tenant_id)
    if found is None:
        raise FlowNotFound(flow_id)
    return found


async def get_flow_named(session: AsyncSession, principal: Principal, name: str) -> FlowRow:
    """The one flow of that name that the caller sees; written exactly so it wins.

    Raises `FlowNotFound`, `AmbiguousFlow`.
    """
    rows = await repository.find_flows_named(
        session, name, tenant_id=principal.tenant_id, space_ids=principal.visible_spaces, limit=20
    )
    found = [row for row in rows if row.name == name] or rows
    if not found:
        raise FlowNotFound(name)
    if len(found) > 1:
        raise AmbiguousFlow(name, [row.id for row in found])
    return found[0]


async def names_of(session: AsyncSession, principal: Principal, flow_ids: Collection[str]) -> dict[str, str]:
    """Flow id to name for those who list runs; a deleted flow keeps its name."""
    return await repository.names_of(
        session, flow_ids, tenant_id=principal.tenant_id, space_ids=principal.visible_spaces
    )


async def list_flows(
    session: AsyncSession,
    principal: Principal,
    *,
    space_id: str | None = None,
    search: str = "",
    limit: int = 50,
    before: str | None = None,
) -> Sequence[FlowRow]:
    """Flows that the caller sees, of one space or of all, newest first. Raises `SpaceNotFound`."""
    return await repository.list_flows(
        session,
        tenant_id=principal.tenant_id,
        space_ids=await spaces_shown(session, principal, space_id, Permission.FLOWS_VIEW),
        search=search,
        limit=limit,
        before=before,
    )


async def save_draft(
    session: AsyncSession,
    principal: Principal,
    catalog: "Components",
    flow_id: str,
    *,
    revision: int,
    definition: Flow,
    restores: int | None = None,
) -> FlowRow:
    """Replace the draft, if it is still the revision the caller read; `restores` is the revision that it restores.

    Raises `StaleRevision` with the revision in force, or `FlowInvalid`; then nothing has changed.
    """
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    if row.revision != revision:
        raise StaleRevision(sent=revision, current=row.revision)
    await replace_draft(session, principal, catalog, row, definition, restores=restores)
    return row


async def replace_draft(
    session: AsyncSession,
    principal: Principal,
    catalog: "Components",
    row: FlowRow,
    definition: Flow,
    *,
    restores: int | None = None,
) -> None:
    """Write a draft into a locked row, record and announce it, unless it is equal to the one that was there."""
    before, recorded = definition_of(row), draft_as_recorded(row)
    if await write_draft(session, row, definition, catalog, restores=restores):
        await session.flush()
        after = draft_as_recorded(row)
        payload = {} if restores is None else {"undone": True, "restores": restores}
        await record_change(session, principal, row, "flow.draft_saved", before=recorded, after=after, payload=payload)
        announce_draft(session, principal, row.id, revision=row.revision, before=before, after=definition)


async def rename_flow(
    session: AsyncSession, principal: Principal, flow_id: str, *, name: str | None, description: str | None
) -> FlowRow:
    """Change name or description."""
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    before = draft_as_recorded(row)
    await _advance(session, row)
    row.name = row.name if name is None else name
    row.description = row.description if description is None else description
    await session.flush()
    await record_change(session, principal, row, "flow.renamed", before=before, after=draft_as_recorded(row))
    named = {"name": row.name, "description": row.description}
    announce_change(session, principal, row.id, "renamed", revision=row.revision, **named)
    return row


async def delete_flow(session: AsyncSession, principal: Principal, flow_id: str) -> None:
    """Hide a flow. Its versions and runs stay as evidence; nothing of it runs any more.

    What is published is taken back by those who may publish: then `flows.publish` is needed besides.
    """
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    if row.published_version is not None:
        principal.require_in(row.space_id, Permission.FLOWS_PUBLISH, FlowNotFound(flow_id))
    row.deleted_at = now()
    await session.flush()
    await record_change(session, principal, row, "flow.deleted", before=draft_as_recorded(row))
    announce_change(session, principal, row.id, "deleted", revision=row.revision)


async def restore_flow(session: AsyncSession, principal: Principal, flow_id: str) -> FlowRow:
    """Take back the deletion of a flow; of one that is there nothing changes.

    What is published comes back with it, so `flows.publish` is needed for that as it is to delete it.
    Raises `FlowNotFound`, `SpaceNotFound`, `PermissionMissing`.
    """
    row = await repository.find_flow(session, flow_id, tenant_id=principal.tenant_id, lock=True, deleted=True)
    if row is None:
        raise FlowNotFound(flow_id)
    principal.require_in(row.space_id, Permission.FLOWS_EDIT, FlowNotFound(flow_id))
    if row.published_version is not None:
        principal.require_in(row.space_id, Permission.FLOWS_PUBLISH, FlowNotFound(flow_id))
    if row.deleted_at is not None:
        row.deleted_at = None
        await session.flush()
        await record_change(session, principal, row, "flow.restored", after=draft_as_recorded(row))
    return row


def definition_of(row: FlowRow) -> Flow:
    """The draft as a value."""
    return Flow.model_validate(_whole(row))


async def write_draft(
    session: AsyncSession, row: FlowRow, definition: Flow, catalog: "Components", *, restores: int | None = None
) -> bool:
    """Put a definition into a flow's row as its next revision; whether it is another than the one that was there."""
    known = await catalog.for_flow(row.tenant_id, definition, session=session)
    raise_if_any(check_kept(definition, known))
    definition = unlink(definition)
    if definition == definition_of(row):
        return False
    await _advance(session, row, restores=restores)
    row.name = definition.name
    row.description = definition.description
    row.draft = _stored(definition)
    return True


async def record_change(
    session: AsyncSession,
    principal: Principal,
    row: FlowRow,
    action: Action,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
    payload: Mapping[str, object] | None = None,
) -> None:
    """Write a change of a flow into the audit log: digests of the drafts, and what was done in short."""
    if action in _CHANGES:
        row.updated_by_user_id = principal.user_id or None
    told = {"revision": row.revision, "nodes": len(row.draft.get("nodes", ())), **(payload or {})}
    await record_of(session, principal, action, row, before=before, after=after, payload=told)


def draft_as_recorded(row: FlowRow) -> Mapping[str, object]:
    """The draft as it stands, for the audit log: a draft is saved often, so it is not told in full but by its digest.

    That is SHA-256 over its JSON with sorted keys and no white space.
    """
    told = orjson.dumps(row.draft, option=orjson.OPT_SORT_KEYS)
    return {"name": row.name, "description": row.description, "draft": hashlib.sha256(told).hexdigest()}


def _whole(row: FlowRow) -> dict[str, Any]:
    return row.draft | {"name": row.name, "description": row.description}


async def _advance(session: AsyncSession, row: FlowRow, *, restores: int | None = None) -> None:
    """Begin the next revision of a locked row: the draft that is to be replaced is kept for `undo`."""
    await repository.keep_draft(session, row, _whole(row), most=MOST_DRAFTS)
    row.revision += 1
    row.restores = restores
    row.draft_version = None
    row.updated_at = now()


def _stored(definition: Flow) -> dict[str, object]:
    return unlink(definition).model_dump(mode="json", exclude_defaults=True, exclude={"name", "description"})
