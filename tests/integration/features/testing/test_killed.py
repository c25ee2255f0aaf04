"""A process that is killed while it runs a flow's tests."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from headgate.entrypoints.compose import open_parts
from headgate.features.access.principal import LOCAL
from headgate.features.flows import service as flows
from headgate.features.testing import results, service
from headgate.features.testing.tables import TestResultRow, TrialRow
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from headgate.graph.cases import TestCase
from headgate.graph.spec import read_spec
from tests.support.patience import PATIENCE_SECONDS

HEADGATE = Path(sys.executable).with_name("headgate")
FLOW = (
    "name: Slow\nnodes:\n  heard: ChatInput\n  step: Python\n    timeout_seconds: 100\n    source: |\n"
    "      def run(inputs):\n          return sum(1 for _ in iter(int, 1))\n"
    "  said: ChatOutput\nedges:\n  heard.message -> step.inputs\n  step.text -> said.input\n"
)
CASES = [TestCase(name="refused", form={"no such field": "x"}), TestCase(name="slow", text="slow")]
"""One that is over at once, and one that never is."""


class TestKilled:
    @pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
    async def test_leaves_a_result_that_says_so_with_what_was_over(self, settings: Settings) -> None:
        async with open_parts(settings) as parts:
            async with parts.database.writing() as session:
                flow = await flows.create_flow(
                    session, LOCAL, parts.registry, definition=read_spec(FLOW, parts.registry)
                )
                await service.replace_cases(session, LOCAL, flow.id, CASES)
            variables = {
                "HEADGATE_DATA_DIR": str(settings.data_dir),
                "HEADGATE_DATABASE__URL": str(settings.database_url),
            }
            process = await asyncio.create_subprocess_exec(
                HEADGATE, "tests", "run", flow.id, env={**os.environ, **variables}, stdout=asyncio.subprocess.PIPE
            )
            try:
                await _one_is_over(parts.database)
            finally:
                process.send_signal(signal.SIGKILL)
                await process.communicate()
            async with parts.database.reading() as session:
                (row,) = (await session.execute(select(TestResultRow))).scalars().all()
            assert (row.status, row.finished_at) == ("running", None)
            async with open_parts(settings, recover=True) as server:  # which finds that the process is gone
                server.recover()
                await _is_ended(parts.database)
            async with parts.database.reading() as session:
                found = await results.read_result(session, LOCAL, flow.id, row.id)
            assert (found.status, [line.name for line in found.lines]) == ("cancelled", ["refused"])
            assert found.reason == results.INTERRUPTED


async def _one_is_over(database: Database) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            async with database.reading() as session:
                if (await session.execute(select(TrialRow.name))).first() is not None:
                    return
            await asyncio.sleep(0.1)


async def _is_ended(database: Database) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            async with database.reading() as session:
                if (await session.execute(select(TestResultRow.status))).scalar_one() != "running":
                    return
            await asyncio.sleep(0.1)
