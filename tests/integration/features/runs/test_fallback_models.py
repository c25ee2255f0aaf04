"""Steps whose model does not answer ask the next one of their fallback chain, over the providers' wire protocols."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.runs.circuits import service
from headgate.features.runs.circuits.service import Circuits
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.engine.build import build_engine
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, HttpSettings, Settings
from headgate.graph.model import Flow
from tests.integration.features.runs.conformance import over
from tests.support.agents import AGENT_COMPONENTS, ServerModels, bookings
from tests.support.engine import make_flow, make_services, new_run, on_disk, store_flow
from tests.support.openai_server import OpenAIServer
from tests.support.rows import execute, run_row, step_rows
from tests.support.scripted_server import Reply, Script

FIRST = "openai/gpt-5-mini"
SECOND = "openai_compatible/second"


@pytest.fixture
def first() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def second() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def engine(database: Database, settings: Settings, first: OpenAIServer) -> Any:
    services = make_services(
        database, components=AGENT_COMPONENTS, engine=EngineSettings(), files=on_disk(database, settings)
    )
    models = ServerModels(first.base_url, HttpSettings(allowed_internal_cidrs=["127.0.0.0/8"]))
    circuits = Circuits(database, HttpSettings(circuit_failures=3))
    backend = build_engine(settings, database, replace(services, chat_models=models, circuits=circuits))
    await backend.open()
    yield backend
    await backend.close()


def chain(second: OpenAIServer, **params: Any) -> dict[str, Any]:
    """A model of the first server, with one of the second to fall back on."""
    return {
        "provider": "openai",
        "name": "gpt-5-mini",
        "params": {"max_retries": 0, **params},
        "fallback": [
            {
                "provider": "openai_compatible",
                "name": "second",
                "params": {"base_url": second.base_url, "max_retries": 0},
            }
        ],
    }


def one_step(model: dict[str, Any], type_: str = "AIStep", **params: Any) -> Flow:
    return make_flow({"ask": type_}, ask={"model": model, **params})


async def ran(database: Database, engine: ExecutionBackend, flow: Flow) -> RunRequest:
    request = new_run(await store_flow(database, flow, AGENT_COMPONENTS), "Hello")
    await engine.start(request)
    await over(engine, request.key.run_id)
    return request


async def step(database: Database, request: RunRequest, step_id: str = "ask") -> Any:
    return (await step_rows(database, request.key.run_id))[step_id]


class TestFallsBack:
    @pytest.mark.parametrize(
        ("failure", "code", "params"),
        [
            ("overloaded", "model_call_failed", {}),
            ("rate_limited", "model_rate_limited", {}),
            ("no_such_model", "model_not_accessible", {}),
            ("wrong_key", "model_key_rejected", {}),
            ("out_of_money", "model_quota_exhausted", {}),
            ("slow", "model_timed_out", {"timeout_seconds": 0.3}),
            ("stream_error", "model_call_failed", {}),
            ("reset_half_way", "model_unreachable", {}),
            ("cut_off", "model_unreachable", {}),
        ],
    )
    async def test_when_a_model_cannot_answer(
        self,
        *,
        engine: ExecutionBackend,
        database: Database,
        first: OpenAIServer,
        second: OpenAIServer,
        failure: str,
        code: str,
        params: dict[str, Any],
    ) -> None:
        first.script(_failing(first, failure))
        second.script(second.text("The answer of the second.", tokens=(11, 6)))
        request = await ran(database, engine, one_step(chain(second, **params), prompt="Say it"))
        row = await step(database, request)
        row = await step(database, request)
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "The answer of the second."
        used = row.model_parameters
        assert (used["provider"], used["name"]) == ("openai_compatible", "second")
        assert [(one["model"], one["code"]) for one in used["failed"]] == [(FIRST, code)]
        assert (row.num_tokens_input, row.num_tokens_output) == (11, 6)
        assert any(line["message"].startswith(f"{FIRST} did not answer: ") for line in row.log)
        assert (len(first.asked), len(second.asked)) == (1, 1)

    async def test_when_a_server_is_gone(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer
    ) -> None:
        with OpenAIServer() as gone:
            pass
        second.script(second.text("Here."))
        model = chain(second) | {
            "provider": "openai_compatible",
            "name": "first",
            "params": {"base_url": gone.base_url, "max_retries": 0},
        }
        row = await step(database, await ran(database, engine, one_step(model, prompt="Say it")))
        assert [one["code"] for one in row.model_parameters["failed"]] == ["model_unreachable"]

    async def test_after_the_retries_of_its_client(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer
    ) -> None:
        first.script(first.error(429, "Slow down.", code="rate_limit_exceeded", headers={"retry-after-ms": "1"}))
        second.script(second.text("Here."))
        await ran(database, engine, one_step(chain(second, max_retries=2), prompt="Say it"))
        assert (len(first.asked), len(second.asked)) == (3, 1)

    async def test_in_structured_output(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer
    ) -> None:
        first.script(first.overloaded())
        second.script(second.structured({"city": "Bern"}))
        flow = one_step(
            chain(second),
            "StructuredOutput",
            input="Bern",
            schema={"type": "object", "properties": {"city": {"type": "string"}}},
        )
        request = await ran(database, engine, flow)
        row = await step(database, request)
        assert row.status == "completed", row.error_message
        assert row.model_parameters["name"] == "second"
        assert second.asked[0].body["response_format"]["type"] == "json_schema"

    async def test_in_the_middle_of_an_agents_work_without_a_tool_called_twice(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer, tmp_path: Path
    ) -> None:
        first.script(first.tool_call("book", {"what": "hotel"}, tokens=(100, 10)), first.reset_half_way())
        second.script(second.tool_call("book", {"what": "train"}), second.text("Both are booked."))
        flow = make_flow(
            {"start": "Start", "agent": "Agent", "book": "Book", "end": "Echo"},
            ["start.text -> agent.input", "book.tool -> agent.tools", "agent.response -> end.input"],
            agent={"model": chain(second), "instructions": "Book what is asked for."},
            book={"path": str(tmp_path / "bookings")},
        )
        request = await ran(database, engine, flow)
        row = await step(database, request, "agent")
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "Both are booked."
        assert bookings(tmp_path) == ["hotel", "train"]
        assert [one["name"] for one in row.model_parameters["models"]] == ["gpt-5-mini", "second"]
        assert [one["model"] for one in row.model_parameters["failed"]] == [FIRST]
        assert (len(first.asked), len(second.asked)) == (2, 2)


class TestDoesNotFallBack:
    @pytest.mark.parametrize(
        ("failure", "code"),
        [("bad", "model_request_refused"), ("too_long", "prompt_too_long"), ("filter", "model_answer_withheld")],
    )
    async def test_when_the_request_is_the_fault(
        self,
        *,
        engine: ExecutionBackend,
        database: Database,
        first: OpenAIServer,
        second: OpenAIServer,
        failure: str,
        code: str,
    ) -> None:
        first.script(_failing(first, failure))
        second.script(second.text("Never."))
        request = await ran(database, engine, one_step(chain(second), prompt="Say it"))
        assert (await run_row(database, request.key.run_id)).error_code == code
        assert second.asked == []

    async def test_when_no_model_is_left_and_names_every_one(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer
    ) -> None:
        first.script(first.overloaded())
        second.script(second.no_such_model("second"))
        request = await ran(database, engine, one_step(chain(second), prompt="Say it"))
        row = await run_row(database, request.key.run_id)
        assert row.error_code == "model_not_accessible"
        assert "None of 2 models answered" in row.error_message
        assert FIRST in row.error_message
        assert SECOND in row.error_message


class TestCircuit:
    async def test_skips_a_model_that_just_failed(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer
    ) -> None:
        first.script(first.overloaded())
        second.script(second.text("Here."))
        await ran(database, engine, one_step(chain(second), prompt="Say it"))
        row = await step(database, await ran(database, engine, one_step(chain(second), prompt="Say it")))
        assert (len(first.asked), len(second.asked)) == (1, 2)
        assert [one["code"] for one in row.model_parameters["failed"]] == ["model_skipped"]

    async def test_asks_a_model_without_fallback_each_time(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer
    ) -> None:
        first.script(first.overloaded())
        second.script(second.text("Here."))
        alone = {name: value for name, value in chain(second).items() if name != "fallback"}
        await ran(database, engine, one_step(chain(second), prompt="Say it"))
        await ran(database, engine, one_step(alone, prompt="Say it"))
        assert len(first.asked) == 2

    async def test_asks_a_model_without_fallback_no_more_after_failures_in_a_row_until_it_is_reset(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer
    ) -> None:
        first.script(first.overloaded())
        alone = {name: value for name, value in chain(second).items() if name != "fallback"}
        for _ in range(4):
            request = await ran(database, engine, one_step(alone, prompt="Say it"))
        assert len(first.asked) == 3
        row = await step(database, request)
        assert row.error_code == "model_skipped"
        async with database.reading() as session:
            (circuit,) = await service.list_circuits(session, LOCAL)
        assert (circuit.host, circuit.failures) == ("openai/gpt-5-mini", 3)
        async with database.writing() as session:
            await service.reset_circuit(session, LOCAL, circuit.host)
        first.script(first.text("Here."))
        while (await run_row(database, request.key.run_id)).status != "completed":  # read again within a second
            request = await ran(database, engine, one_step(alone, prompt="Say it"))
        async with database.reading() as session:
            assert await service.list_circuits(session, LOCAL) == []

    async def test_a_tripped_model_goes_to_the_next_of_the_chain_in_every_process(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer
    ) -> None:
        second.script(second.text("Here."))
        other = Circuits(database, HttpSettings(circuit_failures=1))
        await other.failed(LOCAL.tenant_id, "openai/gpt-5-mini", "model_call_failed")
        request = await ran(database, engine, one_step(chain(second), prompt="Say it"))
        assert (await run_row(database, request.key.run_id)).status == "completed"
        assert (len(first.asked), len(second.asked)) == (0, 1)


class TestResume:
    async def test_reuses_the_answer_of_the_model_that_gave_it(
        self, engine: ExecutionBackend, database: Database, first: OpenAIServer, second: OpenAIServer, tmp_path: Path
    ) -> None:
        first.script(first.overloaded())
        second.script(
            second.tool_call("book", {"what": "hotel"}), second.error(400, "Not today."), second.text("It is booked.")
        )
        flow = make_flow(
            {"start": "Start", "agent": "Agent", "book": "Book", "end": "Echo"},
            ["start.text -> agent.input", "book.tool -> agent.tools", "agent.response -> end.input"],
            agent={"model": chain(second), "instructions": "Book what is asked for."},
            book={"path": str(tmp_path / "bookings")},
        )
        request = await ran(database, engine, flow)
        assert (await run_row(database, request.key.run_id)).status == "failed"
        await execute(database, "DELETE FROM host_circuits")
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "It is booked."
        assert (len(first.asked), len(second.asked)) == (1, 3)
        assert bookings(tmp_path) == ["hotel"]


def _failing(server: OpenAIServer, failure: str) -> Script | Reply:
    match failure:
        case "rate_limited":
            return server.rate_limited(30)
        case "no_such_model":
            return server.no_such_model("gpt-5-mini")
        case "wrong_key":
            return server.wrong_key("Incorrect API key provided.")
        case "slow":
            return server.slow(5)
        case "bad":
            return server.error(400, "Unknown parameter: 'x'.")
        case "filter":
            return server.error(400, "The response was filtered.", code="content_filter")
        case _:
            reply: Script | Reply = getattr(server, failure)()
            return reply
