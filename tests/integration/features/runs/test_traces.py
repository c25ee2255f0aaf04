"""Traces of runs, as a collector gets them over OTLP: across the API, the engine, and the process that goes on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.entrypoints.http.app import create_app
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, Settings, TelemetrySettings
from headgate.foundation.telemetry import Telemetry
from headgate.foundation.telemetry.instruments import Instruments
from headgate.foundation.telemetry.opening import open_telemetry
from headgate.foundation.telemetry.otel import RUN_SPAN
from tests.integration.features.runs.conformance import appears, finish, over
from tests.support.engine import make_chain, make_flow, make_services, new_run, on_disk, store_flow
from tests.support.otlp_receiver import OtlpReceiver
from tests.support.rows import run_row

SPEC = """name: Echo
nodes:
  heard: ChatInput
  said: ChatOutput
edges:
  heard.text -> said.input
"""
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def collector() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as found:
        yield found


@pytest.fixture
def traced(settings: Settings, collector: OtlpReceiver) -> Settings:
    return settings.model_copy(update={"telemetry": TelemetrySettings(otlp_endpoint=collector.endpoint)})


def engine_of(settings: Settings, database: Database, telemetry: Telemetry, **engine: Any) -> ExecutionBackend:
    services = make_services(database, engine=EngineSettings(**engine), files=on_disk(database, settings))
    return build_engine(settings, database, replace(services, telemetry=telemetry))


class TestTrace:
    async def test_leads_from_the_request_through_the_run_to_its_steps(
        self, traced: Settings, collector: OtlpReceiver
    ) -> None:
        app = create_app(traced)
        async with app.router.lifespan_context(app):
            transport = httpx2.ASGITransport(app=app)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1") as client:
                flow = (await client.post("/flows", json={"spec": SPEC})).json()
                body = {"text": "between us", "wait": True}
                answer = await client.post(f"/flows/{flow['id']}/runs", json=body, headers={"traceparent": CALLER})
                assert answer.json()["status"] == "completed"
                assert (await client.get("http://127.0.0.1:7411/health/ready")).status_code == 200
        (request,) = [span for span in collector.spans if span.attributes.get("http.route", "").endswith("/runs")]
        (run,) = collector.named(RUN_SPAN)
        steps = [span for span in collector.spans if span.name.startswith("step ")]
        assert request.trace_id == run.trace_id == "0af7651916cd43dd8448eb211c80319c"
        assert request.parent_id == "b7ad6b7169203331"
        assert request.attributes["http.response.status_code"] == 201
        assert run.parent_id == request.span_id
        assert [(step.name, step.parent_id) for step in steps] == [
            ("step ChatInput", run.span_id),
            ("step ChatOutput", run.span_id),
        ]
        assert {step.trace_id for step in steps} == {run.trace_id}
        assert run.start <= steps[0].start <= steps[0].end <= steps[1].end <= run.end
        assert run.attributes["headgate.run.status"] == "completed"
        assert run.resource["headgate.role"] == "api"
        assert not any("health" in span.attributes.get("http.route", "") for span in collector.spans)
        assert b"between us" not in collector.raw

    async def test_goes_on_in_the_process_that_takes_the_run_up(
        self, traced: Settings, collector: OtlpReceiver, database: Database, tmp_path: Path
    ) -> None:
        first, second = (open_telemetry(traced, role, counts=False) for role in ("api", "worker"))
        flow = make_flow(
            {"s": "Start", "g": "Gate", "e": "Echo"},
            ["s.text -> g.input", "g.text -> e.input"],
            g={"folder": str(tmp_path)},
        )
        request = new_run(await store_flow(database, flow))
        before = engine_of(traced, database, first)
        await before.open()
        await before.start(request)
        await appears(tmp_path / "gate.started")
        await before.close(grace_seconds=0)  # type: ignore[call-arg]
        (tmp_path / "gate.open").touch()
        after = engine_of(traced, database, second)
        await after.open()
        await over(after, request.key.run_id)
        await after.close()
        first.traces.close()
        second.traces.close()
        (run,) = collector.named(RUN_SPAN)
        assert run.resource["headgate.role"] == "worker"
        assert run.parent_id == ""
        steps = {(span.name, span.resource["headgate.role"]): span for span in collector.spans if span is not run}
        assert ("step Start", "api") in steps
        assert ("step Echo", "worker") in steps
        assert steps["step Gate", "worker"].attributes["headgate.step.attempt"] == 2
        assert {(span.trace_id, span.parent_id) for span in steps.values()} == {(run.trace_id, run.span_id)}

    async def test_of_a_failed_run_names_the_code_and_not_the_message(
        self, traced: Settings, collector: OtlpReceiver, database: Database
    ) -> None:
        telemetry = open_telemetry(traced, "api", counts=False)
        engine = engine_of(traced, database, telemetry)
        await engine.open()
        flow = make_flow({"start": "Start", "bad": "Broken"}, ["start.text -> bad.input"])
        await finish(engine, new_run(await store_flow(database, flow)))
        await engine.close()
        telemetry.traces.close()
        (step,) = collector.named("step Broken")
        assert (step.failed, step.attributes["error.type"]) == (True, "invalid")
        assert collector.named(RUN_SPAN)[0].failed
        assert b"cannot work" not in collector.raw

    async def test_is_not_stored_where_nobody_listens(self, engine: ExecutionBackend, database: Database) -> None:
        request = new_run(await store_flow(database, make_chain(1)))
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).trace_parent is None


class _Counted(Instruments):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def run_started(self, *, resumed: bool) -> None:
        self.told.append(("run started", resumed))

    def run_ended(self, status: str, seconds: float | None) -> None:
        self.told.append(("run ended", status))

    def attempt_began(self, attempt: int) -> None:
        self.told.append(("attempt", attempt))

    def step_ended(self, component: str, status: str, seconds: float) -> None:
        assert seconds >= 0
        self.told.append(("step", component, status))

    def failed(self, what: str, code: str) -> None:
        self.told.append(("failed", what, code))

    def model_called(self, provider: str, input_tokens: int | None, output_tokens: int | None) -> None:
        self.told.append(("model", provider, input_tokens, output_tokens))


class TestFigures:
    async def test_of_a_run_are_told_once(self, settings: Settings, database: Database) -> None:
        counted = _Counted()
        engine = engine_of(settings, database, Telemetry(metrics=counted))
        await engine.open()
        flow = make_flow(
            {"start": "Start", "say": "Speak", "bad": "Broken"}, ["start.text -> say.input", "say.text -> bad.input"]
        )
        await finish(engine, new_run(await store_flow(database, flow)))
        await engine.close()
        assert counted.told == [
            ("run started", False),
            ("attempt", 1),
            ("step", "Start", "completed"),
            ("attempt", 1),
            ("model", "test", 3, 4),
            ("step", "Speak", "completed"),
            ("attempt", 1),
            ("step", "Broken", "failed"),
            ("failed", "step", "invalid"),
            ("failed", "run", "invalid"),
            ("run ended", "failed"),
        ]
