"""Rows that were damaged, steps that never return, a full disk, a clock that jumps."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import func, select

from headgate.features.runs.tables import flow_step_results
from headgate.foundation.database import Database
from tests.integration.faults.audit import audit, quiet
from tests.integration.faults.installation import (
    QUIET_SECONDS,
    Installation,
    counting_flow,
    one_step_flow,
)
from tests.support.patience import PATIENCE_SECONDS
from tests.support.rows import attempts, execute, run_row, step_rows

Record = Callable[[str, object], None]
pytestmark = pytest.mark.timeout(120 + QUIET_SECONDS)

SLOW = 0.6
"""Seconds that a counted step takes, so that a kill meets it at work."""
DAMAGES = {
    "not what a step leaves": '"boom"',
    "without its outputs": "{}",
    "outputs of another shape": '{"outputs": [1, 2], "main": 7}',
    "an artifact that is not there": json.dumps(
        {
            "outputs": {
                "text": {
                    "type": "Text",
                    "truncated": True,
                    "file_id": "01a1ff9d-0000-7000-8000-000000000000",
                    "preview": "x",
                    "size_bytes": 9,
                    "media_type": "text/plain",
                }
            },
            "main": "text",
        }
    ),
    "null": "null",
}


class TestPoisonedPayload:
    async def test_ends_its_own_run_with_a_reason_and_no_other(
        self, installation: Installation, database: Database, record_property: Record
    ) -> None:
        """Outputs and inputs that somebody damaged while no server ran."""
        server = await installation.up()
        flow = await installation.make_flow(server, counting_flow(installation.counter, seconds=SLOW))
        await installation.submit(server, flow, len(DAMAGES) + 2, at_once=4)
        await reached(database, "a", "completed", len(DAMAGES) + 2)
        installation.kill(server)
        poisoned = installation.acknowledged[: len(DAMAGES)]
        for run_id, damage in zip(poisoned, DAMAGES.values(), strict=True):
            await execute(
                database,
                "UPDATE flow_step_results SET output_payload = :damage WHERE flow_run_id = :run AND step_id = 'a'",
                damage=damage,
                run=run_id,
            )
        bad_input, sound = installation.acknowledged[-2:]
        await execute(database, "UPDATE flow_runs SET input_payload = '[1]' WHERE id = :run", run=bad_input)
        server = await installation.up()
        await quiet(database, QUIET_SECONDS)
        assert (await run_row(database, sound)).status == "completed"
        for run_id, name in [*zip(poisoned, DAMAGES, strict=True), (bad_input, "input")]:
            row = await run_row(database, run_id)
            assert row.status == "failed", f"{name}: {row.status}"
            assert row.error_code, name
            assert row.error_message, name
            assert "Traceback" not in row.error_message
            await _is_shown(server.url, run_id)
        counts = await audit(
            database, installation.counter, deaths=installation.deaths, acknowledged=installation.acknowledged
        )
        record_property("figures", f"{counts}, {counts.failed} poisoned ({database.dialect})")

    @pytest.mark.parametrize("settings", ["sqlite"], indirect=True)  # PostgreSQL stores nothing else in such a column
    async def test_that_is_no_json_at_all_ends_its_own_run(
        self, installation: Installation, database: Database
    ) -> None:
        server = await installation.up()
        flow = await installation.make_flow(server, counting_flow(installation.counter, seconds=SLOW))
        await installation.submit(server, flow, 2)
        await reached(database, "a", "completed", 2)
        installation.kill(server)
        poisoned, sound = installation.acknowledged
        broken = "UPDATE flow_step_results SET output_payload = '{\"outputs' WHERE flow_run_id = :run AND step_id = 'a'"
        await execute(database, broken, run=poisoned)
        await installation.up()
        await quiet(database, QUIET_SECONDS)
        assert (await run_row(database, sound)).status == "completed"
        assert (await run_row(database, poisoned)).status == "failed"


class TestStepThatNeverReturns:
    @pytest.mark.parametrize("in_thread", [False, True])
    async def test_is_ended_and_holds_nobody_up(
        self, installation: Installation, database: Database, in_thread: bool
    ) -> None:
        server = await installation.up(HEADGATE_ENGINE__STEP_TIMEOUT_SECONDS="2")
        stuck = await installation.make_flow(server, one_step_flow("Stuck", in_thread=in_thread))
        counting = await installation.make_flow(server, counting_flow(installation.counter))
        await installation.submit(server, stuck, 3)
        assert (await installation.run(server, counting))["status"] == "completed"
        await quiet(database, QUIET_SECONDS)
        for run_id in installation.acknowledged:
            row = await run_row(database, run_id)
            assert (row.status, row.error_code) == ("failed", "step_timeout")
            assert (await attempts(database, run_id))[-1] == ("it", 1, "failed")
        assert (await installation.run(server, counting, "again"))["status"] == "completed"
        await audit(database, installation.counter, deaths=[], acknowledged=installation.acknowledged)


class TestFullDisk:
    async def test_fails_the_step_whose_artifact_does_not_fit_and_leaves_nothing(
        self, installation: Installation, database: Database
    ) -> None:
        """No file of the server may grow over 6 MB; the database's own stays far below."""
        server = await installation.up(file_limit=6_000_000, HEADGATE_LIMITS__MAX_INLINE_TEXT_BYTES="1000")
        large = await installation.make_flow(server, one_step_flow("Much", size=8_000_000))
        small = await installation.make_flow(server, one_step_flow("Much", size=100_000))
        failed = await installation.run(server, large)
        assert failed["status"] == "failed"
        assert failed["error"]["code"] == "storage_full"
        contents = [path for path in (installation.folder / "files").rglob("*") if path.is_file()]
        assert contents == []
        assert (await installation.run(server, small))["status"] == "completed"
        assert len([path for path in (installation.folder / "files").rglob("*") if path.is_file()]) == 1
        await audit(database, installation.counter, deaths=[], acknowledged=[])


