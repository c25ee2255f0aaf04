"""Folders, tags and favourites of flows."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import spaces_shown
from headgate.features.audit.actions import Action
from headgate.features.flows.errors import TooManyTags
from headgate.features.flows.organization import repository
from headgate.features.flows.organization.filters import EVERY_FLOW, FlowFilter
from headgate.features.flows.organization.names import MOST_TAGS
from headgate.features.flows.organization.schemas import Collections, Counted
from headgate.features.flows.service import get_flow, record_change
from headgate.features.flows.tables import FlowRow


@dataclass(frozen=True, slots=True)
class Places:
    """Tags of flows by id, and the flows that are favourites of the caller."""

    tags: Mapping[str, list[str]]
    favourites: Collection[str]


async def places_of(session: AsyncSession, principal: Principal, flow_ids: Collection[str]) -> Places:
    """Return tags and favourites among flows that the caller can view."""
    if not flow_ids:
        return Places({}, ())
    tags = await repository.tags_of(session, flow_ids, tenant_id=principal.tenant_id)
    favourites = await repository.favourites_among(
        session, flow_ids, user_id=principal.user_id, tenant_id=principal.tenant_id
    )
    return Places(tags, favourites)


async def move_flow(session: AsyncSession, principal: Principal, flow_id: str, folder: str) -> FlowRow:
    """Move a flow to a folder of its space; empty: to none. Raises `FlowNotFound`, `PermissionMissing`."""
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    if row.folder != folder:
        before, row.folder = row.folder, folder
        await session.flush()
        payload = {"folder_before": before, "folder": folder}
        await record_change(session, principal, row, "flow.moved", payload=payload)
    return row


async def change_tags(
    session: AsyncSession,
    principal: Principal,
    flow_id: str,
    *,
    add: Collection[str] = (),
    remove: Collection[str] = (),
) -> list[str]:
    """Add and remove tags; return the tags of the flow. Raises `FlowNotFound`, `PermissionMissing`, `TooManyTags`."""
    row = await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT, lock=True)
    tenant_id = principal.tenant_id
    before = (await repository.tags_of(session, [flow_id], tenant_id=tenant_id)).get(flow_id, [])
    after = sorted((set(before) | set(add)) - set(remove))
    if len(after) > MOST_TAGS:
        raise TooManyTags(row.name, len(after))
    if after != before:
        await repository.add_tags(session, flow_id, set(after) - set(before), tenant_id=tenant_id)
        await repository.remove_tags(session, flow_id, set(before) - set(after), tenant_id=tenant_id)
        await record_change(session, principal, row, "flow.tagged", payload={"tags_before": before, "tags": after})
    return after


async def set_favourite(session: AsyncSession, principal: Principal, flow_id: str, *, favourite: bool) -> None:
    """Mark a flow as a favourite of the caller, or remove the mark. Raises `FlowNotFound`, `PermissionMissing`."""
    row = await get_flow(session, principal, flow_id)
    change = repository.add_favourite if favourite else repository.remove_favourite
    if await change(session, flow_id, principal.user_id, tenant_id=principal.tenant_id):
        action: Action = "flow.favourite_added" if favourite else "flow.favourite_removed"
        await record_change(session, principal, row, action)


async def collections_of(
    session: AsyncSession, principal: Principal, *, space_id: str | None, trash_days: int | None
) -> Collections:
    """Return the folders, tags and counts of the flows that the caller can view. Raises `SpaceNotFound`."""
    tenant_id = principal.tenant_id
    spaces = await spaces_shown(session, principal, space_id, Permission.FLOWS_VIEW)
    folders = await repository.count_folders(session, tenant_id=tenant_id, space_ids=spaces)
    tags = await repository.count_tags(session, tenant_id=tenant_id, space_ids=spaces)
    flows, favourites, trashed = [
        await repository.count_flows(session, flow_filter, tenant_id=tenant_id, space_ids=spaces)
        for flow_filter in (EVERY_FLOW, FlowFilter(favourite_of=principal.user_id), FlowFilter(trashed=True))
    ]
    return Collections(
        folders=[Counted(name=name, flows=count) for name, count in folders],
        tags=[Counted(name=name, flows=count) for name, count in tags],
        flows=flows,
        favourites=favourites,
        trashed=trashed,
        trash_days=trash_days,
    )
