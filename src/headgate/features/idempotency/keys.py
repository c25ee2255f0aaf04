"""The key of a request that starts paid work, and the row that makes two such requests one.

The row is inserted in the transaction that inserts what the request starts: of two requests at the same moment the
database lets one insert it, whatever either of them looked up before.
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

KEPT_MICROSECONDS = 24 * 3600 * 1_000_000
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
"""Inserts the key, or takes it over where it is older than a day or its work is lost. No row: it is in use."""
PSYCOPG = re.sub(r":(\w+)", r"%(\1)s", CLAIM)
"""The same in psycopg's words."""


@dataclass(frozen=True, slots=True)
class StartKey:
    """The key of one request, as the row that starts the work is to keep it."""

    tenant_id: str
    key: str
    user_id: str
    digest: str
    """Of the request: what is to be done, and with what."""
    answer: str | None = None
    """JSON of the response that the resource itself cannot repeat."""

    def answering(self, answer: Mapping[str, Any]) -> "StartKey":
        """The key with what the response says beyond the resource."""
        return replace(self, answer=orjson.dumps(answer).decode())

    def values(self, resource_id: str, at: int, *, pending_until: int | None = None) -> dict[str, Any]:
        """The values of `CLAIM`; times are microseconds in UTC."""
        return {
            "tenant_id": self.tenant_id,
            "key": self.key,
            "user_id": self.user_id,
            "digest": self.digest,
            "resource_id": resource_id,
            "answer": self.answer,
            "pending_until": pending_until,
            "at": at,
            "expired": at - KEPT_MICROSECONDS,
        }


def start_key(
    principal: Principal,
    key: str | None,
    *request: Any,  # noqa: ANN401 - JSON values
    scope: str = "",
) -> StartKey | None:
    """The key of a request of this caller, which consists of these JSON values. None without a key.

    `scope` keeps the keys of callers apart who have no account. Raises `KeyInvalid`.
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
    """Insert the key in the transaction that starts the work. Raises `KeyTaken`: then nothing may be started."""
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