@pytest.mark.campaign
class TestClock:
    @pytest.mark.parametrize("seconds", [3600.0, -3600.0])
    async def test_that_jumps_repeats_no_finished_step(
        self, installation: Installation, database: Database, tmp_path: Path, seconds: float, record_property: Record
    ) -> None:
        """Two servers on one database; the clock of one jumps by an hour while both work, then back."""
        clock = tmp_path / "clock"
        clock.write_text("0")
        lease = {"HEADGATE_ENGINE__LEASE_SECONDS": "2"}
        wrong = await installation.up(clock=clock, **lease)
        right = await installation.up(**lease)
        flow = await installation.make_flow(right, counting_flow(installation.counter, seconds=SLOW))
        await asyncio.gather(installation.submit(wrong, flow, 10), installation.submit(right, flow, 10))
        clock.write_text(str(seconds))
        await asyncio.sleep(1.5)
        await asyncio.gather(installation.submit(wrong, flow, 5), installation.submit(right, flow, 5))
        await asyncio.sleep(1.5)
        clock.write_text("0")
        await quiet(database, QUIET_SECONDS)
        rows = [await step_rows(database, run_id) for run_id in installation.acknowledged]
        assert {row.status for steps in rows for row in steps.values()} == {"completed"}
        executions = [line.split()[:3] for line in installation.counter.read_text().splitlines()]
        begun = [(label, step) for label, step, what in executions if what == "begin"]
        twice = {one for one in begun if begun.count(one) > 1}
        # The clock jumps twice, there and back; each time the other server may take a step over.
        assert max(begun.count(one) for one in begun) <= 3
        taken = sum(row.attempts > 1 for steps in rows for row in steps.values())
        assert len(twice) <= taken, "a step was repeated that nobody took over"
        record_property(
            "figures",
            f"{len(rows)} runs, clock off by {seconds:g} s: {len(begun)} executions, {taken} steps taken over, "
            f"{len(twice)} repeated ({database.dialect})",
        )


async def reached(database: Database, step_id: str, status: str, runs: int) -> None:
    """Wait until a step is in a state in so many runs."""
    query = select(func.count()).where(flow_step_results.c.step_id == step_id, flow_step_results.c.status == status)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            async with database.reading() as session:
                if (await session.execute(query)).scalar_one() >= runs:
                    return
            await asyncio.sleep(0.02)


async def _is_shown(url: str, run_id: str) -> None:
    """The damaged run can be looked at: an answer, not a fault of the server's."""
    async with httpx2.AsyncClient(base_url=f"{url}/api/v1/flow-runs/{run_id}", timeout=30) as client:
        for path in ("", "/evidence", "/steps/a"):
            answer = await client.get(path)
            assert answer.status_code < 500, f"{path}: {answer.status_code} {answer.text[:300]}"
