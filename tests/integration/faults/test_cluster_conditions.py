"""Damaged rows, a full disk and a clock that jumps, where workers carry runs out."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.faults.audit import audit, quiet
from tests.integration.faults.cluster import Cluster
from tests.integration.faults.installation import QUIET_SECONDS, counting_flow, one_step_flow
from tests.integration.faults.test_hostile_conditions import DAMAGES, reached
from tests.support.databases import Postgres, make_settings
from tests.support.rows import execute, run_row, step_rows

Record = Callable[[str, object], None]
pytestmark = [pytest.mark.campaign, pytest.mark.timeout(120 + QUIET_SECONDS), pytest.mark.postgres]


@pytest.fixture
def settings(postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
    """The distributed engine needs PostgreSQL."""
    with postgres.fresh() as url:
        yield make_settings(tmp_path, url)


def gated_flow(counter: Path, folder: Path) -> dict[str, Any]:
    """Counts, waits for a file, counts again."""
    count = {"type": "Count", "params": {"path": str(counter)}}
    return {
        "name": "Gated",
        "nodes": [
            {"id": "heard", "type": "ChatInput"},
            {"id": "a", **count},
            {"id": "gate", "type": "Gate", "params": {"folder": str(folder)}},
            {"id": "b", **count},
        ],
        "edges": [
            {"source": one, "output": "text", "target": other, "input": "input"}
            for one, other in pairwise(("heard", "a", "gate", "b"))
        ],
    }


class TestPoisonedPayload:
    async def test_ends_its_own_run_with_a_reason_and_holds_no_worker_up(
        self, cluster: Cluster, database: Database, record_property: Record
    ) -> None:
        runs = len(DAMAGES) + 1
        server = await cluster.up()
        flow = await cluster.make_flow(server, gated_flow(cluster.counter, cluster.folder))
        worker = cluster.command("worker", "--concurrency", str(runs))
        await cluster.submit(server, flow, runs)
        await reached(database, "gate", "running", runs)
        cluster.deaths.append(worker.kill())
        (cluster.folder / "gate.open").touch()
        *poisoned, sound = cluster.acknowledged
        for run_id, damage in zip(poisoned, DAMAGES.values(), strict=True):
            await execute(
                database,
                "UPDATE flow_step_results SET output_payload = :damage WHERE flow_run_id = :run AND step_id = 'a'",
                damage=damage,
                run=run_id,
            )
        cluster.command("worker", "--concurrency", "2")
        await quiet(database, QUIET_SECONDS)
        assert (await run_row(database, sound)).status == "completed"
        for run_id, name in zip(poisoned, DAMAGES, strict=True):
            row = await run_row(database, run_id)
            assert row.status == "failed", f"{name}: {row.status}"
            assert row.error_code, name
        assert (await cluster.run(server, flow, "after"))["status"] == "completed"
        counts = await audit(database, cluster.counter, deaths=cluster.deaths, acknowledged=cluster.acknowledged)
        record_property("figures", f"{counts}, {counts.failed} poisoned (workers)")


class TestFullDisk:
    async def test_fails_the_step_whose_artifact_does_not_fit_and_leaves_nothing(
        self, cluster: Cluster, database: Database
    ) -> None:
        cluster.environment = {**cluster.environment, "HEADGATE_LIMITS__MAX_INLINE_TEXT_BYTES": "1000"}
        server = await cluster.up()
        large = await cluster.make_flow(server, one_step_flow("Much", size=8_000_000))
        small = await cluster.make_flow(server, one_step_flow("Much", size=100_000))
        cluster.command("worker", "--concurrency", "2", file_limit=6_000_000)
        failed = await cluster.run(server, large)
        assert (failed["status"], failed["error"]["code"]) == ("failed", "storage_full")
        assert [path for path in (cluster.folder / "files").rglob("*") if path.is_file()] == []
        assert (await cluster.run(server, small))["status"] == "completed"
        assert len([path for path in (cluster.folder / "files").rglob("*") if path.is_file()]) == 1
        await audit(database, cluster.counter, deaths=[], acknowledged=[])


class TestClock:
    @pytest.mark.parametrize("seconds", [3600.0, -3600.0])
    async def test_of_a_worker_that_jumps_repeats_no_finished_step(
        self, cluster: Cluster, database: Database, tmp_path: Path, seconds: float, record_property: Record
    ) -> None:
        """Two workers; the clock of one jumps by an hour while both work, then back."""
        clock = tmp_path / "clock"
        clock.write_text("0")
        server = await cluster.up()
        flow = await cluster.make_flow(server, counting_flow(cluster.counter, seconds=0.3))
        for wrong in (clock, None):
            cluster.command("worker", "--concurrency", "3", clock=wrong)
        await cluster.submit(server, flow, 16)
        await cluster.busy(3)
        clock.write_text(str(seconds))
        await asyncio.sleep(1.5)
        await cluster.submit(server, flow, 8)
        await asyncio.sleep(1.5)
        clock.write_text("0")
        await quiet(database, QUIET_SECONDS)
        rows = [await step_rows(database, run_id) for run_id in cluster.acknowledged]
        assert {row.status for steps in rows for row in steps.values()} == {"completed"}
        lines = [tuple(line.split()[:3]) for line in cluster.counter.read_text().splitlines()]
        begun = [(label, step) for label, step, what in lines if what == "begin"]
        taken = sum(row.attempts > 1 for steps in rows for row in steps.values())
        twice = {one for one in begun if begun.count(one) > 1}
        assert max(begun.count(one) for one in begun) <= 2
        assert len(twice) <= taken, "a step was repeated that nobody took over"
        record_property(
            "figures",
            f"{len(rows)} runs, a worker's clock off by {seconds:g} s: {len(begun)} executions, "
            f"{taken} steps taken over, {len(twice)} repeated",
        )
