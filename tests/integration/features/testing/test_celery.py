"""A flow's tests where worker processes carry the runs out."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.flows import service as flows
from headgate.features.runs import service as runs
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.testing import results, service
from headgate.features.testing.judging import Judge
from headgate.features.testing.runner import TestRuns
from headgate.features.testing.schemas import TestResultOut
from headgate.foundation.database import Database
from headgate.graph.cases import Expectation, TestCase
from headgate.graph.model import Flow
from tests.integration.features.runs.celery_fixtures import (  # noqa: F401 - fixtures
    engine,
    engines,
    make_engine,
    settings,
    workers,
)
from tests.integration.features.runs.conformance import appears
from tests.support.asking import ScriptedAsker
from tests.support.engine import make_chain, make_flow
from tests.support.jobs import open_jobs
from tests.support.patience import PATIENCE_SECONDS
from tests.support.rows import run_row

pytestmark = pytest.mark.xdist_group("celery")


@pytest.fixture
async def tests(
    database: Database,
    engine: ExecutionBackend,  # noqa: F811
    tmp_path: Path,
) -> AsyncIterator[TestRuns]:
    async with open_jobs(database, tmp_path) as jobs:
        yield TestRuns(database, engine, jobs, Judge(database, ScriptedAsker()))


class TestOnWorkers:
    async def test_every_trial_is_a_run_of_its_own(
        self,
        tests: TestRuns,
        engine: ExecutionBackend,  # noqa: F811
        database: Database,
    ) -> None:
        cases = [TestCase(name="holds", text="hej", expect=Expectation(equals="hej!")), TestCase(name="also", text="x")]
        flow_id = await _made(database, engine, make_chain(2, s2={"mark": "!"}), *cases)
        found = await _over(database, tests, flow_id, await tests.begin(LOCAL, flow_id, trials=2))
        assert (found.status, found.done, found.failures) == ("passed", 4, 0)
        assert {line.answer for line in found.lines} == {"hej!", "x!"}
        rows = [await run_row(database, line.run_id) for line in found.lines]
        assert {row.status for row in rows} == {"completed"}
        assert len({row.session_id for row in rows}) == 4

    async def test_cancelling_ends_the_runs_on_the_workers(
        self,
        tests: TestRuns,
        engine: ExecutionBackend,  # noqa: F811
        database: Database,
        tmp_path: Path,
    ) -> None:
        flow = make_flow(
            {"top": "Start", "gate": "Gate"},
            ["top.text -> gate.input"],
            gate={"folder": str(tmp_path), "name": "gate"},
        )
        flow_id = await _made(database, engine, flow, TestCase(name="never over", text="x"))
        result_id = await tests.begin(LOCAL, flow_id)
        await appears(tmp_path / "gate.started")
        assert await tests.cancel(LOCAL, flow_id, result_id)
        (tmp_path / "gate.open").touch()
        found = await _over(database, tests, flow_id, result_id)
        assert (found.status, found.lines) == ("cancelled", [])
        async with database.reading() as session:
            (run,) = await runs.list_runs(session, LOCAL, flow_id=flow_id)
        assert run.status == "cancelled"


async def _made(database: Database, engine: ExecutionBackend, flow: Flow, *cases: TestCase) -> str:  # noqa: F811
    async with database.writing() as session:
        row = await flows.create_flow(session, LOCAL, engine.services.components, definition=flow)
        await service.replace_cases(session, LOCAL, row.id, cases)
        return row.id


async def _over(database: Database, tests: TestRuns, flow_id: str, result_id: str) -> TestResultOut:
    async with asyncio.timeout(PATIENCE_SECONDS):
        await tests.wait(result_id)
    async with database.reading() as session:
        return await results.read_result(session, LOCAL, flow_id, result_id)
