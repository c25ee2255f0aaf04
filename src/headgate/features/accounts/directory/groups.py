"""Groups of a directory, and the resulting roles of their members in spaces."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts.directory import repository
from headgate.features.accounts.directory.errors import GroupNotFound, NotUnique, ScimInvalid
from headgate.features.accounts.directory.roles import settle
from headgate.features.accounts.directory.scim.filters import Comparison
from headgate.features.accounts.directory.scim.patch import Operation
from headgate.features.accounts.directory.scim.user_document import external_id_of, name_of_group
from headgate.features.accounts.directory.tables import DirectoryGroup
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id

MOST_MEMBERS = 20_000
"""Maximum members in one request."""


@dataclass(slots=True)
class Change:
    """Requested changes of a group."""

    name: str | None = None
    external_id: str | None = None
    sets_external_id: bool = False
    only: set[str] | None = None
    """All future members; None when only the ones below are added and removed."""
    added: set[str] | None = None
    removed: set[str] | None = None


async def read(session: AsyncSession, principal: Principal, group_id: str) -> DirectoryGroup:
    """Return a group of the directory. Raises `GroupNotFound`."""
    group = await repository.find_group(session, group_id, tenant_id=principal.tenant_id) if is_id(group_id) else None
    if group is None:
        raise GroupNotFound(group_id)
    return group


async def create(session: AsyncSession, principal: Principal, document: Mapping[str, Any]) -> DirectoryGroup:
    """Create a group with its members. Raises `NotUnique`, `ScimInvalid`."""
    change = change_of(document)
    at, name = now(), name_of_group(document)
    group = DirectoryGroup(
        id=new_id(),
        tenant_id=principal.tenant_id,
        name=name,
        name_key=name.lower(),
        external_id=change.external_id,
        revision=1,
        created_at=at,
        updated_at=at,
    )
    try:
        async with session.begin_nested():
            session.add(group)
    except IntegrityError as error:
        raise NotUnique(name) from error
    added = change.only or set()
    await _require_users(session, principal, added)
    await repository.join_group(session, group.id, added, tenant_id=principal.tenant_id)
    audit_values = {"name": name, "members": len(added)}
    await record(
        session, principal, "directory_group.created", id=group.id, name=name, after=audit_values, payload=audit_values
    )
    return group


async def change(session: AsyncSession, principal: Principal, group: DirectoryGroup, changes: Change) -> None:
    """Change a group and its members, and update their roles in spaces. Raises `NotUnique`, `ScimInvalid`."""
    before = {"name": group.name, "external_id": group.external_id}
    await _rename(session, group, changes)
    added, removed = await _change_members(session, principal, group, changes)
    after = {"name": group.name, "external_id": group.external_id}
    if before == after and not added and not removed:
        return
    group.revision, group.updated_at = group.revision + 1, now()
    await session.flush()
    payload = {**after, "added": len(added), "removed": len(removed)}
    await record(
        session,
        principal,
        "directory_group.changed",
        id=group.id,
        name=group.name,
        before=before,
        after=after,
        payload=payload,
    )
    await _settle(session, principal, group, added | removed)


async def remove(session: AsyncSession, principal: Principal, group: DirectoryGroup) -> None:
    """Delete a group and the roles that its members had through it."""
    members = await _members(session, group)
    roles = await repository.roles_of(session, [group.id], tenant_id=group.tenant_id)
    await session.delete(group)
    await session.flush()
    before = {"name": group.name, "members": len(members)}
    await record(session, principal, "directory_group.deleted", id=group.id, name=group.name, before=before)
    await settle(session, principal, space_ids={row[1] for row in roles}, user_ids=members, reason=group.name)


async def settle_space(session: AsyncSession, principal: Principal, group: DirectoryGroup, space_id: str) -> None:
    """Update the roles of a group's members in a space after a change of the group's role there."""
    members = await _members(session, group)
    await settle(session, principal, space_ids={space_id}, user_ids=members, reason=group.name)


def change_of(document: Mapping[str, Any]) -> Change:
    """Return the changes that replace a group by a document. Raises `ScimInvalid`."""
    return Change(
        name=name_of_group(document),
        external_id=external_id_of(document),
        sets_external_id=True,
        only=_ids(document.get("members")),
    )


def patched(operations: list[Operation]) -> Change:
    """Return the changes of PATCH operations; later ones override earlier ones. Raises `ScimInvalid`."""
    changes = Change()
    for operation in operations:
        name = operation.path.attribute
        if name == "members":
            _patch_members(changes, operation)
        elif operation.path.among is not None or operation.path.sub is not None:
            continue  # of an attribute that is not stored
        elif name == "displayname":
            changes.name = name_of_group({name: None if operation.kind == "remove" else operation.value})
        elif name == "externalid":
            value = None if operation.kind == "remove" else operation.value
            changes.external_id, changes.sets_external_id = external_id_of({name: value}), True
    return changes


def _patch_members(changes: Change, operation: Operation) -> None:
    value_filter, kind = operation.path.among, operation.kind
    if value_filter is not None:
        ids = {_id_of(value_filter)}
        kind = "remove" if kind == "remove" else "add"
    elif operation.path.sub not in (None, "value"):
        return
    elif kind == "remove" and operation.value in (None, []):
        changes.only, changes.added, changes.removed = set(), None, None
        return
    else:
        ids = _ids(operation.value)
    if kind == "replace":
        changes.only, changes.added, changes.removed = ids, None, None
    elif changes.only is not None:
        changes.only = changes.only | ids if kind == "add" else changes.only - ids
    else:
        added, removed = changes.added or set(), changes.removed or set()
        changes.added = added | ids if kind == "add" else added - ids
        changes.removed = removed - ids if kind == "add" else removed | ids


def _id_of(value_filter: object) -> str:
    if isinstance(value_filter, Comparison) and value_filter.attribute == "value" and value_filter.operator == "eq":
        return str(value_filter.value)
    raise ScimInvalid("invalidPath", 'Members are written as members[value eq "id"].')


def _ids(members: object) -> set[str]:
    """Return the ids of members, each an object with a value or the id itself."""
    if members in (None, ""):
        return set()
    member_list = members if isinstance(members, list) else [members]
    if len(member_list) > MOST_MEMBERS:
        raise ScimInvalid("tooMany", f"A request has at most {MOST_MEMBERS} members.", remedy="Send several.")
    ids = set()
    for member in member_list:
        value = member.get("value") if isinstance(member, dict) else member
        if not isinstance(value, str):
            raise ScimInvalid("invalidValue", "Each member is an object with the id of a user as value.")
        if isinstance(member, dict) and str(member.get("type") or "user").lower() == "group":
            raise ScimInvalid(
                "invalidValue", "Groups within groups are not supported.", remedy=("Assign their users directly.")
            )
        ids.add(value)
    return ids


async def _rename(session: AsyncSession, group: DirectoryGroup, changes: Change) -> None:
    try:
        async with session.begin_nested():
            if changes.name is not None:
                group.name, group.name_key = changes.name, changes.name.lower()
            if changes.sets_external_id:
                group.external_id = changes.external_id
    except IntegrityError as error:
        raise NotUnique(changes.name or "") from error


async def _change_members(
    session: AsyncSession, principal: Principal, group: DirectoryGroup, changes: Change
) -> tuple[set[str], set[str]]:
    """Change the members; returns the added and the removed ones."""
    if changes.only is None and not changes.added and not changes.removed:
        return set(), set()
    present = await _members(session, group)
    if changes.only is not None:
        added, removed = changes.only - present, present - changes.only
    else:
        added, removed = (changes.added or set()) - present, (changes.removed or set()) & present
    await _require_users(session, principal, added)
    await repository.leave_group(session, group.id, removed, tenant_id=group.tenant_id)
    await repository.join_group(session, group.id, added, tenant_id=group.tenant_id)
    return added, removed


async def _settle(session: AsyncSession, principal: Principal, group: DirectoryGroup, user_ids: set[str]) -> None:
    roles = await repository.roles_of(session, [group.id], tenant_id=group.tenant_id)
    await settle(session, principal, space_ids={row[1] for row in roles}, user_ids=user_ids, reason=group.name)


async def _members(session: AsyncSession, group: DirectoryGroup) -> set[str]:
    members = await repository.members_of(session, [group.id], tenant_id=group.tenant_id)
    return {user_id for user_id, _ in members.get(group.id, [])}


async def _require_users(session: AsyncSession, principal: Principal, user_ids: Collection[str]) -> None:
    known_ids = await repository.known_users(session, user_ids, tenant_id=principal.tenant_id)
    missing = sorted(set(user_ids) - known_ids)
    if missing:
        raise ScimInvalid(
            "invalidValue",
            f"The directory has no user '{missing[0][:64]}'"
            + (f" and {len(missing) - 1} more." if missing[1:] else "."),
            remedy="Create users before adding them to groups.",
        )
