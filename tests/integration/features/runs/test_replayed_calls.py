"""Calls of an agent step that were answered are not made again: after a failure, after the death of the worker."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.engine.build import build_engine
from headgate.features.runs.tables import flow_step_calls
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, Settings
from headgate.graph.model import Flow
from headgate.sdk.fakes import FakeHttp
from tests.integration.features.runs.conformance import over, until
from tests.support.agents import AGENT_COMPONENTS, MODEL, ServerModels, agent_flow, bookings
from tests.support.engine import make_flow, make_services, new_run, on_disk, store_flow
from tests.support.openai_server import OpenAIServer
from tests.support.rows import attempt_rows, attempts, execute, run_row, step_rows
from tests.support.scripted_server import Hold

URL = "https://shop.test/orders"


@pytest.fixture
async def agents(database: Database, settings: Settings, openai: OpenAIServer) -> Any:
    """Opens engines whose models are those of the scripted provider."""
    opened: list[ExecutionBackend] = []

    async def make(http: FakeHttp | None = None, **engine: Any) -> ExecutionBackend:
        services = make_services(
            database,
            components=AGENT_COMPONENTS,
            engine=EngineSettings(**engine),
            files=on_disk(database, settings),
        )
        services = replace(services, chat_models=ServerModels(openai.base_url), http=http or services.http)
        backend = build_engine(settings, database, services)
        await backend.open()
        opened.append(backend)
        return backend

    yield make
    for engine in opened:
        await engine.close()


async def begun(database: Database, engine: ExecutionBackend, flow: Flow) -> RunRequest:
    request = new_run(await store_flow(database, flow, AGENT_COMPONENTS), "Book two things")
    await engine.start(request)
    await over(engine, request.key.run_id)
    return request


async def call_rows(database: Database, run_id: str) -> Any:
    query = select(flow_step_calls).where(flow_step_calls.c.flow_run_id == run_id)
    async with database.reading() as session:
        return (await session.execute(query.order_by(flow_step_calls.c.attempt_no, flow_step_calls.c.seq))).all()


def logged(row: Any) -> list[str]:
    return [line["message"] for line in row.log or ()]


class TestResume:
    async def test_makes_only_the_calls_that_were_not_answered(
        self, agents: Any, database: Database, openai: OpenAIServer, tmp_path: Path
    ) -> None:
        openai.script(
            openai.tool_call("book", {"what": "hotel"}),
            openai.tool_call("book", {"what": "train"}),
            openai.error(500, "Out of order"),
            openai.text("Both are booked."),
        )
        engine = await agents()
        request = await begun(database, engine, agent_flow(tmp_path))
        assert (await run_row(database, request.key.run_id)).status == "failed"
        assert (len(openai.asked), bookings(tmp_path)) == (3, ["hotel", "train"])
        third = openai.asked[2].body
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "Both are booked.")
        assert len(openai.asked) == 4
        assert openai.asked[3].body == third
        assert bookings(tmp_path) == ["hotel", "train"]

    async def test_counts_no_call_twice_and_shows_what_was_replayed(
        self, agents: Any, database: Database, openai: OpenAIServer, tmp_path: Path
    ) -> None:
        openai.script(
            openai.tool_call("book", {"what": "hotel"}, tokens=(100, 10)),
            openai.error(500, "Out of order"),
            openai.text("Done.", tokens=(200, 20)),
        )
        engine = await agents()
        request = await begun(database, engine, agent_flow(tmp_path))
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        row = (await step_rows(database, request.key.run_id))["agent"]
        assert (row.num_tokens_input, row.num_tokens_output) == (200, 20)
        assert row.model_parameters["replayed"] == {"calls": 1, "tokens_input": 100, "tokens_output": 10}
        assert [call.get("replayed", False) for call in row.tool_calls] == [True]
        assert sum(line.startswith("Replayed: ") for line in logged(row)) == 2
        first = next(one for one in await attempt_rows(database, request.key.run_id) if one.step_id == "agent")
        assert (first.record["tokens_input"], first.record["tokens_output"]) == (100, 10)
        rows = await call_rows(database, request.key.run_id)
        assert [(one.attempt_no, one.seq, one.kind, one.tokens_input) for one in rows] == [
            (1, 1, "model", 100),
            (1, 2, "tool", None),
            (2, 1, "model", 200),
        ]
        assert not any(b"hotel" in one.answer or b"Done" in one.answer for one in rows)

    async def test_asks_again_for_the_answer_that_the_step_failed_on(
        self, agents: Any, database: Database, openai: OpenAIServer
    ) -> None:
        openai.script(openai.text("no JSON"), openai.text('{"is": "JSON"}'))
        flow = make_flow({"ask": "AIStep"}, ask={"prompt": "Say it", "model": MODEL, "output_type": "json"})
        engine = await agents()
        request = await begun(database, engine, flow)
        assert (await run_row(database, request.key.run_id)).status == "failed"
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == '{\n  "is": "JSON"\n}'
        assert len(openai.asked) == 2

    async def test_of_a_step_with_repairs_starts_at_the_last_one(
        self, agents: Any, database: Database, openai: OpenAIServer
    ) -> None:
        openai.script(openai.text("no"), openai.text("neither"), openai.error(500, "Down"), openai.text('{"a": 1}'))
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
        flow = make_flow({"ask": "StructuredOutput"}, ask={"model": MODEL, "schema": schema, "input": "x"})
        engine = await agents()
        request = await begun(database, engine, flow)
        assert (await run_row(database, request.key.run_id)).status == "failed"
        calls = len(openai.asked)
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        assert len(openai.asked) == calls + 1

    async def test_gives_each_tool_call_the_same_key_in_every_attempt(
        self, agents: Any, database: Database, openai: OpenAIServer, tmp_path: Path
    ) -> None:
        openai.script(
            openai.tool_call("book", {"what": "hotel"}),
            openai.error(500, "Out of order"),
            openai.tool_call("book", {"what": "hotel"}),
            openai.text("Done."),
        )
        engine = await agents()
        request = await begun(database, engine, agent_flow(tmp_path))
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        keys = [line.split()[1] for line in (tmp_path / "bookings").read_text().splitlines()]
        assert len(set(keys)) == 2, "the second booking is another one"


class TestRecovery:
    async def test_after_kill_9_in_the_third_call_makes_only_that_call(
        self, agents: Any, database: Database, openai: OpenAIServer, tmp_path: Path, processes: Any
    ) -> None:
        hold = Hold()
        openai.script(
            openai.tool_call("book", {"what": "hotel"}, tokens=(100, 10)),
            openai.tool_call("book", {"what": "train"}, tokens=(150, 15)),
            openai.held_text("never", hold),
            openai.text("Both are booked.", tokens=(200, 20)),
        )
        version = await store_flow(database, agent_flow(tmp_path), AGENT_COMPONENTS)
        process, run_id = await processes.start(version, "Book two things", models=openai.base_url)
        await until(lambda: asyncio.sleep(0, len(openai.asked) == 3))
        process.kill()
        process.wait()
        engine = await agents()
        await over(engine, run_id)
        assert ("agent", 2, "completed") in await attempts(database, run_id)
        assert (await run_row(database, run_id)).output_payload["text"] == "Both are booked."
        assert len(openai.asked) == 4
        assert openai.asked[3].body == openai.asked[2].body
        assert bookings(tmp_path) == ["hotel", "train"]
        row = (await step_rows(database, run_id))["agent"]
        assert (row.num_tokens_input, row.num_tokens_output) == (450, 45), "what the dead worker paid is counted once"
        hold.release()


class TestRequests:
    async def test_of_a_run_keep_their_key_over_attempts_and_those_of_a_rerun_have_another(
        self, agents: Any, database: Database
    ) -> None:
        flow = make_flow({"send": "HTTPRequest"}, send={"url": URL, "method": "POST"})
        version = await store_flow(database, flow, AGENT_COMPONENTS)
        http = FakeHttp()
        http.answer(URL, "down", method="POST", status=503)
        http.answer(URL, "ok", method="POST")
        engine = await agents(http=http)
        first, second = new_run(version), new_run(version)
        await engine.start(first)
        await over(engine, first.key.run_id)
        await engine.resume(first.key)
        await over(engine, first.key.run_id)
        await engine.start(second)
        await over(engine, second.key.run_id)
        one, again, other = (request.headers["idempotency-key"] for request in http.requests)
        assert one == again != other


class TestWait:
    async def test_may_be_longer_than_the_time_limit_of_a_step(self, agents: Any, database: Database) -> None:
        flow = make_flow({"start": "Start", "wait": "Wait"}, ["start.text -> wait.value"], wait={"seconds": 0.6})
        request = await begun(database, await agents(step_timeout_seconds=0.2), flow)
        assert (await run_row(database, request.key.run_id)).status == "completed"

    async def test_is_woken_although_its_process_died(self, agents: Any, database: Database, processes: Any) -> None:
        flow = make_flow({"start": "Start", "wait": "Wait"}, ["start.text -> wait.value"], wait={"seconds": 7200})
        version = await store_flow(database, flow, AGENT_COMPONENTS)
        process, run_id = await processes.start(version, "hello")

        async def waits() -> bool:
            return bool((await run_row(database, run_id)).status == "waiting")

        await until(waits)
        process.kill()
        process.wait()
        await execute(database, "UPDATE flow_step_results SET due_at = 1 WHERE status = 'waiting'")
        engine = await agents()
        await over(engine, run_id)
        assert ("wait", 1, "suspended") in await attempts(database, run_id)
        assert ("wait", 2, "completed") in await attempts(database, run_id)
