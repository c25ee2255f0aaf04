"""Looking at the rows of runs, and seeding them, past the store."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, text

from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.tables import flow_runs, flow_step_attempts, flow_step_results
from headgate.foundation.database import Database


async def run_row(database: Database, run_id: str) -> Any:
    """The run's row."""
    async with database.reading() as session:
        return (await session.execute(select(flow_runs).where(flow_runs.c.id == run_id))).one()


async def step_rows(database: Database, run_id: str) -> dict[str, Any]:
    """Step id to row, in the order of the steps."""
    steps = flow_step_results
    query = select(steps).where(steps.c.flow_run_id == run_id).order_by(steps.c.step_order)
    async with database.reading() as session:
        return {row.step_id: row for row in (await session.execute(query)).all()}


async def statuses(database: Database, run_id: str) -> dict[str, str]:
    """Step id to status."""
    return {step_id: row.status for step_id, row in (await step_rows(database, run_id)).items()}


async def attempt_rows(database: Database, run_id: str) -> Sequence[Any]:
    """Attempts by step and number."""
    table = flow_step_attempts
    query = select(table).where(table.c.flow_run_id == run_id).order_by(table.c.step_order, table.c.attempt_no)
    async with database.reading() as session:
        return (await session.execute(query)).all()


async def attempts(database: Database, run_id: str) -> list[tuple[str, int, str]]:
    """Step id, number and status of every attempt."""
    return [(row.step_id, row.attempt_no, row.status) for row in await attempt_rows(database, run_id)]


async def delivery_rows(database: Database, run_id: str) -> Sequence[Any]:
    """The deliveries of a run."""
    query = select(webhook_deliveries).where(webhook_deliveries.c.flow_run_id == run_id)
    async with database.reading() as session:
        return (await session.execute(query)).all()


async def execute(database: Database, statement: str, **values: Any) -> None:
    """Change something behind everybody's back."""
    async with database.writing() as session:
        await session.execute(text(statement), values)


GUARDED = ("flow_versions", "version_steps", "version_edges", "flow_step_attempts")


async def tamper(database: Database, statement: str, **values: Any) -> None:
    """Change what the row guards refuse, in one transaction without them: only the owner of the tables can."""
    async with database.writing() as session:
        if database.dialect == "sqlite":
            guards = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND instr(name, '_guard_') > 0"
            triggers = (await session.execute(text(guards))).all()
            for name, _ in triggers:
                await session.execute(text(f"DROP TRIGGER {name}"))
            await session.execute(text(statement), values)
            for _, made in triggers:
                await (await session.connection()).exec_driver_sql(made)
            return
        for table in GUARDED:
            await session.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        await session.execute(text(statement), values)
        for table in GUARDED:
            await session.execute(text(f"ALTER TABLE {table} ENABLE TRIGGER USER"))


async def child_rows(database: Database, run_id: str) -> Sequence[Any]:
    """The runs that steps of a run started, in order."""
    async with database.reading() as session:
        table = flow_runs
        query = select(table).where(table.c.parent_run_id == run_id).order_by(table.c.parent_iteration)
        return (await session.execute(query)).all()
