"""Roles in spaces through groups, stored separately from those assigned in Headgate."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Role, highest
from headgate.features.access.principal import Principal
from headgate.features.accounts.directory import repository
from headgate.features.accounts.spaces import repository as spaces
from headgate.features.accounts.tables import Space, SpaceMember
from headgate.features.audit.recorder import record
from headgate.foundation.database import now

MOST_NAMED = 200
"""Maximum user ids listed in one audit entry; it counts all of them."""


@dataclass(slots=True)
class _Changes:
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    def payload(self, reason: str) -> dict[str, object]:
        values: dict[str, object] = {"by": reason}
        for name in ("added", "changed", "removed"):
            ids: list[str] = getattr(self, name)
            values[name] = {"count": len(ids), "user_ids": ids[:MOST_NAMED]}
        return values


async def settle(
    session: AsyncSession,
    principal: Principal,
    *,
    space_ids: Collection[str],
    user_ids: Collection[str],
    reason: str,
) -> None:
    """Update the roles of users in spaces to those of their groups.

    Call it with the directory locked, after the change of a group. A role assigned in Headgate stays; when there are
    both, the higher one applies.
    """
    if not user_ids:
        return
    for space in await repository.hold_spaces(session, space_ids, tenant_id=principal.tenant_id):
        changes = _Changes()
        for some in repository.in_parts(user_ids):
            await _settle_some(session, space, some, changes)
        if changes.added or changes.changed or changes.removed:
            await record(
                session,
                principal,
                "space.members_synchronized",
                id=space.id,
                name=space.name,
                space_id=space.id,
                payload=changes.payload(reason),
            )


async def _settle_some(session: AsyncSession, space: Space, user_ids: list[str], changes: _Changes) -> None:
    tenant_id = space.tenant_id
    roles: dict[str, Role] = {}
    for user_id, role in await repository.roles_by_groups(session, space.id, user_ids, tenant_id=tenant_id):
        roles[user_id] = highest(role, roles.get(user_id))
    members = {
        member.user_id: member
        for member in await repository.members_in(session, space.id, user_ids, tenant_id=tenant_id)
    }
    added = [_member(space, user_id, role) for user_id, role in roles.items() if user_id not in members]
    removed = []
    for member in members.values():
        before = member.role
        if _is_settled(member, roles):
            continue
        if member.by_hand is None and member.user_id not in roles:
            removed.append(member)
            continue
        _set_role(member, roles.get(member.user_id))
        if member.role != before:
            changes.changed.append(member.user_id)
    await session.flush()
    await spaces.add_members(session, added)
    await spaces.remove_members(session, space.id, [member.user_id for member in removed], tenant_id=tenant_id)
    for member in removed:
        session.expunge(member)
    changes.added += [member.user_id for member in added]
    changes.removed += [member.user_id for member in removed]


def _is_settled(member: SpaceMember, roles: Mapping[str, Role]) -> bool:
    role = roles.get(member.user_id)
    return member.directory_role == (None if role is None else role.value)


def _set_role(member: SpaceMember, role: Role | None) -> None:
    by_hand = member.by_hand
    member.directory_role = None if role is None else role.value
    member.assign(None if by_hand is None else Role(by_hand))


def _member(space: Space, user_id: str, role: Role) -> SpaceMember:
    return SpaceMember(
        space_id=space.id,
        user_id=user_id,
        tenant_id=space.tenant_id,
        role=role.value,
        directory_role=role.value,
        created_at=now(),
    )
