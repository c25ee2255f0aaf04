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
from headgate.features.flows.organization.filters import EVERY_FLOW, FlowFilter
from headgate.features.flows.tables import FlowRow
from headgate.foundation.database import now
from headgate.foundation.ids import new_id
from headgate.foundation.lazy import lazy_module
from headgate.graph.issues import raise_if_any

if TYPE_CHECKING:
    from headgate.features.catalog.own import store as own_store
    from headgate.features.catalog.registry import Components
    from headgate.features.flows import live
    from headgate.features.flows.state import repository as state
    from headgate.graph import links, model, validate
    from headgate.graph.model import Flow
else:
    own_store = lazy_module("headgate.features.catalog.own.store")
    live = lazy_module("headgate.features.flows.live")
    state = lazy_module("headgate.features.flows.state.repository")
    links = lazy_module("headgate.graph.links")
    model = lazy_module("headgate.graph.model")
    validate = lazy_module("headgate.graph.validate")

MOST_DRAFTS = 100
"""Number of earlier drafts that are kept."""
_CHANGES = frozenset[Action]({"flow.draft_saved", "flow.renamed", "flow.restored", "flow.version_restored"})
"""Actions that determine who last changed a flow."""


async def create_flow(
    session: AsyncSession,
    principal: Principal,
    catalog: "Components",
    *,
    definition: "Flow",
    space_id: str | None = None,
    flow_id: str | None = None,
    folder: str = "",
) -> FlowRow:
    """Create a flow. Raises `FlowInvalid` for an invalid graph, `SpaceNotFound`.

    `flow_id` is for a caller that must be able to find it after a lost response; by default a new one is generated.
    """
    space = space_id or principal.space_id
    await require_space(session, principal, space, Permission.FLOWS_EDIT)
    definition = await own_store.with_pack_code(session, definition, catalog)
    components = await catalog.for_flow(principal.tenant_id, definition, session=session)
    raise_if_any(validate.check_kept(definition, components))
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
        purged_at=None,
        folder=folder,
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
    """Return a flow for which the caller has the permission; `lock` holds it until the transaction ends.

    Raises `FlowNotFound`, also for a flow in a space that the caller cannot view; `PermissionMissing`.
    """
    row = await repository.find_flow(session, flow_id, tenant_id=principal.tenant_id, lock=lock)
    if row is None:
        raise FlowNotFound(flow_id)
    principal.require_in(row.space_id, permission, FlowNotFound(flow_id))
    return row


async def get_flow_ever(
    session: AsyncSession, principal: Principal, flow_id: str, *, permission: Permission
) -> FlowRow:
    """A permitted flow, also a deleted one. Raises `FlowNotFound`, `PermissionMissing`."""
    row = await repository.find_flow(session, flow_id, tenant_id=principal.tenant_id, deleted=True)
    if row is None:
        raise FlowNotFound(flow_id)
    principal.require_in(row.space_id, permission, FlowNotFound(flow_id))
    return row


async def space_of(session: AsyncSession, flow_id: str, *, tenant_id: str) -> str:
    """Return the space of a flow, also of a deleted one: its last runs may still be active. Raises `FlowNotFound`."""
    space_id = await repository.find_space_of(session, flow_id, tenant_id=tenant_id)
    if space_id is None:
        raise FlowNotFound(flow_id)
    return space_id


async def get_flow_named(session: AsyncSession, principal: Principal, name: str) -> FlowRow:
    """Return the only flow with that name that the caller can view; an exact match has precedence.

    Raises `FlowNotFound`, `AmbiguousFlow`.
    """
    rows = await repository.find_flows_named(
        session, name, tenant_id=principal.tenant_id, space_ids=principal.visible_spaces, limit=20
    )
    return _only(rows, name)


async def trashed_flow_named(session: AsyncSession, principal: Principal, name: str) -> str:
    """Return the id of the only flow in the trash with that name. Raises `FlowNotFound`, `AmbiguousFlow`."""
    rows = await repository.find_flows_named(
        session, name, tenant_id=principal.tenant_id, space_ids=principal.visible_spaces, limit=20, trashed=True
    )
    return _only(rows, name).id


def _only(rows: Sequence[FlowRow], name: str) -> FlowRow:
    matches = [row for row in rows if row.name == name] or rows
    if not matches:
        raise FlowNotFound(name)
    if len(matches) > 1:
        raise AmbiguousFlow(name, [row.id for row in matches])
    return matches[0]


async def names_of(session: AsyncSession, principal: Principal, flow_ids: Collection[str]) -> dict[str, str]:
    """Return flow id to name, for lists of runs; deleted flows keep their names."""
    return await repository.names_of(
        session, flow_ids, tenant_id=principal.tenant_id, space_ids=principal.visible_spaces
    )


