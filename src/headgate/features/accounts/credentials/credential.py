"""The credential query of every request, and its result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import orjson

from headgate.features.access.permissions import Role, TenantRole


class Kind(StrEnum):
    """Kind of a credential."""

    KEY = "key"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Credential:
    """A key or session and its user, as currently stored. Times are microseconds since 1970."""

    kind: Kind
    id: str
    tenant_id: str
    user_id: str
    person: str
    """E-mail address, or name when there is none."""
    admin: bool
    active: bool
    home_space_id: str | None
    """None also when that space no longer exists."""
    roles: Mapping[str, Role]
    expires_at: int | None
    seen_at: int | None
    """Time of the last use, to the minute."""
    revoked_at: int | None = None
    prefix: str | None = None
    scopes: Sequence[str] | None = None
    space_ids: Sequence[str] | None = None
    networks: Sequence[str] | None = None
    held: bool = False
    """Whether it is a session without the second factor that the organisation requires."""


class Credentials(Protocol):
    """Store of keys and sessions. One adapter per database."""

    async def find(self, kind: Kind, token_hash: str) -> Credential | None:
        """Return the key or session with this hash; None when there is none. Raises `Unavailable`."""

    async def close(self) -> None:
        """Disconnect."""


def statement(kind: Kind, *, aggregate: str, parameter: str) -> str:
    """Return the query: a key or session, its user, and the user's roles as one JSON object.

    Args:
        kind: Key or session.
        aggregate: The database's function that creates a JSON object of pairs.
        parameter: The driver's placeholder for the hash.
    """
    own_columns, table, condition = _OWN[kind]
    return (
        "SELECT c.id, u.tenant_id, u.id, coalesce(u.email, u.name), u.role, u.active,"  # noqa: S608 - constants
        " (SELECT s.id FROM spaces s WHERE s.id = u.home_space_id AND s.tenant_id = u.tenant_id),"
        f" (SELECT {aggregate}(m.space_id, m.role) FROM space_members m"
        " WHERE m.user_id = u.id AND m.tenant_id = u.tenant_id),"
        f" c.expires_at, {own_columns} FROM {table} c JOIN users u ON u.id = c.user_id AND u.tenant_id = c.tenant_id"
        f" WHERE {condition} = {parameter}"
    )


def credential_of(kind: Kind, row: Sequence[Any]) -> Credential:
    """Return the credential of a row of `statement`, with JSON as text on SQLite and as values on PostgreSQL."""
    more: Sequence[Any] = row[9:]
    roles: Mapping[str, str] = _value(row[7]) or {}
    return Credential(
        kind=kind,
        id=row[0],
        tenant_id=row[1],
        user_id=row[2],
        person=row[3],
        admin=row[4] == TenantRole.ADMIN.value,
        active=bool(row[5]),
        home_space_id=row[6],
        roles={space_id: Role(role) for space_id, role in roles.items()},
        expires_at=row[8],
        seen_at=more[0],
        **({"held": bool(more[1])} if kind is Kind.SESSION else _of_key(more)),
    )


def _of_key(more: Sequence[Any]) -> dict[str, Any]:
    return {
        "revoked_at": more[1],
        "prefix": more[2],
        "scopes": _value(more[3]),
        "space_ids": _value(more[4]),
        "networks": _value(more[5]),
    }


def _value(stored: Any) -> Any:  # noqa: ANN401 - any JSON value
    return orjson.loads(stored) if isinstance(stored, str) else stored


_OWN = {
    Kind.KEY: (
        "c.last_used_at, c.revoked_at, c.prefix, c.scopes, c.space_ids, c.networks",
        "api_keys",
        "c.secret_hash",
    ),
    Kind.SESSION: (
        (
            "c.last_seen_at, c.second_factor IS NULL AND c.method IN ('password', 'link') AND"
            " (SELECT t.second_factor_required FROM tenants t WHERE t.id = c.tenant_id)"
        ),
        "user_sessions",
        "u.kind = 'user' AND c.token_hash",
    ),
}
"""Columns that differ between the kinds, the table, and the condition on the hash: only users have sessions."""
