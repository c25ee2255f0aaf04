"""Creating, listing and revoking API keys.

A key acts for its user: its permissions are those of the user at the time of use, restricted to its scopes and spaces.
So keys need no update when a user's role changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import MEMBER, Permission, TenantRole, of_tenant_role
from headgate.features.access.principal import Principal
from headgate.features.accounts import repository as accounts
from headgate.features.accounts.errors import AccountNotFound
from headgate.features.accounts.keys import repository, secret
from headgate.features.accounts.keys.errors import (
    ExpiryPast,
    KeyNotFound,
    KeyTooWide,
    NoMember,
    NotServiceAccount,
    TooManyKeys,
)
from headgate.features.accounts.keys.networks import covers
from headgate.features.accounts.keys.schemas import KeyIn, KeyOut, KeyOwner
from headgate.features.accounts.keys.scopes import expand, known
from headgate.features.accounts.spaces.errors import SpaceNotFound
from headgate.features.accounts.tables import ApiKey, User
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import new_id
from headgate.foundation.shaped import shaped

MOST_KEYS = 100
"""Maximum active keys of one user: each has a separate rate limit."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key with its secret, available only at creation."""

    shown: KeyOut
    secret: str


async def create_key(
    session: AsyncSession, principal: Principal, *, key_in: KeyIn, owner_user_id: str | None = None
) -> NewKey:
    """Create a key of the caller, or of another user when a command names one.

    Raises `ScopeUnknown`, `SpaceNotFound`, `NoMember`, `ExpiryPast`, `TooManyKeys`; `KeyTooWide` when the caller's key
    has fewer permissions or scopes are those of admins, and `AccountNotFound` when the user is not in the tenant.
    """
    at = now()
    if key_in.expires_at is not None and key_in.expires_at <= at:
        raise ExpiryPast
    scopes = None if key_in.scopes is None else expand(key_in.scopes)
    owner = await accounts.find_user(session, owner_user_id or principal.user_id, tenant_id=principal.tenant_id)
    if owner is None:
        raise AccountNotFound("The request has no user to own the key.", remedy="Name the user who will own the key.")
    await _check_spaces(session, principal, key_in.space_ids or (), owner)
    await _refuse_wider(session, principal, scopes, key_in)
    _refuse_scopes_of_admins(owner, scopes)
    if await repository.count_live(session, owner.id, at, tenant_id=principal.tenant_id) >= MOST_KEYS:
        raise TooManyKeys(MOST_KEYS)
    text = secret.new_key()
    row = ApiKey(
        id=new_id(),
        tenant_id=principal.tenant_id,
        user_id=owner.id,
        name=key_in.name,
        prefix=secret.prefix_of(text),
        secret_hash=secret.hash_of(text),
        scopes=None if scopes is None else sorted(scopes),
        space_ids=None if key_in.space_ids is None else sorted(set(key_in.space_ids)),
        networks=None if key_in.networks is None else sorted(set(key_in.networks)),
        created_at=at,
        expires_at=key_in.expires_at,
        made_by_key_id=principal.actor.key_id,
    )
    session.add(row)
    await session.flush()
    payload = {
        "of": owner.email or owner.name,
        "prefix": row.prefix,
        "scopes": row.scopes,
        "spaces": row.space_ids,
        "networks": row.networks,
        "expires_at": None if row.expires_at is None else row.expires_at.isoformat(),
    }
    await record(session, principal, "api_key.created", id=row.id, name=row.name, after=_values(row), payload=payload)
    return NewKey(_shown(row, KeyOwner.model_validate(owner)), text)


async def create_key_of_service(session: AsyncSession, principal: Principal, account: User, key_in: KeyIn) -> NewKey:
    """Create a key of a service account, for those who manage keys. Raises `NotServiceAccount` and as `create_key`."""
    principal.require(Permission.KEYS_MANAGE)
    if account.kind != "service":
        raise NotServiceAccount(account.email or account.name)
    return await create_key(session, principal, key_in=key_in, owner_user_id=account.id)


async def list_keys(
    session: AsyncSession,
    principal: Principal,
    *,
    everyone: bool = False,
    user_id: str | None = None,
    limit: int = 50,
    after: str | None = None,
) -> Sequence[KeyOut]:
    """Return the caller's keys, oldest first, including revoked ones.

    Callers who may manage keys can list those of any user, or of everyone.
    """
    if everyone or user_id not in {None, principal.user_id}:
        principal.require(Permission.KEYS_MANAGE)
    user_id = user_id or (None if everyone else principal.user_id)
    rows = await repository.list_keys(session, tenant_id=principal.tenant_id, user_id=user_id, limit=limit, after=after)
    return [_shown(key, KeyOwner.model_validate(owner)) for key, owner in rows]


