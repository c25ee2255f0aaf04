"""Rows of features above `runs` that are written in the transaction that creates a run.

A statement that returns no row refuses the run: nothing of the transaction is stored.
"""

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from headgate.foundation.errors import HeadgateError

if TYPE_CHECKING:
    from psycopg import AsyncConnection
_PARAMETER = re.compile(r"(?<!:):(\w+)")


@dataclass(frozen=True, slots=True)
class Companion:
    """A statement with `RETURNING`, executed before the run is inserted.

    Args:
        sql: The same text for SQLite and PostgreSQL, with parameters `:name`.
        values: Its parameters. `:run_id` is added.
        refusal: The error when it returns no row.
    """

    sql: str
    values: Mapping[str, Any]
    refusal: Callable[[], HeadgateError]


def write_on(db: sqlite3.Connection, companions: Sequence[Companion], run_id: str) -> None:
    """Execute them on a SQLite connection that holds the write lock. Raises their refusals."""
    for companion in companions:
        if db.execute(companion.sql, {**companion.values, "run_id": run_id}).fetchone() is None:
            raise companion.refusal()


async def write_in(connection: "AsyncConnection[Any]", companions: Sequence[Companion], run_id: str) -> None:
    """Execute them in a transaction of PostgreSQL. Raises their refusals."""
    for companion in companions:
        cursor = await connection.execute(_psycopg(companion.sql), {**companion.values, "run_id": run_id})
        if await cursor.fetchone() is None:
            raise companion.refusal()


@cache
def _psycopg(sql: str) -> bytes:
    return _PARAMETER.sub(r"%(\1)s", sql).encode()
