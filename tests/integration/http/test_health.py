"""Whether the server can work, and its figures, as those who watch it see them."""

import asyncio
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from prometheus_client.parser import text_string_to_metric_families

from headgate.entrypoints import readiness
from headgate.entrypoints.http import health
from headgate.entrypoints.http.app import create_app
from headgate.entrypoints.http.loop_lag import LoopLag
from headgate.entrypoints.readiness import check_readiness
from headgate.features.runs import capacity
from headgate.features.runs.engine.backend import BackendHealth
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import TelemetrySettings
from tests.integration.http.conftest import created
from tests.support.databases import SqliteFiles, make_settings
from tests.support.disks import mounted
from tests.support.patience import PATIENCE_SECONDS


@pytest.fixture(autouse=True)
def _checked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CACHE_SECONDS", 0.0)
    monkeypatch.setattr(readiness, "LONGEST_CHECK_SECONDS", PATIENCE_SECONDS)


WELL = BackendHealth("celery", broker=True, results=True, workers=2, queue_depth=5)


async def fine() -> None:
    return None


async def told(health: BackendHealth) -> readiness.Readiness:
    async def said() -> BackendHealth:
        return health

    return await check_readiness(fine, said)


class TestReadiness:
    async def test_names_every_part_of_the_distributed_engine(self) -> None:
        found = await told(WELL)
        assert found.status == "ok"
        assert [part.name for part in found.parts] == ["database", "engine", "broker", "result backend", "workers"]
        assert (found.queue_depth, found.workers) == (5, 2)

    async def test_says_which_part_failed_without_its_password(self) -> None:
        why = "Redis at redis://:hunter2hunter2@10.0.0.1:6379/0 and redis://me:hunter2hunter2@10.0.0.1 refused."
        found = await told(
            BackendHealth("celery", broker=False, results=True, workers=0, queue_depth=-1, problems=(why,))
        )
        assert found.status == "failed"
        states = {part.name: part.state for part in found.parts}
        assert states["broker"] == states["workers"] == states["engine"] == "failed"
        assert states["result backend"] == states["database"] == "ok"
        assert "hunter2" not in found.model_dump_json()
        assert "10.0.0.1" in found.model_dump_json()

    async def test_gives_a_part_that_hangs_so_long_and_no_longer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(readiness, "LONGEST_CHECK_SECONDS", 0.05)

        async def hang() -> BackendHealth:
            await asyncio.sleep(3600)
            return WELL

        async with asyncio.timeout(PATIENCE_SECONDS):
            found = await check_readiness(fine, hang)
        assert [(part.name, part.state) for part in found.parts] == [("database", "ok"), ("engine", "failed")]
        assert "No answer within" in found.parts[1].detail

    async def test_tells_no_message_of_a_driver(self) -> None:
        async def raising() -> None:
            raise RuntimeError("postgresql://user:hunter2hunter2@db/name is away")

        async def refusing() -> BackendHealth:
            raise Unavailable("The database cannot be reached.", remedy="Start it.")

        found = await check_readiness(raising, refusing)
        assert [part.detail for part in found.parts] == [
            "RuntimeError",
            "The database cannot be reached. Start it.",
        ]


