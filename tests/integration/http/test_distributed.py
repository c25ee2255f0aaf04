"""The distributed form as those who watch it see it: a real worker process, Redis, PostgreSQL and collector."""

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from headgate.entrypoints.http.app import create_app
from headgate.features.runs.engine.build import build_store
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, Settings, TelemetrySettings
from headgate.foundation.telemetry.otel import RUN_SPAN
from headgate.sandbox.report import probe
from tests.integration.features.runs.conformance import until
from tests.integration.http.conftest import created
from tests.support.databases import Postgres, make_settings
from tests.support.otlp_receiver import OtlpReceiver
from tests.support.own_code import REVERSE, REVERSE_SPEC
from tests.support.patience import PATIENCE_SECONDS
from tests.support.ports import free_port
from tests.support.workers import OwnRedis, celery_settings

START_SECONDS = 90.0
GROUPS = ("database", "celery", "telemetry", "engine", "server")


def environment(settings: Settings) -> dict[str, str]:
    """The settings as the environment of a process."""
    found = {**os.environ, "HEADGATE_DATA_DIR": str(settings.data_dir), "PYTHONWARNINGS": "ignore"}
    for group in GROUPS:
        for name, value in getattr(settings, group).model_dump(mode="json", exclude_defaults=True).items():
            found[f"HEADGATE_{group.upper()}__{name.upper()}"] = str(value)
    return found


@pytest.fixture
def collector() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as found:
        yield found


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[OwnRedis]:
    server = OwnRedis(tmp_path / "redis", durable=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def distributed(tmp_path: Path, postgres: Postgres, broker: OwnRedis, collector: OtlpReceiver) -> Iterator[Settings]:
    with postgres.fresh() as url:
        yield make_settings(
            tmp_path,
            url,
            engine=EngineSettings(backend="celery"),
            celery=celery_settings(broker, "watched", concurrency=2),
            telemetry=TelemetrySettings(otlp_endpoint=collector.endpoint, worker_metrics_port=free_port()),
        )


@pytest.fixture
async def client(distributed: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(distributed)
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411", timeout=60) as found:
            yield found


@pytest.fixture
def worker(distributed: Settings) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "headgate", "worker"]
    with (distributed.data_dir / "worker.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment(distributed), stdout=log, stderr=log)
    yield process
    process.terminate()
    process.wait(30)


async def readiness(client: httpx2.AsyncClient) -> dict[str, str]:
    """Part to state, and `status` to the answer's own."""
    answer = await client.get("/health/ready")
    told: dict[str, Any] = answer.json()
    assert answer.status_code == (200 if told["status"] == "ok" else 503)
    return {"status": told["status"]} | {part["name"]: part["state"] for part in told["parts"]}


async def until_up(client: httpx2.AsyncClient, worker: subprocess.Popen[bytes], settings: Settings) -> None:
    """Return when the worker takes runs."""
    async with asyncio.timeout(START_SECONDS):
        while (await readiness(client))["status"] != "ok":
            assert worker.poll() is None, (settings.data_dir / "worker.log").read_text()
            await asyncio.sleep(0.1)


class TestOwnCode:
    @pytest.mark.skipif(bool(probe().missing), reason="own code is refused where it cannot be isolated")
    async def test_runs_in_a_worker_that_knows_it_from_the_database(
        self, client: httpx2.AsyncClient, worker: subprocess.Popen[bytes], distributed: Settings
    ) -> None:
        await until_up(client, worker, distributed)
        checked = await client.post("/api/v1/components/check", json={"code": REVERSE})
        assert checked.json()["ok"], checked.text
        flow = await created(client, REVERSE_SPEC.format(code=textwrap.indent(REVERSE, " " * 6)))
        run = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": "abc", "wait": True})
        assert (run.json()["status"], run.json()["text"]) == ("completed", "cba!"), run.text


class TestWatching:
    async def test_sees_a_run_from_the_request_through_the_queue_to_the_worker(
        self,
        client: httpx2.AsyncClient,
        worker: subprocess.Popen[bytes],
        distributed: Settings,
        collector: OtlpReceiver,
    ) -> None:
        await until_up(client, worker, distributed)
        flow = await created(client)
        run = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": "between us", "wait": True})
        assert run.json()["status"] == "completed", run.text
        port = distributed.telemetry.worker_metrics_port
        steps: dict[str, float] = {}
        async with asyncio.timeout(PATIENCE_SECONDS), httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as scraper:
            while len(steps) < 2:  # the worker counts a step after it is stored
                page = (await scraper.get(f"http://127.0.0.1:{port}/metrics")).text
                steps = {
                    sample.labels["component"]: sample.value
                    for family in text_string_to_metric_families(page)
                    for sample in family.samples
                    if sample.name == "headgate_step_seconds_count"
                }
        assert steps == {"ChatInput": 1, "ChatOutput": 1}
        worker.terminate()
        assert await asyncio.to_thread(worker.wait, 30) == 0

        async def told() -> bool:
            return bool(collector.named(RUN_SPAN))

        await until(told)
        (span,) = collector.named(RUN_SPAN)
        children = [one for one in collector.spans if one.name.startswith("step ")]
        assert {one.name for one in children} == {"step ChatInput", "step ChatOutput"}
        assert {(one.trace_id, one.parent_id) for one in children} == {(span.trace_id, span.span_id)}
        assert {one.resource["headgate.role"] for one in children} == {"worker"}
        store = build_store(Database(distributed))
        await store.open()
        stored = await store.load(run.json()["id"])
        await store.close()
        assert stored is not None
        assert stored.trace_parent is not None
        assert stored.trace_parent.split("-")[1:3] == [span.trace_id, span.parent_id]
        assert b"between us" not in collector.raw

    async def test_is_told_which_part_is_away(self, client: httpx2.AsyncClient, broker: OwnRedis) -> None:
        without_worker = await readiness(client)
        assert (without_worker["broker"], without_worker["result backend"]) == ("ok", "ok")
        assert (without_worker["status"], without_worker["workers"]) == ("failed", "failed")
        broker.stop()
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (without_broker := await readiness(client))["broker"] != "failed":  # noqa: ASYNC110 - one check serves a second
                await asyncio.sleep(0.1)
        assert (without_broker["broker"], without_broker["result backend"]) == ("failed", "failed")
        assert (without_broker["database"], without_broker["status"]) == ("ok", "failed")
        broker.start()
