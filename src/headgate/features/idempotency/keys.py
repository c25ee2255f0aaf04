"""The key of a request that starts paid work, and the row that makes two such requests one.

The row is inserted in the transaction that starts the work: of two concurrent requests the database lets only one
insert it, whatever either of them read before.
"""

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.idempotency.errors import KeyInvalid, KeyTaken
from headgate.foundation.canonical import digest, portable

EXPIRY_MICROSECONDS = 24 * 3600 * 1_000_000
LONGEST_KEY = 255
_PRINTABLE = re.compile(r"[\x20-\x7e]+")

CLAIM = (
    "INSERT INTO idempotency_keys AS k"
    " (tenant_id, key, user_id, digest, resource_id, answer, pending_until, created_at)"
    " VALUES (:tenant_id, :key, :user_id, :digest, :resource_id, :answer, :pending_until, :at)"
    " ON CONFLICT (tenant_id, key) DO UPDATE SET user_id = excluded.user_id, digest = excluded.digest,"
    " resource_id = excluded.resource_id, answer = excluded.answer, pending_until = excluded.pending_until,"
    " created_at = excluded.created_at WHERE k.created_at < :expired OR k.pending_until < :at RETURNING resource_id"
)
"""Inserts the key, or replaces one that is older than a day or whose work is lost. No row: the key is in use."""
PSYCOPG = re.sub(r":(\w+)", r"%(\1)s", CLAIM)
"""The same with psycopg's parameters."""


@dataclass(frozen=True, slots=True)
class StartKey:
    """The key of one request, to be inserted in the transaction that starts the work."""

    tenant_id: str
    key: str
    user_id: str
    digest: str
    """SHA-256 of the request: method, path, query and body."""
    answer: str | None = None
    """JSON of the response that the resource itself cannot repeat."""

    def answering(self, answer: Mapping[str, Any]) -> "StartKey":
        """Return the key with the part of the response that the resource does not contain."""
        return replace(self, answer=orjson.dumps(answer).decode())

    def values(self, resource_id: str, at: int, *, pending_until: int | None = None) -> dict[str, Any]:
        """Return the values of `CLAIM`; times are microseconds in UTC."""
        return {
            "tenant_id": self.tenant_id,
            "key": self.key,
            "user_id": self.user_id,
            "digest": self.digest,
            "resource_id": resource_id,
            "answer": self.answer,
            "pending_until": pending_until,
            "at": at,
            "expired": at - EXPIRY_MICROSECONDS,
        }


def start_key(
    principal: Principal,
    key: str | None,
    *request: Any,  # noqa: ANN401 - JSON values
    scope: str = "",
) -> StartKey | None:
    """Return the key of a caller's request, identified by these JSON values. None without a key.

    `scope` separates the keys of callers without an account. Raises `KeyInvalid`.
    """
    if key is None:
        return None
    if not key.strip() or len(key) > LONGEST_KEY or not _PRINTABLE.fullmatch(key):
        raise KeyInvalid(
            f"An idempotency key has 1 to {LONGEST_KEY} printable ASCII characters; this one has {len(key)} characters"
            f"{'' if _PRINTABLE.fullmatch(key) else ', not all of them printable ASCII'}.",
            remedy="Use a random UUID.",
        )
    return StartKey(principal.tenant_id, scope + key, principal.user_id or "", digest(portable(list(request))))


async def claim(session: AsyncSession, key: StartKey | None, resource_id: str, at: int) -> None:
    """Insert the key in the transaction that starts the work. Raises `KeyTaken`; then roll back."""
    if key is not None:
        check((await session.execute(text(CLAIM), key.values(resource_id, at))).one_or_none())


def claim_on(db: sqlite3.Connection, key: StartKey | None, resource_id: str, at: int) -> None:
    """The same on a SQLite connection, inside a transaction that holds the write lock."""
    if key is not None:
        check(db.execute(CLAIM, key.values(resource_id, at)).fetchone())


def check(row: object) -> None:
    """Raise `KeyTaken` where `CLAIM` returned no row."""
    if row is None:
        raise KeyTaken
