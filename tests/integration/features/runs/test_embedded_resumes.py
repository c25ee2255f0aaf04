"""The embedded engine resumes, re-uses and reconciles as every engine must, on both databases."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.features.runs.conformance import until
from tests.integration.features.runs.conformance_resume import (
    ReconcilerConformance,
    ResumeConformance,
    has_status,
    step_is,
    tallied_gate,
)
from tests.support.engine import new_run, store_flow
from tests.support.forked import fork
from tests.support.rows import attempts

pytestmark = pytest.mark.both_databases

RUNS = 10


class TestEmbeddedResume(ResumeConformance):
    pass


class TestEmbeddedReconciler(ReconcilerConformance):
    pass


class TestTwoReconcilers:
    async def test_at_once_take_each_lost_step_over_once(
        self, make_engine: Any, database: Database, settings: Settings, tmp_path: Path
    ) -> None:
        gone = await make_engine(recover_on_start=False)
        version = await store_flow(database, tallied_gate(tmp_path))
        requests = [new_run(version) for _ in range(RUNS)]
        for request in requests:
            await gone.start(request)
        for request in requests:
            await until(lambda key=request.key: step_is(database, key, "gate", "running"))
        await gone.close(grace_seconds=0)
        order = json.dumps({"folder": str(settings.data_dir), "url": settings.database.url})
        both = [fork("tests.support.engine_process", order, environment=os.environ, stdin=True) for _ in range(2)]
        try:
            for process in both:
                assert process.stdout is not None
                assert await asyncio.to_thread(process.stdout.readline) == b"open\n"
            (tmp_path / "gate.open").touch()
            for request in requests:
                await until(lambda key=request.key: has_status(database, key, "completed"))
        finally:
            for process in both:
                process.kill()
                process.communicate()
        for request in requests:
            assert await attempts(database, request.key.run_id) == [
                ("one", 1, "completed"),
                ("gate", 1, "retried"),
                ("gate", 2, "completed"),
                ("two", 1, "completed"),
            ]
        done = (tmp_path / "tally").read_text().split()
        assert (done.count("one"), done.count("two")) == (RUNS, RUNS)
