"""Lists of runs in one status read an index in the order of the list, and never all runs of the tenant."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import LOCAL
from headgate.features.runs.repository import list_runs
from headgate.features.runs.run_filter import RunFilter
from headgate.foundation.database import Database
from tests.support.engine import make_chain, store_flow
from tests.support.plans import plan_of

pytestmark = pytest.mark.both_databases

RUNS = 3000
_NUMBERS = {
    "sqlite": f"WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {RUNS})",
    "postgresql": f"WITH numbers AS (SELECT generate_series(1, {RUNS}) AS n)",
}
_FILL = (
    "INSERT INTO flow_runs (id, tenant_id, flow_id, version, status, unfinished, input_payload, created_at)"
    " {numbers} SELECT 'run-' || n, :tenant_id, :flow_id, 1,"
    " CASE WHEN n % 500 = 0 THEN 'cancelled' ELSE 'completed' END, 0, '{{}}', n FROM numbers"
)


@pytest.fixture
async def flow_ids(database: Database) -> list[str]:
    """Two flows with many runs each, of which few were cancelled."""
    keys = [await store_flow(database, make_chain(2)) for _ in range(2)]
    for number, key in enumerate(keys):
        fill = _FILL.format(numbers=_NUMBERS[database.dialect]).replace("'run-'", f"'run-{number}-'")
        if database.dialect == "sqlite":  # WITH stands before INSERT there
            numbers = _NUMBERS["sqlite"]
            fill = f"{numbers} {fill.replace(numbers, '')}"
        async with database.writing() as session:
            await session.execute(text(fill), {"tenant_id": LOCAL.tenant_id, "flow_id": key.flow_id})
    async with database.writing() as session:
        if database.dialect == "postgresql":
            await session.execute(text("ANALYZE flow_runs"))
    return [key.flow_id for key in keys]


async def page_plan(database: Database, which: RunFilter) -> str:
    """How the database reads a page of the list."""

    async def read(session: AsyncSession) -> None:
        assert await list_runs(session, tenant_id=LOCAL.tenant_id, spaces=None, run_filter=which, limit=50, before=None)

    return await plan_of(database, read)


class TestPlan:
    async def test_of_a_status_reads_the_tenants_index(self, database: Database, flow_ids: list[str]) -> None:
        plan = await page_plan(database, RunFilter(status="cancelled"))
        assert "ix_flow_runs_tenant_id_status_id" in plan
        assert "TEMP B-TREE" not in plan

    async def test_of_a_status_and_a_flow_reads_an_index_of_the_flow(
        self, database: Database, flow_ids: list[str]
    ) -> None:
        plan = await page_plan(database, RunFilter(status="cancelled", flow_id=flow_ids[0]))
        assert "ix_flow_runs_flow_id" in plan
        assert "ix_flow_runs_tenant_id" not in plan
