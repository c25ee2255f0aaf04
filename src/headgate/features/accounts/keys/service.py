"""Making, listing and revoking API keys.

A key acts for its person: what it may do is what the person may do at the moment it is used, cut down to its scopes and
spaces. So a key never needs to be looked at again when a person's role changes.
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
from headgate.features.accounts.keys.errors import ExpiryPast, KeyNotFound, KeyTooWide, NoMember, TooManyKeys
from headgate.features.accounts.keys.networks import covers
from headgate.features.accounts.keys.schemas import KeyIn, KeyOut, KeyOwner
from headgate.features.accounts.keys.scopes import expand, known
from headgate.features.accounts.spaces.errors import SpaceNotFound
from headgate.features.accounts.tables import ApiKey, User
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import new_id

MOST_KEYS = 100
"""Working keys of one person: each has a rate limit of its own."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key at the one moment when its secret is known."""

    shown: KeyOut
    secret: str


async def create_key(
    session: AsyncSession, principal: Principal, *, wanted: KeyIn, owner_user_id: str | None = None
) -> NewKey:
    """A new key of the caller's, or of somebody else where a command names them.

    Raises `ScopeUnknown`, `SpaceNotFound`, `NoMember`, `ExpiryPast`, `TooManyKeys`; `KeyTooWide` when the caller came
    with a key that may less or scopes are those of admins, and `AccountNotFound` when they are nobody of the tenant.
    """
    at = now()
    if wanted.expires_at is not None and wanted.expires_at <= at:
        raise ExpiryPast
    scopes = None if wanted.scopes is None else expand(wanted.scopes)
    owner = await accounts.find_user(session, owner_user_id or principal.user_id, tenant_id=principal.tenant_id)
    if owner is None:
        raise AccountNotFound("Nobody is there whose key it would be.", remedy="Name the person whose key it is.")
    await _check_spaces(session, principal, wanted.space_ids or (), owner)
    await _refuse_wider(session, principal, scopes, wanted)
    _refuse_scopes_of_admins(owner, scopes)
    if await repository.count_live(session, owner.id, at, tenant_id=principal.tenant_id) >= MOST_KEYS:
        raise TooManyKeys(MOST_KEYS)
    text = secret.new_key()
    row = ApiKey(
        id=new_id(),
        tenant_id=principal.tenant_id,
        user_id=owner.id,
        name=wanted.name,
        prefix=secret.prefix_of(text),
        secret_hash=secret.hash_of(text),
        scopes=None if scopes is None else sorted(scopes),
        space_ids=None if wanted.space_ids is None else sorted(set(wanted.space_ids)),
        networks=None if wanted.networks is None else sorted(set(wanted.networks)),
        created_at=at,
        expires_at=wanted.expires_at,
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
    await record(session, principal, "api_key.created", id=row.id, name=row.name, after=_told(row), payload=payload)
    return NewKey(_shown(row, KeyOwner.model_validate(owner)), text)


async def list_keys(
    session: AsyncSession,
    principal: Principal,
    *,
    everyone: bool = False,
    limit: int = 50,
    after: str | None = None,
) -> Sequence[KeyOut]:
    """The caller's keys, oldest first, the revoked ones too; everybody's for those who may manage keys."""
    if everyone:
        principal.require(Permission.KEYS_MANAGE)
    user_id = None if everyone else principal.user_id
    rows = await repository.list_keys(session, tenant_id=principal.tenant_id, user_id=user_id, limit=limit, after=after)
    return [_shown(key, KeyOwner.model_validate(owner)) for key, owner in rows]


async def revoke_key(session: AsyncSession, principal: Principal, key: str) -> KeyOut:
    """End a key for good with every key that was made with it; one that was revoked stays as it is.

    Whoever stole a key may have made more of it. Raises `KeyNotFound`.

    Args:
        session: The transaction.
        principal: Whose key it is, or somebody who may manage keys.
        key: Its id or its prefix.
    """
    find = repository.find_by_prefix if key.startswith(secret.MARK) else repository.find_key
    found = await find(session, key, tenant_id=principal.tenant_id)
    if found is None:
        raise KeyNotFound(key)
    row, owner = found
    if row.user_id != principal.user_id and not principal.may(Permission.KEYS_MANAGE):
        raise KeyNotFound(key)
    ending = [] if row.revoked_at is not None else [row]
    for one in ending:  # it grows while there are keys that those in it made
        ending += await repository.list_made_by(session, one.id, tenant_id=principal.tenant_id)
    for one in ending:
        await _end(session, principal, one)
    return _shown(row, KeyOwner.model_validate(owner))


async def _end(session: AsyncSession, principal: Principal, row: ApiKey) -> None:
    before = _told(row)
    row.revoked_at = now()
    await session.flush()
    payload = {"prefix": row.prefix}
    after = _told(row)
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
    theirs = await repository.spaces_of_member(session, owner.id, space_ids, tenant_id=principal.tenant_id)
    for space_id in space_ids:
        if space_id not in theirs:
            raise NoMember(owner.email or owner.name, names[space_id])


async def _refuse_wider(
    session: AsyncSession, principal: Principal, scopes: frozenset[Permission] | None, wanted: KeyIn
) -> None:
    """A key that makes a key: what it does not have itself it cannot hand on."""
    if principal.actor.key_id is None:
        return
    found = await repository.find_key(session, principal.actor.key_id, tenant_id=principal.tenant_id)
    if found is None or found[0].revoked_at is not None:
        raise KeyTooWide("The key that asks for a new one is gone.", remedy="Use one that works.")
    mine = found[0]
    if mine.scopes is not None and (scopes is None or not scopes <= known(mine.scopes)):
        raise KeyTooWide(
            "The new key would have scopes that yours has not.",
            remedy=f"Give scopes, all from among: {', '.join(mine.scopes)}.",
            scopes=list(mine.scopes),
        )
    if mine.space_ids is not None and (wanted.space_ids is None or not set(wanted.space_ids) <= set(mine.space_ids)):
        raise KeyTooWide(
            "The new key would be for spaces that yours is not for.",
            remedy=f"Give spaces, all from among: {', '.join(mine.space_ids)}.",
            space_ids=list(mine.space_ids),
        )
    if mine.networks is not None and (wanted.networks is None or not covers(mine.networks, wanted.networks)):
        raise KeyTooWide(
            "The new key would work from networks that yours does not.",
            remedy=f"Give networks, all within: {', '.join(mine.networks)}.",
            networks=list(mine.networks),
        )
    if mine.expires_at is not None and _outlives(wanted.expires_at, mine.expires_at):
        raise KeyTooWide(
            "The new key would work longer than yours.", remedy=f"Let it expire by {mine.expires_at.isoformat()}."
        )


def _refuse_scopes_of_admins(owner: User, scopes: frozenset[Permission] | None) -> None:
    """A key names no permission that only admins have, unless its person is one.

    It would allow nothing today, and everything on the day they become an admin.
    """
    if owner.role == TenantRole.ADMIN or scopes is None:
        return
    beyond: list[JsonValue] = [*sorted(scopes & (of_tenant_role(TenantRole.ADMIN) - MEMBER))]
    if beyond:
        raise KeyTooWide(
            f"The new key would have scopes that only an admin has: {', '.join(map(str, beyond))}.",
            remedy="Leave them out, or use the name of a role in a space, such as 'runner'.",
            scopes=beyond,
        )


def _outlives(wanted: datetime | None, mine: datetime) -> bool:
    return wanted is None or wanted > mine


def _told(row: ApiKey) -> dict[str, object]:
    """What the audit log takes a digest of."""
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
    return KeyOut(
        id=row.id,
        name=row.name,
        prefix=row.prefix,
        user=owner,
        scopes=row.scopes,
        space_ids=row.space_ids,
        networks=row.networks,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
        last_used_at=row.last_used_at,
        last_used_address=row.last_used_address,
    )
