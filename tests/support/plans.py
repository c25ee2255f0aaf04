"""How a database executes a query, as it explains it."""

from collections.abc import Awaitable, Callable
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.foundation.database import Database


async def plan_of(database: Database, call: Callable[[AsyncSession], Awaitable[Any]]) -> str:
    """The plan of the only statement that a call executes, a line for each node."""
    statements: list[tuple[str, Any]] = []

    def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_more: Any) -> None:
        statements.append((statement, values))

    async with database.reading() as session:
        connection = await session.connection()
        event.listen(connection.sync_connection, "before_cursor_execute", note)
        await call(session)
        event.remove(connection.sync_connection, "before_cursor_execute", note)
        ((statement, values),) = statements
        explain = "EXPLAIN QUERY PLAN" if database.dialect == "sqlite" else "EXPLAIN"
        lines = await connection.exec_driver_sql(f"{explain} {statement}", values)
        return "\n".join(str(row[-1]) for row in lines)
