"""Users of a directory: creating, linking, changing, deactivating and deleting."""

from dataclasses import asdict

from pydantic import ValidationError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import TenantRole
from headgate.features.access.principal import Principal
from headgate.features.accounts.directory import repository
from headgate.features.accounts.directory.errors import AdminAddressKept, NotUnique, ScimInvalid
from headgate.features.accounts.directory.repository import UserRow
from headgate.features.accounts.directory.scim.user_document import UserData
from headgate.features.accounts.directory.tables import DirectoryUser
from headgate.features.accounts.sessions.repository import delete_links
from headgate.features.accounts.sessions.service import name_of
from headgate.features.accounts.tables import User
from headgate.features.accounts.users import service as users
from headgate.features.accounts.users.deletion import delete_user
from headgate.features.accounts.users.errors import EmailTaken, UserNotFound
from headgate.features.accounts.users.repository import find_by_email, lock_user
from headgate.features.accounts.users.schemas import UserIn, UserPatch
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import is_id


async def read(session: AsyncSession, principal: Principal, user_id: str) -> UserRow:
    """Return a user of the directory. Raises `UserNotFound`, also for users outside the directory."""
    row = await repository.find_user(session, user_id, tenant_id=principal.tenant_id) if is_id(user_id) else None
    if row is None:
        raise UserNotFound(user_id)
    return row


async def create(session: AsyncSession, principal: Principal, data: UserData) -> UserRow:
    """Create a user, or link the organisation's user with that e-mail address to the directory.

    Raises `NotUnique` when the directory already has one with that name or address; `LastAdmin`.
    """
    key = data.user_name.lower()
    if await repository.find_user_named(session, key, tenant_id=principal.tenant_id) is not None:
        raise NotUnique(data.user_name)
    user = await find_by_email(session, data.email, tenant_id=principal.tenant_id)
    linked = user is not None
    if user is None:
        user = await _create(session, principal, data)
    at = now()
    entry = DirectoryUser(
        user_id=user.id,
        tenant_id=principal.tenant_id,
        user_name=data.user_name,
        user_name_key=key,
        created_at=at,
        updated_at=at,
    )
    _set_entry(entry, data)
    try:
        async with session.begin_nested():
            session.add(entry)
    except IntegrityError as error:
        raise NotUnique(data.email) from error
    if linked:
        after = {"user_name": data.user_name, "external_id": data.external_id}
        await record(
            session, principal, "user.directory_linked", id=user.id, name=name_of(user), after=after, payload=after
        )
    await _apply(session, principal, user, data)
    return await read(session, principal, user.id)


async def replace(session: AsyncSession, principal: Principal, row: UserRow, data: UserData) -> UserRow:
    """Replace a user's data by the directory's.

    Raises `NotUnique`, `AdminAddressKept`, `LastAdmin`.
    """
    entry, user = row[0], row[1]
    changed = _set_entry(entry, data)
    try:
        async with session.begin_nested():
            await session.flush()
    except IntegrityError as error:
        raise NotUnique(data.user_name) from error
    if await _apply(session, principal, user, data) or changed:
        entry.updated_at = now()
        await session.flush()
    return await read(session, principal, user.id)


async def remove(session: AsyncSession, principal: Principal, user_id: str) -> None:
    """Delete a user like an admin does: personal data is deleted, history keeps the id. Raises `LastAdmin`."""
    await delete_user(session, principal, user_id)


async def _create(session: AsyncSession, principal: Principal, data: UserData) -> User:
    try:
        return await users.create_user(session, principal, user_in=UserIn(email=data.email, name=data.name))
    except EmailTaken as error:  # by a concurrent invitation
        raise NotUnique(data.email) from error
    except ValidationError as error:
        raise ScimInvalid("invalidValue", str(error.errors()[0]["msg"])) from None


def _set_entry(entry: DirectoryUser, data: UserData) -> bool:
    """Store the data that only the directory has. Returns whether anything changed."""
    names = ("user_name", "external_id", "formatted", "given_name", "family_name")
    values = {name: value for name, value in asdict(data).items() if name in names}
    values["user_name_key"] = data.user_name.lower()
    changed = {name: value for name, value in values.items() if getattr(entry, name) != value}
    for name, value in changed.items():
        setattr(entry, name, value)
    return bool(changed)


async def _apply(session: AsyncSession, principal: Principal, user: User, data: UserData) -> bool:
    """Change address, name and active state. Returns whether anything changed."""
    changed = user.email != data.email
    if changed:
        await _change_address(session, principal, user.id, data.email)
    patch = UserPatch(
        name=data.name if data.name != user.name else None,
        active=data.active if data.active is not None and data.active != user.active else None,
    )
    if patch.model_dump(exclude_none=True):
        await users.update_user(session, principal, user.id, patch=patch)
        changed = True
    return changed


async def _change_address(session: AsyncSession, principal: Principal, user_id: str, email: str) -> None:
    user = await lock_user(session, user_id, tenant_id=principal.tenant_id)
    if user is None:
        raise UserNotFound(user_id)
    if user.role == TenantRole.ADMIN.value:
        raise AdminAddressKept(name_of(user))
    before = users.shown(user)
    try:
        async with session.begin_nested():
            user.email = email
    except IntegrityError as error:
        raise NotUnique(email) from error
    await delete_links(session, tenant_id=user.tenant_id, user_id=user.id)
    after = users.shown(user)
    await record(
        session,
        principal,
        "user.changed",
        id=user.id,
        name=name_of(user),
        before=before,
        after=after,
        payload={"email": email},
    )
