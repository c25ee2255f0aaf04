"""What the one question of every request asks, and what it is told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import orjson

from headgate.features.access.permissions import Role, TenantRole


class Kind(StrEnum):
    """What somebody came with."""

    KEY = "key"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class Found:
    """A key or session and its person, as the database has them at this moment. Moments are microseconds since 1970."""

    kind: Kind
    id: str
    tenant_id: str
    user_id: str
    person: str
    """E-mail address, or name where there is none."""
    admin: bool
    active: bool
    home_space_id: str | None
    """None also when that space is gone."""
    roles: Mapping[str, Role]
    expires_at: int | None
    seen_at: int | None
    """When it was used last, to the minute."""
    revoked_at: int | None = None
    prefix: str | None = None
    scopes: Sequence[str] | None = None
    space_ids: Sequence[str] | None = None
    networks: Sequence[str] | None = None
    held: bool = False
    """Whether it is a session that lacks the second factor that the organisation requires."""


class Credentials(Protocol):
    """Where keys and sessions are kept. One adapter a database."""

    async def find(self, kind: Kind, token_hash: str) -> Found | None:
        """The key or session with this hash; None when there is none. Raises `Unavailable`."""
        ...

    async def close(self) -> None:
        """Disconnect."""
        ...


def statement(kind: Kind, *, aggregate: str, parameter: str) -> str:
    """The one query: a key or session, its person, and their roles as one JSON object.

    Args:
        kind: Which of the two.
        aggregate: The database's function that makes a JSON object of pairs.
        parameter: How the driver writes the hash's place.
    """
    own, table, column = _OWN[kind]
    return (
        "SELECT c.id, u.tenant_id, u.id, coalesce(u.email, u.name), u.role, u.active,"  # noqa: S608 - constants
        " (SELECT s.id FROM spaces s WHERE s.id = u.home_space_id AND s.tenant_id = u.tenant_id),"
        f" (SELECT {aggregate}(m.space_id, m.role) FROM space_members m"
        " WHERE m.user_id = u.id AND m.tenant_id = u.tenant_id),"
        f" c.expires_at, {own} FROM {table} c JOIN users u ON u.id = c.user_id AND u.tenant_id = c.tenant_id"
        f" WHERE c.{column} = {parameter}"
    )


def found_of(kind: Kind, row: Sequence[Any]) -> Found:
    """A row of `statement`, which comes with JSON as text on SQLite and as values on PostgreSQL."""
    more: Sequence[Any] = row[9:]
    roles: Mapping[str, str] = _value(row[7]) or {}
    return Found(
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
    Kind.KEY: ("c.last_used_at, c.revoked_at, c.prefix, c.scopes, c.space_ids, c.networks", "api_keys", "secret_hash"),
    Kind.SESSION: (
        (
            "c.last_seen_at, c.second_factor IS NULL AND c.method IN ('password', 'link') AND"
            " (SELECT t.second_factor_required FROM tenants t WHERE t.id = c.tenant_id)"
        ),
        "user_sessions",
        "token_hash",
    ),
}
"""What one kind has and the other has not, its table, and the column of its hash."""
