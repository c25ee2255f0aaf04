"""Inviting users, changing their role, deactivating them."""

from collections.abc import Collection, Sequence

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import TenantRole
from headgate.features.access.principal import Principal
from headgate.features.accounts import repository as accounts
from headgate.features.accounts.schemas import AccountKind
from headgate.features.accounts.sessions.links import NewLink, create_link
from headgate.features.accounts.sessions.repository import delete_links, delete_sessions
from headgate.features.accounts.sessions.service import name_of, require_person
from headgate.features.accounts.spaces.errors import SpaceNameTaken
from headgate.features.accounts.spaces.service import create_space
from headgate.features.accounts.tables import User
from headgate.features.accounts.users import repository
from headgate.features.accounts.users.errors import (
    EmailTaken,
    LastAdmin,
    ServiceNameInvalid,
    ServiceNameTaken,
    SignsInNowhere,
    UserNotFound,
)
from headgate.features.accounts.users.schemas import ServiceAccountIn, UserIn, UserPatch
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.settings import AccountSettings


async def list_users(
    session: AsyncSession,
    principal: Principal,
    *,
    kind: AccountKind | None = None,
    search: str | None = None,
    limit: int = 50,
    after: str | None = None,
) -> Sequence[User]:
    """Return users and service accounts of the caller's tenant, or those of a kind, in order of creation."""
    return await repository.list_users(
        session, tenant_id=principal.tenant_id, kind=kind, search=search, limit=limit, after=after
    )


async def get_user(session: AsyncSession, principal: Principal, user_id: str) -> User:
    """Return a user of the caller's tenant. Raises `UserNotFound`."""
    user = await accounts.find_user(session, user_id, tenant_id=principal.tenant_id) if is_id(user_id) else None
    if user is None:
        raise UserNotFound(user_id)
    return user


async def missing_users(session: AsyncSession, user_ids: Collection[str], *, tenant_id: str) -> list[str]:
    """Return the ids among these that are no user of a tenant."""
    return [user_id for user_id in user_ids if await accounts.find_user(session, user_id, tenant_id=tenant_id) is None]


async def get_user_named(session: AsyncSession, principal: Principal, name: str) -> User:
    """Return the user with an e-mail address, or the service account with a name. Raises `UserNotFound`."""
    text, tenant_id = name.strip(), principal.tenant_id
    if "@" in text:
        user = await repository.find_by_email(session, text.lower(), tenant_id=tenant_id)
    else:
        user = await repository.find_service_account(session, text, tenant_id=tenant_id)
    if user is None:
        raise UserNotFound(name)
    return user


async def create_user(session: AsyncSession, principal: Principal, *, user_in: UserIn) -> User:
    """Create a user with a space. The user cannot sign in before a password is set.

    Raises `EmailTaken`.
    """
    user = User(
        id=new_id(),
        tenant_id=principal.tenant_id,
        name=user_in.name or user_in.email.partition("@")[0],
        email=user_in.email,
        role=user_in.role.value,
        active=True,
        created_at=now(),
    )
    try:
        await repository.add_user(session, user)
    except IntegrityError as error:
        raise EmailTaken(user_in.email) from error
    user.home_space_id = await _personal_space(session, principal, user)
    await session.flush()
    await _record_created(session, principal, user)
    return user


async def create_service_account(session: AsyncSession, principal: Principal, *, account_in: ServiceAccountIn) -> User:
    """Create an account without a sign-in or space; keys and triggers act with its roles.

    Raises `ServiceNameTaken`, `ServiceNameInvalid`.
    """
    _check_service_name(account_in.name)
    account = User(
        id=new_id(),
        tenant_id=principal.tenant_id,
        kind="service",
        name=account_in.name,
        role=account_in.role.value,
        active=True,
        created_at=now(),
    )
    try:
        await repository.add_user(session, account)
    except IntegrityError as error:
        raise ServiceNameTaken(account_in.name) from error
    await _record_created(session, principal, account)
    return account


async def invite_user(
    session: AsyncSession, principal: Principal, settings: AccountSettings, *, user_in: UserIn
) -> tuple[User, NewLink]:
    """Create a user, and the link to set the password. Raises `EmailTaken`."""
    user = await create_user(session, principal, user_in=user_in)
    return user, await create_link(session, principal, user, settings)