class TestReady:
    async def test_is_checked_once_for_many_who_ask_at_the_same_time(
        self, app: FastAPI, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked, begun, answered = 0, asyncio.Event(), asyncio.Event()
        ping = app.state.database.prove_write

        async def counted() -> None:
            nonlocal asked
            asked += 1
            begun.set()
            await answered.wait()
            await ping()

        monkeypatch.setattr(app.state.database, "prove_write", counted)
        many = [asyncio.create_task(client.get("/health/ready")) for _ in range(30)]
        await begun.wait()
        many[0].cancel()  # one who hangs up spoils it for nobody
        await asyncio.sleep(0.01)
        answered.set()
        statuses = [answer.status_code for answer in await asyncio.gather(*many[1:])]
        assert (statuses, asked) == ([200] * 29, 1)
        assert (await client.get("/health/ready")).status_code == 200
        assert asked == 2

    async def test_answers_503_when_the_database_is_away(self, app: FastAPI, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/health/ready")).status_code == 200

        async def away() -> None:
            raise Unavailable("The database cannot be reached.")

        app.state.database.prove_write = away
        answer = await client.get("/health/ready")
        assert (answer.status_code, answer.json()["status"]) == (503, "failed")
        assert answer.json()["parts"][0]["detail"] == "The database cannot be reached."
        assert (await client.get("/metrics")).status_code == 200


class TestFullDisk:
    async def test_is_not_ready_refuses_starts_and_recovers_without_a_restart(
        self, tmp_path: Path, sqlite_files: SqliteFiles, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(capacity, "CACHE_SECONDS", 0.0)
        with mounted(tmp_path / "disk", "24m") as disk:
            sqlite_files.fresh(disk.path)
            app = create_app(make_settings(disk.path))
            async with app.router.lifespan_context(app), _client(app) as client:
                flow = await created(client)
                runs = f"/api/v1/flows/{flow['id']}/runs"
                assert (await client.post(runs, json={"text": "hej", "wait": True})).json()["status"] == "completed"
                assert (await client.get("/health/ready")).status_code == 200
                disk.fill()
                with pytest.raises(Unavailable):
                    await _write_until_refused(app)
                answer = await client.get("/health/ready")
                assert answer.status_code == 503
                details = {part["name"]: part["detail"] for part in answer.json()["parts"]}
                assert "disk" in details["run writer"]
                refused = await client.post(runs, json={"text": "hej"})
                assert (refused.status_code, refused.json()["code"]) == (503, "capacity_short")
                assert refused.headers["retry-after"] == "5"
                disk.empty()
                assert (await client.get("/health/ready")).json()["status"] == "ok"
                for _ in range(5):
                    done = await client.post(runs, json={"text": "hej", "wait": True})
                    assert done.json()["status"] == "completed"


class TestLoopLag:
    async def test_remembers_how_long_the_loop_was_blocked(self) -> None:
        lag = LoopLag()
        lag.start()
        loop = asyncio.get_running_loop()
        lag._due = loop.time() - 7
        lag._measure()
        assert lag.worst() >= 7
        lag.stop()

    async def test_makes_a_server_not_ready(self) -> None:
        async def healthy() -> BackendHealth:
            return WELL

        late = await check_readiness(fine, healthy, lag=lambda: 6.0, most_lag_seconds=5.0)
        assert (late.status, late.parts[1].name, late.parts[1].state) == ("failed", "event loop", "failed")
        assert "blocked for 6.0 seconds" in late.parts[1].detail
        assert (await check_readiness(fine, healthy, lag=lambda: 4.0, most_lag_seconds=5.0)).status == "ok"


async def _write_until_refused(app: FastAPI) -> None:
    """The log may have had space for a few more pages."""
    while True:
        await app.state.engine.store.prove_write()


def _client(app: FastAPI) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1:7411")


class TestMetrics:
    async def test_show_requests_by_route_and_runs_by_state(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client)
        run = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": "hej", "wait": True})
        assert run.json()["status"] == "completed"
        await client.get("/api/v1/nowhere/at-all")
        answer = await client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        found = {
            (sample.name, tuple(sorted(sample.labels.values()))): sample.value
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        }
        assert found["headgate_runs_ended_total", ("completed",)] == 1
        assert found["headgate_step_seconds_count", ("ChatInput", "completed")] == 1
        assert found["headgate_http_request_seconds_count", ("/api/v1/flows/{flow_id}/runs", "201", "POST")] == 1
        assert found["headgate_http_request_seconds_count", ("404", "GET", "none")] == 1
        assert found["headgate_runs", ("queued",)] == found["headgate_runs", ("running",)] == 0
        assert found["headgate_ready", ("database",)] == found["headgate_workers", ()] == 1
        assert flow["id"] not in answer.text

    async def test_can_be_switched_off(self, tmp_path: Path) -> None:
        app = create_app(make_settings(tmp_path, telemetry=TelemetrySettings(metrics=False)))
        async with app.router.lifespan_context(app):
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as client:
                answer = await client.get("/metrics")
        assert (answer.status_code, answer.json()["code"]) == (404, "route_not_found")