async def revoke_key(session: AsyncSession, principal: Principal, key: str) -> KeyOut:
    """Revoke a key and every key created with it; revoked keys stay as they are.

    A stolen key may have been used to create more. Raises `KeyNotFound`.

    Args:
        session: The transaction.
        principal: The user of the key, or a user who may manage keys.
        key: Its id or its prefix.
    """
    find = repository.find_by_prefix if key.startswith(secret.MARK) else repository.find_key
    match = await find(session, key, tenant_id=principal.tenant_id)
    if match is None:
        raise KeyNotFound(key)
    row, owner = match
    if row.user_id != principal.user_id and not principal.may(Permission.KEYS_MANAGE):
        raise KeyNotFound(key)
    ending = [] if row.revoked_at is not None else [row]
    for child in ending:  # grows while keys in it have created others
        ending += await repository.list_made_by(session, child.id, tenant_id=principal.tenant_id)
    for child in ending:
        await _end(session, principal, child)
    return _shown(row, KeyOwner.model_validate(owner))


async def _end(session: AsyncSession, principal: Principal, row: ApiKey) -> None:
    before = _values(row)
    row.revoked_at = now()
    await session.flush()
    payload = {"prefix": row.prefix}
    after = _values(row)
    await record(
        session, principal, "api_key.revoked", id=row.id, name=row.name, before=before, after=after, payload=payload
    )


async def _check_spaces(session: AsyncSession, principal: Principal, space_ids: Sequence[str], owner: User) -> None:
    if not space_ids:
        return
    names = await repository.names_of_spaces(session, space_ids, tenant_id=principal.tenant_id)
    for space_id in space_ids:
        if space_id not in names or not principal.sees(space_id):
            raise SpaceNotFound(space_id)
    if owner.role == TenantRole.ADMIN:
        return
    member_spaces = await repository.spaces_of_member(session, owner.id, space_ids, tenant_id=principal.tenant_id)
    for space_id in space_ids:
        if space_id not in member_spaces:
            raise NoMember(owner.email or owner.name, names[space_id])


async def _refuse_wider(
    session: AsyncSession, principal: Principal, scopes: frozenset[Permission] | None, key_in: KeyIn
) -> None:
    """Reject a key created by a key that lacks the permissions itself."""
    if principal.actor.key_id is None:
        return
    match = await repository.find_key(session, principal.actor.key_id, tenant_id=principal.tenant_id)
    if match is None or match[0].revoked_at is not None:
        raise KeyTooWide("The API key used for this request no longer exists.", remedy="Use a valid key.")
    own_key = match[0]
    if own_key.scopes is not None and (scopes is None or not scopes <= known(own_key.scopes)):
        raise KeyTooWide(
            "The new key would have scopes that your key lacks.",
            remedy=f"Give scopes from this list: {', '.join(own_key.scopes)}.",
            scopes=list(own_key.scopes),
        )
    if own_key.space_ids is not None and (
        key_in.space_ids is None or not set(key_in.space_ids) <= set(own_key.space_ids)
    ):
        raise KeyTooWide(
            "The new key would have access to spaces that your key lacks.",
            remedy=f"Give spaces from this list: {', '.join(own_key.space_ids)}.",
            space_ids=list(own_key.space_ids),
        )
    if own_key.networks is not None and (key_in.networks is None or not covers(own_key.networks, key_in.networks)):
        raise KeyTooWide(
            "The new key would be usable from networks that your key is not.",
            remedy=f"Give networks within: {', '.join(own_key.networks)}.",
            networks=list(own_key.networks),
        )
    if own_key.expires_at is not None and _outlives(key_in.expires_at, own_key.expires_at):
        raise KeyTooWide(
            "The new key would expire later than yours.",
            remedy=(f"Set its expiry to {own_key.expires_at.isoformat()} or earlier."),
        )


def _refuse_scopes_of_admins(owner: User, scopes: frozenset[Permission] | None) -> None:
    """Reject permissions that only admins have, unless the user is an admin.

    They would allow nothing today, and everything once the user becomes an admin.
    """
    if owner.role == TenantRole.ADMIN or scopes is None:
        return
    beyond: list[JsonValue] = [*sorted(scopes & (of_tenant_role(TenantRole.ADMIN) - MEMBER))]
    if beyond:
        raise KeyTooWide(
            f"The new key would have scopes reserved for admins: {', '.join(map(str, beyond))}.",
            remedy="Omit them, or use the name of a space role, such as 'runner'.",
            scopes=beyond,
        )


def _outlives(expiry: datetime | None, own_expiry: datetime) -> bool:
    return expiry is None or expiry > own_expiry


def _values(row: ApiKey) -> dict[str, object]:
    """Return a key's values for the audit log."""
    return {
        "name": row.name,
        "prefix": row.prefix,
        "user_id": row.user_id,
        "scopes": row.scopes,
        "space_ids": row.space_ids,
        "networks": row.networks,
        "made_by_key_id": row.made_by_key_id,
        "expires_at": None if row.expires_at is None else row.expires_at.isoformat(),
        "revoked_at": None if row.revoked_at is None else row.revoked_at.isoformat(),
    }


def _shown(row: ApiKey, owner: KeyOwner) -> KeyOut:
    return shaped(KeyOut, row, user=owner)