async def update_user(session: AsyncSession, principal: Principal, user_id: str, *, patch: UserPatch) -> User:
    """Change a user's name or role, deactivate or reactivate the user.

    Raises `UserNotFound`, `LastAdmin`, `SignsInNowhere`, `ServiceNameTaken`, `ServiceNameInvalid`.
    """
    admins = await repository.lock_admins(session, tenant_id=principal.tenant_id)
    user = await repository.lock_user(session, user_id, tenant_id=principal.tenant_id) if is_id(user_id) else None
    if user is None:
        raise UserNotFound(user_id)
    before = shown(user)
    changes = patch.model_dump(mode="json", exclude_none=True)
    if user.is_operator and changes.keys() - {"name"}:
        raise SignsInNowhere
    if user.kind == "service" and "name" in changes:
        await _check_new_service_name(session, user, changes["name"])
    for name, value in changes.items():
        setattr(user, name, value)
    if [admin.id for admin in admins] == [user.id] and not (user.active and user.role == TenantRole.ADMIN.value):
        raise LastAdmin(name_of(user))
    if shown(user) == before:
        return user
    if not user.active:
        await delete_sessions(session, tenant_id=user.tenant_id, user_id=user.id)
        await delete_links(session, tenant_id=user.tenant_id, user_id=user.id)
    await session.flush()
    action: Action = "user.changed"
    if before["active"] != user.active:
        action = "user.activated" if user.active else "user.deactivated"
    await record(
        session,
        principal,
        action,
        id=user.id,
        name=name_of(user),
        before=before,
        after=shown(user),
        payload=changes,
    )
    return user


async def create_password_link(
    session: AsyncSession, principal: Principal, settings: AccountSettings, user_id: str
) -> NewLink:
    """Create a link that sets a new password; older and concurrent ones become invalid.

    Raises `UserNotFound`, `SignsInNowhere`, `ServiceAccountRefused`.
    """
    user = await repository.lock_user(session, user_id, tenant_id=principal.tenant_id) if is_id(user_id) else None
    if user is None:
        raise UserNotFound(user_id)
    if user.is_operator:
        raise SignsInNowhere
    return await create_link(session, principal, user, settings)


async def set_password(session: AsyncSession, principal: Principal, user: User, *, password_hash: str) -> None:
    """Store the hash of a password from a command. All sessions and links of the user end.

    Raises `ServiceAccountRefused`.
    """
    require_person(user)
    user.password_hash = password_hash
    await delete_links(session, tenant_id=user.tenant_id, user_id=user.id)
    await delete_sessions(session, tenant_id=user.tenant_id, user_id=user.id)
    await session.flush()
    await record(session, principal, "user.password_changed", id=user.id, name=name_of(user))


def shown(user: User) -> dict[str, str | bool | None]:
    """Return a user's values for the audit log."""
    kind = {} if user.kind == "user" else {"kind": user.kind}
    return {"email": user.email, "name": user.name, "role": user.role, "active": user.active, **kind}


def _check_service_name(name: str) -> None:
    if "@" in name:
        raise ServiceNameInvalid


async def _check_new_service_name(session: AsyncSession, account: User, name: str) -> None:
    _check_service_name(name)
    namesake = await repository.find_service_account(session, name, tenant_id=account.tenant_id)
    if namesake is not None and namesake.id != account.id:
        raise ServiceNameTaken(name)


async def _record_created(session: AsyncSession, principal: Principal, user: User) -> None:
    values = shown(user)
    await record(session, principal, "user.created", id=user.id, name=name_of(user), after=values, payload=values)


async def _personal_space(session: AsyncSession, principal: Principal, user: User) -> str:
    email = user.email or ""
    for name in (user.name, f"{user.name[:150]} ({email})"[:200]):
        try:
            return (await create_space(session, principal, name=name, owner_user_id=user.id)).space.id
        except SpaceNameTaken:
            continue
    return (await create_space(session, principal, name=f"{email[:150]} {user.id}", owner_user_id=user.id)).space.id
