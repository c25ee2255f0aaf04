"""Log lines of an outage: one when it begins, however often the same is tried."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from headgate.features.jobs.leases import Lease
from headgate.features.runs.engine.distributed.heartbeat import LeaseHeartbeat
from headgate.features.runs.engine.reconciler import Reconciler, Rules
from headgate.features.runs.states import RunStatus
from headgate.features.runs.transitions import LiveRun, RunKey
from tests.support.logs import captured_logs


class IdleRuns:
    """A store of one run that nobody works on."""

    async def orphans(self) -> list[RunKey]:
        return []

    async def live_runs(self) -> list[LiveRun]:
        key = RunKey("r", "t", "f", 1)
        return [
            LiveRun(
                key, RunStatus.QUEUED, flow_deleted=False, holders=(), created_at=1, started_at=None, dispatched_at=None
            )
        ]

    async def stragglers(self, **_: Any) -> list[Any]:
        return []


class TestLifeguard:
    def test_logs_a_database_that_is_away_once(self, tmp_path: Path) -> None:
        segments = cast("Any", SimpleNamespace(beaten_at=-1e9, held=dict))
        worker_lease = cast("Any", SimpleNamespace(seconds=1.0, lease=lambda: Lease("w", 1, 2)))
        with captured_logs() as logs:
            keeper = LeaseHeartbeat(f"postgresql:///none?host={tmp_path}", segments, worker_lease)
            for _ in range(20):
                keeper.renew()
        assert [one["log_level"] for one in logs] == ["warning"]


class TestReconciler:
    async def test_logs_runs_that_every_sweep_finds_once(self) -> None:
        with captured_logs() as logs:
            reconciler = Reconciler(cast("Any", IdleRuns()), lambda _run, _holder: False, Rules())
            sweeps = [await reconciler.sweep() for _ in range(20)]
        assert all(len(one.take_up) == 1 for one in sweeps)
        assert [one["event"] for one in logs] == ["reconciled"]
