"""The principal of a session: the user who last acted on it, with current rights, limited to the original credentials.

A session outlives the request that began it. What its person may do is asked again whenever a process takes it up; an
API key's scopes stay with it, and a key that was revoked ends it.
"""

from dataclasses import replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.tables import SessionRow
from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import LOCAL, Access, Actor, Principal, bringing
from headgate.features.accounts import repository
from headgate.features.accounts.keys.scopes import known
from headgate.features.accounts.standing import access_of
from headgate.features.accounts.tables import ApiKey
from headgate.foundation.database import Database, now
from headgate.foundation.errors import Unauthenticated

_REMEDY = "A user who can edit flows of the space can continue the session."


class ActingNoMore(Unauthenticated):
    """The session's user may no longer sign in."""

    code = "codev_person_gone"
    title = "Person gone"


def acting(principal: Principal) -> dict[str, Any]:
    """Return what identifies a user for later, without secrets."""
    access = principal.access
    return {
        "user_id": principal.user_id,
        "kind": principal.actor.kind,
        "name": principal.actor.name,
        "key_id": principal.actor.key_id,
        "admin": access.admin,
        "scopes": None if access.scopes is None else sorted(access.scopes),
        "spaces": None if access.spaces is None else sorted(access.spaces),
    }


async def act_again(database: Database, row: SessionRow, *, auto_login: bool) -> Principal:
    """Return the session's user with current rights. Raises `ActingNoMore`, `PermissionMissing`."""
    recorded: dict[str, Any] = row.options.get("acting") or {}
    async with database.reading() as session:
        access, actor = await _who(session, row, recorded, auto_login=auto_login)
    principal = Principal(
        tenant_id=row.tenant_id,
        user_id=recorded.get("user_id") or row.user_id,
        space_id=row.space_id,
        access=_narrowed(access, recorded),
        actor=actor,
    )
    if not (principal.sees(row.space_id) and principal.may(Permission.FLOWS_EDIT, row.space_id)):
        raise PermissionMissing(Permission.FLOWS_EDIT, by_key=actor.kind == "key")
    return bringing(principal, Permission.FLOWS_VIEW, Permission.CATALOG_VIEW)


async def _who(
    session: AsyncSession, row: SessionRow, recorded: dict[str, Any], *, auto_login: bool
) -> tuple[Access, Actor]:
    user_id, kind, name = (
        recorded.get("user_id") or row.user_id,
        recorded.get("kind", "user"),
        str(recorded.get("name", "")),
    )
    if kind in {"command", "system"}:  # users of the machine's command line, in any tenant
        return Access(admin=bool(recorded.get("admin"))), Actor(kind, name)
    if kind == "user" and auto_login and user_id == LOCAL.user_id:
        return LOCAL.access, LOCAL.actor
    user = await repository.find_user(session, user_id, tenant_id=row.tenant_id)
    if user is None or not user.active:
        raise ActingNoMore(f"{name or 'The user'}, on whose behalf this session runs, is deactivated.", remedy=_REMEDY)
    access = await access_of(session, user)
    if kind != "key":
        return access, Actor("user", user.email or user.name)
    key = await session.get(ApiKey, recorded.get("key_id") or "")
    if key is None or key.user_id != user.id or key.revoked_at is not None or _is_over(key):
        raise ActingNoMore("The API key of this session was revoked or has expired.", remedy=_REMEDY)
    cut = replace(
        access,
        scopes=None if key.scopes is None else known(key.scopes),
        spaces=None if key.space_ids is None else frozenset(key.space_ids),
    )
    return cut, Actor("key", user.email or user.name, key_id=key.id, key_prefix=key.prefix)


def _is_over(key: ApiKey) -> bool:
    return key.expires_at is not None and key.expires_at <= now()


def _narrowed(access: Access, recorded: dict[str, Any]) -> Access:
    """Never more than they came with."""
    return replace(
        access,
        scopes=_both(access.scopes, None if recorded.get("scopes") is None else known(recorded["scopes"])),
        spaces=_both(access.spaces, None if recorded.get("spaces") is None else frozenset(recorded["spaces"])),
    )


def _both(first: "frozenset[Any] | None", other: "frozenset[Any] | None") -> "frozenset[Any] | None":
    if first is None or other is None:
        return other if first is None else first
    return first & other
