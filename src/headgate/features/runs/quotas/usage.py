"""SQL of quota usage: one statement per kind and scope, used by the stores and by the quota list."""

import re
import sqlite3
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.quotas.bounds import Bound, Quota, Scope, since
from headgate.features.runs.states import ACTIVE_RUNS, sql_list

_WHERE = {
    Scope.TENANT: "r.tenant_id = :tenant_id",
    Scope.SPACE: "r.tenant_id = :tenant_id AND r.flow_id IN"
    " (SELECT id FROM flows WHERE tenant_id = :tenant_id AND space_id = :subject)",
    Scope.VISITOR: "r.tenant_id = :tenant_id AND r.visitor = :subject",
}
_TOKENS = (
    "coalesce(sum(coalesce(s.num_tokens_input, 0) + coalesce(s.num_tokens_output, 0)), 0), NULL FROM flow_runs r"
    " JOIN flow_step_results s ON s.flow_run_id = r.id AND s.flow_id = r.flow_id AND s.reused_from_run_id IS NULL"
)
_WHAT = {
    Quota.RUNS: ("count(*), NULL FROM flow_runs r", f"r.status IN {sql_list(ACTIVE_RUNS)}"),
    Quota.RUNS_PER_HOUR: ("count(*), min(r.created_at) FROM flow_runs r", "r.created_at > :since"),
    Quota.TOKENS_PER_DAY: (_TOKENS, "r.created_at >= :since"),
    Quota.TOKENS_PER_MONTH: (_TOKENS, "r.created_at >= :since"),
}
USAGE = {
    (quota, scope): f"SELECT {expression} WHERE {condition_of_scope} AND {condition}"
    for quota, (expression, condition) in _WHAT.items()
    for scope, condition_of_scope in _WHERE.items()
}
_FILES = "SELECT coalesce(sum(size_bytes), 0), NULL FROM files WHERE tenant_id = :tenant_id"
_BY_VISITOR = "flow_run_id IN (SELECT id FROM flow_runs WHERE tenant_id = :tenant_id AND visitor = :subject)"
USAGE[Quota.STORAGE_BYTES, Scope.TENANT] = _FILES
USAGE[Quota.STORAGE_BYTES, Scope.SPACE] = f"{_FILES} AND space_id = :subject"
USAGE[Quota.STORAGE_BYTES, Scope.VISITOR] = f"{_FILES} AND {_BY_VISITOR}"
"""Usage, and the creation time of the oldest item where that decides when it is free again."""
PSYCOPG = {key: re.sub(r":(\w+)", r"%(\1)s", statement) for key, statement in USAGE.items()}
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%(tenant_id)s, 16))"
"""PostgreSQL: serialises the limit checks of a tenant's starts."""
STORAGE_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(:tenant_id, 17))"
"""The same for files."""


def usage_values(bound: Bound, tenant_id: str, at: int) -> dict[str, Any]:
    """Return the parameters of these statements."""
    return {"tenant_id": tenant_id, "subject": bound.subject, "since": since(bound.quota, at)}


def check_on(db: sqlite3.Connection, bounds: tuple[Bound, ...], tenant_id: str, at: int) -> None:
    """Raise `QuotaExceeded`, in a SQLite transaction that holds the write lock."""
    for bound in bounds:
        statement = USAGE[bound.quota, bound.scope]
        used, oldest = db.execute(statement, usage_values(bound, tenant_id, at)).fetchone()
        bound.check(used, oldest, at)


async def check_in(connection: Any, bounds: tuple[Bound, ...], tenant_id: str, at: int) -> None:  # noqa: ANN401 - psycopg's
    """Raise `QuotaExceeded`, in a PostgreSQL transaction."""
    if bounds:
        await connection.execute(LOCK, {"tenant_id": tenant_id})
    for bound in bounds:
        cursor = await connection.execute(PSYCOPG[bound.quota, bound.scope], usage_values(bound, tenant_id, at))
        used, oldest = await cursor.fetchone()
        bound.check(int(used), oldest, at)


async def lock_storage(session: AsyncSession, *, tenant_id: str) -> None:
    """Lock the tenant until the transaction ends; on SQLite the write lock suffices."""
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(text(STORAGE_LOCK), {"tenant_id": tenant_id})
