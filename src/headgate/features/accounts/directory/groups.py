"""What a directory does with groups, and what their members then may in spaces."""

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
"""Members that one request names."""


@dataclass(slots=True)
class Change:
    """What a request changes of a group."""

    name: str | None = None
    external_id: str | None = None
    sets_external_id: bool = False
    only: set[str] | None = None
    """All members from then on; None: the ones below are added and removed."""
    added: set[str] | None = None
    removed: set[str] | None = None


async def read(session: AsyncSession, principal: Principal, group_id: str) -> DirectoryGroup:
    """A group of the directory. Raises `GroupNotFound`."""
    group = await repository.find_group(session, group_id, tenant_id=principal.tenant_id) if is_id(group_id) else None
    if group is None:
        raise GroupNotFound(group_id)
    return group


async def create(session: AsyncSession, principal: Principal, document: Mapping[str, Any]) -> DirectoryGroup:
    """A new group, with its members. Raises `NotUnique`, `ScimInvalid`."""
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
    shown = {"name": name, "members": len(added)}
    await record(session, principal, "directory_group.created", id=group.id, name=name, after=shown, payload=shown)
    return group


async def change(session: AsyncSession, principal: Principal, group: DirectoryGroup, wanted: Change) -> None:
    """Change a group and its members; their roles in spaces follow at once. Raises `NotUnique`, `ScimInvalid`."""
    before = {"name": group.name, "external_id": group.external_id}
    await _rename(session, group, wanted)
    added, removed = await _change_members(session, principal, group, wanted)
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
    """Delete a group; its members lose the roles that it gave them."""
    members = await _members(session, group)
    roles = await repository.roles_of(session, [group.id], tenant_id=group.tenant_id)
    await session.delete(group)
    await session.flush()
    before = {"name": group.name, "members": len(members)}
    await record(session, principal, "directory_group.deleted", id=group.id, name=group.name, before=before)
    await settle(session, principal, space_ids={row[1] for row in roles}, user_ids=members, reason=group.name)


async def settle_space(session: AsyncSession, principal: Principal, group: DirectoryGroup, space_id: str) -> None:
    """Let the roles of a group's members in a space follow a change of what the group gives there."""
    members = await _members(session, group)
    await settle(session, principal, space_ids={space_id}, user_ids=members, reason=group.name)


def change_of(document: Mapping[str, Any]) -> Change:
    """The change that makes a group what a whole document says. Raises `ScimInvalid`."""
    return Change(
        name=name_of_group(document),
        external_id=external_id_of(document),
        sets_external_id=True,
        only=_ids(document.get("members")),
    )


def patched(operations: list[Operation]) -> Change:
    """The change of PATCH operations, the last of which win. Raises `ScimInvalid`."""
    found = Change()
    for operation in operations:
        name = operation.path.attribute
        if name == "members":
            _patch_members(found, operation)
        elif operation.path.among is not None or operation.path.sub is not None:
            continue  # of an attribute that is not stored here
        elif name == "displayname":
            found.name = name_of_group({name: None if operation.kind == "remove" else operation.value})
        elif name == "externalid":
            value = None if operation.kind == "remove" else operation.value
            found.external_id, found.sets_external_id = external_id_of({name: value}), True
    return found


def _patch_members(found: Change, operation: Operation) -> None:
    among, kind = operation.path.among, operation.kind
    if among is not None:
        ids = {_id_of(among)}
        kind = "remove" if kind == "remove" else "add"
    elif operation.path.sub not in (None, "value"):
        return
    elif kind == "remove" and operation.value in (None, []):
        found.only, found.added, found.removed = set(), None, None
        return
    else:
        ids = _ids(operation.value)
    if kind == "replace":
        found.only, found.added, found.removed = ids, None, None
    elif found.only is not None:
        found.only = found.only | ids if kind == "add" else found.only - ids
    else:
        added, removed = found.added or set(), found.removed or set()
        found.added = added | ids if kind == "add" else added - ids
        found.removed = removed - ids if kind == "add" else removed | ids


def _id_of(among: object) -> str:
    if isinstance(among, Comparison) and among.attribute == "value" and among.operator == "eq":
        return str(among.value)
    raise ScimInvalid("invalidPath", 'Members are named as members[value eq "id"].')


def _ids(members: object) -> set[str]:
    """The ids of members, each given as an object with a value or as the id itself."""
    if members in (None, ""):
        return set()
    listed = members if isinstance(members, list) else [members]
    if len(listed) > MOST_MEMBERS:
        raise ScimInvalid("tooMany", f"A request names {MOST_MEMBERS} members at most.", remedy="Send several.")
    found = set()
    for one in listed:
        value = one.get("value") if isinstance(one, dict) else one
        if not isinstance(value, str):
            raise ScimInvalid("invalidValue", "Each member is an object with the id of a user as value.")
        if isinstance(one, dict) and str(one.get("type") or "user").lower() == "group":
            raise ScimInvalid("invalidValue", "Groups within groups are not supported.", remedy="Assign their users.")
        found.add(value)
    return found


async def _rename(session: AsyncSession, group: DirectoryGroup, wanted: Change) -> None:
    try:
        async with session.begin_nested():
            if wanted.name is not None:
                group.name, group.name_key = wanted.name, wanted.name.lower()
            if wanted.sets_external_id:
                group.external_id = wanted.external_id
    except IntegrityError as error:
        raise NotUnique(wanted.name or "") from error


async def _change_members(
    session: AsyncSession, principal: Principal, group: DirectoryGroup, wanted: Change
) -> tuple[set[str], set[str]]:
    """Returns who was not in it before, and who is no more."""
    if wanted.only is None and not wanted.added and not wanted.removed:
        return set(), set()
    present = await _members(session, group)
    if wanted.only is not None:
        added, removed = wanted.only - present, present - wanted.only
    else:
        added, removed = (wanted.added or set()) - present, (wanted.removed or set()) & present
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
    known = await repository.known_users(session, user_ids, tenant_id=principal.tenant_id)
    missing = sorted(set(user_ids) - known)
    if missing:
        raise ScimInvalid(
            "invalidValue",
            f"The directory has no user '{missing[0][:64]}'"
            + (f" and {len(missing) - 1} more." if missing[1:] else "."),
            remedy="Create users before they are put into groups.",
        )
