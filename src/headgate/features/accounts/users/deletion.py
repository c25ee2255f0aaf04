"""Deletes users: their flows and runs remain, their personal data is deleted."""

import re

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Role, TenantRole
from headgate.features.access.principal import Principal
from headgate.features.accounts import repository as accounts
from headgate.features.accounts.directory import repository as directory
from headgate.features.accounts.keys.repository import delete_keys
from headgate.features.accounts.passkeys.repository import delete_passkeys
from headgate.features.accounts.second_factor.repository import delete_authenticator, delete_recovery_codes
from headgate.features.accounts.sessions.repository import delete_links, delete_sessions
from headgate.features.accounts.sessions.service import name_of
from headgate.features.accounts.spaces import repository as spaces
from headgate.features.accounts.tables import SpaceMember, User
from headgate.features.accounts.users import repository
from headgate.features.accounts.users.errors import LastAdmin, SignsInNowhere, UserNotFound
from headgate.features.audit.recorder import record
from headgate.features.conversations.repository import delete_conversations
from headgate.foundation.database import now
from headgate.foundation.ids import is_id

DELETED = "Deleted user"
"""Name of every deleted user."""


async def delete_user(session: AsyncSession, principal: Principal, user_id: str) -> None:
    """Delete a user: name, address, credentials, sessions, keys, memberships, conversations. History keeps the id.

    Flows and runs stay in their spaces; the flows that the user owned have no owner until somebody who manages the
    space names one. The caller becomes owner of a space that would have none. A space that the user
    created and that contains their name or address is renamed. The address can be invited again, as a new user.

    Raises `UserNotFound`, `LastAdmin`, `SignsInNowhere`.
    """
    await directory.hold_directory(
        session, tenant_id=principal.tenant_id
    )  # before users, in the same order as its own changes
    admins = await repository.lock_admins(session, tenant_id=principal.tenant_id)
    user = await repository.lock_user(session, user_id, tenant_id=principal.tenant_id) if is_id(user_id) else None
    if user is None:
        raise UserNotFound(user_id)
    if user.is_operator:
        raise SignsInNowhere
    if [admin.id for admin in admins] == [user.id]:
        raise LastAdmin(name_of(user))
    await delete_sessions(session, tenant_id=user.tenant_id, user_id=user.id)
    await delete_links(session, tenant_id=user.tenant_id, user_id=user.id)
    await delete_authenticator(session, user.id, tenant_id=user.tenant_id)
    await delete_recovery_codes(session, user.id, tenant_id=user.tenant_id)
    await delete_passkeys(session, user.id, tenant_id=user.tenant_id)
    await delete_keys(session, tenant_id=user.tenant_id, user_id=user.id)
    await delete_conversations(session, tenant_id=user.tenant_id, user_id=user.id)
    await directory.forget_user(session, user.id, tenant_id=user.tenant_id)
    await spaces.disown_flows(session, user.id, tenant_id=user.tenant_id)
    await _leave_spaces(session, principal, user)
    _forget(user)
    await session.flush()
    await record(session, principal, "user.deleted", id=user.id, name=user.id)


def _forget(user: User) -> None:
    user.name, user.email, user.role, user.active = DELETED, None, TenantRole.MEMBER.value, False
    user.password_hash = user.sso_issuer = user.sso_subject = user.home_space_id = None
    user.last_sign_in_at, user.deleted_at = None, now()


async def _leave_spaces(session: AsyncSession, principal: Principal, user: User) -> None:
    """End the memberships, keep an owner in each space, and remove the name from spaces that the user created."""
    successor = await accounts.find_user(session, principal.user_id, tenant_id=user.tenant_id)
    for member in await spaces.memberships_of(session, user.id, tenant_id=user.tenant_id):
        space_id = member.space_id
        is_owner = member.role == Role.OWNER.value
        if is_owner and successor is not None and successor.id != user.id:
            owner_count = await spaces.other_owners(session, space_id, user.id, tenant_id=user.tenant_id)
            if not owner_count:
                await _make_owner(session, space_id, successor)
        await spaces.remove_member(session, member)
    for space in await spaces.spaces_made_by(session, user.id, tenant_id=user.tenant_id):
        if _names_user(space.name, user):
            space.name = f"{DELETED} {space.id}"
        space.owner_user_id = None


def _names_user(space_name: str, user: User) -> bool:
    """Return whether the name of a space contains the name or address of a user, as whole words."""
    return any(
        re.search(rf"(?<!\w){re.escape(text)}(?!\w)", space_name, re.IGNORECASE)
        for text in (user.name, user.email)
        if text
    )


async def _make_owner(session: AsyncSession, space_id: str, successor: User) -> None:
    member = await spaces.find_member(session, space_id, successor.id, tenant_id=successor.tenant_id)
    if member is not None:
        member.assign(Role.OWNER)
        return
    owner = SpaceMember(space_id=space_id, user_id=successor.id, tenant_id=successor.tenant_id, role=Role.OWNER.value)
    await spaces.add_member(session, owner)