async def list_flows(
    session: AsyncSession,
    principal: Principal,
    *,
    space_id: str | None = None,
    search: str = "",
    flow_filter: FlowFilter = EVERY_FLOW,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[FlowRow]:
    """Return flows that the caller can view, of one space or of all, newest first. Raises `SpaceNotFound`."""
    return await repository.list_flows(
        session,
        tenant_id=principal.tenant_id,
        space_ids=await spaces_shown(session, principal, space_id, Permission.FLOWS_VIEW),
        search=search,
        flow_filter=flow_filter,
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
    definition: "Flow",
    restores: int | None = None,
) -> FlowRow:
    """Replace the draft, if it still has the revision that the caller read; `restores` is the restored revision.

    Raises `StaleRevision` with the current revision, or `FlowInvalid`; then nothing is changed.
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
    definition: "Flow",
    *,
    restores: int | None = None,
) -> None:
    """Write a draft to a locked row, record and announce it, unless it equals the current one."""
    before, recorded = definition_of(row), draft_as_recorded(row)
    if await write_draft(session, row, definition, catalog, restores=restores):
        await session.flush()
        after = draft_as_recorded(row)
        payload = {} if restores is None else {"undone": True, "restores": restores}
        await record_change(session, principal, row, "flow.draft_saved", before=recorded, after=after, payload=payload)
        live.announce_draft(session, principal, row.id, revision=row.revision, before=before, after=definition)


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
    values = {"name": row.name, "description": row.description}
    live.announce_change(session, principal, row.id, "renamed", revision=row.revision, **values)
    return row


async def delete_flow(session: AsyncSession, principal: Principal, flow_id: str) -> None:
    """Delete a flow with its state. Its versions and runs stay as evidence; it cannot run any more.

    For a published flow, `flows.publish` is required in addition.
    """
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    if row.published_version is not None:
        principal.require_in(row.space_id, Permission.FLOWS_PUBLISH, FlowNotFound(flow_id))
    row.deleted_at = now()
    await state.delete_states(session, flow_id, tenant_id=principal.tenant_id)
    await session.flush()
    await record_change(session, principal, row, "flow.deleted", before=draft_as_recorded(row))
    live.announce_change(session, principal, row.id, "deleted", revision=row.revision)


async def restore_flow(session: AsyncSession, principal: Principal, flow_id: str) -> FlowRow:
    """Restore a deleted flow; no effect on an existing one. The content of a flow stays in the trash for some days.

    Its published version is restored too, so `flows.publish` is required as for deleting it.
    Raises `FlowNotFound`, `SpaceNotFound`, `PermissionMissing`.
    """
    row = await repository.find_flow(session, flow_id, tenant_id=principal.tenant_id, lock=True, deleted=True)
    if row is None or row.purged_at is not None:
        raise FlowNotFound(flow_id)
    principal.require_in(row.space_id, Permission.FLOWS_EDIT, FlowNotFound(flow_id))
    if row.published_version is not None:
        principal.require_in(row.space_id, Permission.FLOWS_PUBLISH, FlowNotFound(flow_id))
    if row.deleted_at is not None:
        row.deleted_at = None
        await session.flush()
        await record_change(session, principal, row, "flow.restored", after=draft_as_recorded(row))
    return row


def definition_of(row: FlowRow) -> "Flow":
    """Return the draft as a value."""
    return model.Flow.model_validate(_complete_draft(row))


async def write_draft(
    session: AsyncSession, row: FlowRow, definition: "Flow", catalog: "Components", *, restores: int | None = None
) -> bool:
    """Store a definition in a flow's row as its next revision; return whether it differs from the current one."""
    components = await catalog.for_flow(row.tenant_id, definition, session=session)
    raise_if_any(validate.check_kept(definition, components))
    definition = links.unlink(definition)
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
    """Record a change of a flow in the audit log: digests of the drafts, and a short summary."""
    if action in _CHANGES:
        row.updated_by_user_id = principal.user_id or None
    summary = {"revision": row.revision, "nodes": len(row.draft.get("nodes", ())), **(payload or {})}
    await record_of(session, principal, action, row, before=before, after=after, payload=summary)


def draft_as_recorded(row: FlowRow) -> Mapping[str, object]:
    """Return the draft for the audit log: since drafts are saved often, only a digest is recorded.

    It is SHA-256 over its JSON with sorted keys and no whitespace.
    """
    serialised = orjson.dumps(row.draft, option=orjson.OPT_SORT_KEYS)
    return {"name": row.name, "description": row.description, "draft": hashlib.sha256(serialised).hexdigest()}


def _complete_draft(row: FlowRow) -> dict[str, Any]:
    return row.draft | {"name": row.name, "description": row.description}


async def _advance(session: AsyncSession, row: FlowRow, *, restores: int | None = None) -> None:
    """Start the next revision of a locked row: the current draft is kept for `undo`."""
    await repository.keep_draft(session, row, _complete_draft(row), limit=MOST_DRAFTS)
    row.revision += 1
    row.restores = restores
    row.draft_version = None
    row.updated_at = now()


def _stored(definition: "Flow") -> dict[str, object]:
    return links.unlink(definition).model_dump(mode="json", exclude_defaults=True, exclude={"name", "description"})
