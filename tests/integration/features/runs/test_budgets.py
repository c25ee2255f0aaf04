"""Budgets of runs and of flows per day: what would exceed them is not called, whatever runs at the same time."""

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from headgate.features.runs.budgets.accounts import Account, BudgetScope, Kind
from headgate.features.runs.budgets.errors import BudgetExceeded
from headgate.features.runs.budgets.service import Budgets
from headgate.features.runs.budgets.tables import budget_accounts
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.engine.build import build_engine
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, HttpSettings, Settings
from headgate.graph.model import Budget, Flow, FlowSettings, RetryPolicy
from tests.integration.features.runs.conformance import over, until
from tests.support.agents import AGENT_COMPONENTS, ServerModels
from tests.support.engine import GivenFacts, make_flow, make_services, new_run, on_disk, publish, store_flow
from tests.support.openai_server import OpenAIServer
from tests.support.rows import child_rows, run_row, step_rows
from tests.support.scripted_server import Hold

MODEL = {"provider": "openai", "name": "gpt-5-mini", "params": {"max_retries": 0, "max_tokens": 50}}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def engine(database: Database, settings: Settings, server: OpenAIServer) -> Any:
    services = make_services(
        database, components=AGENT_COMPONENTS, engine=EngineSettings(), files=on_disk(database, settings)
    )
    models = ServerModels(server.base_url, HttpSettings(allowed_internal_cidrs=["127.0.0.0/8"]))
    backend = build_engine(settings, database, replace(services, chat_models=models))
    await backend.open()
    yield backend
    await backend.close()


def asking(steps: int = 1, model: dict[str, Any] | None = None, **settings: Any) -> Flow:
    """Steps that ask a model, one after the other."""
    names = [f"ask{number}" for number in range(steps)]
    flow = make_flow(
        dict.fromkeys(names, "AIStep"),
        [f"{a}.output -> {b}.input" for a, b in itertools.pairwise(names)],
        **{name: {"model": model or MODEL, "prompt": "Say it"} for name in names},
    )
    return flow.model_copy(update={"settings": FlowSettings(**settings)})


async def ran(database: Database, engine: ExecutionBackend, flow: Flow, **start: Any) -> RunRequest:
    request = new_run(await store_flow(database, flow, AGENT_COMPONENTS), "Hello", **start)
    await engine.start(request)
    await over(engine, request.key.run_id)
    return request


async def used(database: Database) -> dict[tuple[str, str], int]:
    """Scope and kind to what is used."""
    async with database.reading() as session:
        rows = await session.execute(select(budget_accounts))
        return {(row.subject.partition(":")[0], row.kind): row.used for row in rows}


class TestTokens:
    async def test_the_call_that_would_exceed_them_is_not_made(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        server.script(server.text("One.", tokens=(60, 40)), server.text("Two.", tokens=(60, 40)))
        request = await ran(database, engine, asking(3, run_budget=Budget(tokens=160)))
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code, len(server.asked)) == ("failed", "budget_exceeded", 1)
        assert "The run's budget is 160 tokens. 100 are used" in row.error_message
        assert (await used(database))["run", "tokens"] == 100

    async def test_the_estimate_is_replaced_by_what_was_counted(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        server.script(server.text("One.", tokens=(10, 5)))
        request = await ran(database, engine, asking(run_budget=Budget(tokens=1000)))
        assert (await run_row(database, request.key.run_id)).status == "completed"
        assert (await used(database))["run", "tokens"] == 15

    async def test_a_call_that_is_refused_costs_nothing(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        server.script(server.overloaded())
        await ran(database, engine, asking(run_budget=Budget(tokens=1000)))
        assert (await used(database))["run", "tokens"] == 0

    async def test_without_a_known_answer_the_next_call_is_refused(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        server.script(server.text("One.", tokens=(60, 400)))
        model = {**MODEL, "params": {"max_retries": 0}}
        request = await ran(database, engine, asking(2, model, run_budget=Budget(tokens=200)))
        assert (await run_row(database, request.key.run_id)).error_code == "budget_exceeded"
        assert len(server.asked) == 1
        assert (await used(database))["run", "tokens"] == 460

    async def test_are_the_lower_ones_of_the_flow_and_of_the_start(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        flow = asking(run_budget=Budget(tokens=100_000))
        request = await ran(database, engine, flow, budget=Budget(tokens=20))
        row = await run_row(database, request.key.run_id)
        assert (row.error_code, len(server.asked)) == ("budget_exceeded", 0)
        assert "budget is 20 tokens" in row.error_message

    async def test_are_not_retried_whatever_the_policy_says(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        retry = RetryPolicy(max_attempts=3, delay_seconds=0, codes=("*",))
        request = await ran(database, engine, asking(run_budget=Budget(tokens=1), retry=retry))
        assert (await step_rows(database, request.key.run_id))["ask0"].attempts == 1


class TestMoney:
    async def test_is_charged_at_the_models_price(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        server.script(server.text("One.", tokens=(100, 10)))
        await ran(database, engine, asking(run_budget=Budget(usd=1)))
        assert (await used(database))["run", "usd"] == 100 * 10 + 10 * 20

    async def test_stops_before_the_call(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        request = await ran(database, engine, asking(run_budget=Budget(usd=0.0005)))
        row = await run_row(database, request.key.run_id)
        assert (row.error_code, len(server.asked)) == ("budget_exceeded", 0)
        assert "The run's budget is 0.0005 US dollars" in row.error_message

    async def test_refuses_a_model_without_a_price(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        model = {**MODEL, "name": "unpriced"}
        request = await ran(database, engine, asking(1, model, run_budget=Budget(usd=1)))
        row = await run_row(database, request.key.run_id)
        assert (row.error_code, len(server.asked)) == ("price_unknown", 0)
        assert "Settings, Models" in row.error_message


class TestTime:
    async def test_ends_a_step_that_takes_longer(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow({"gate": "Gate"}, gate={"folder": str(tmp_path)})
        flow = flow.model_copy(update={"settings": FlowSettings(run_budget=Budget(seconds=0.3))})
        request = await ran(database, engine, flow)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "budget_exceeded")
        assert "0.3 seconds of execution time" in row.error_message
        assert (await used(database))["run", "seconds"] == 300

    async def test_that_a_step_did_not_use_is_given_back(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        server.script(server.text("One."))
        await ran(database, engine, asking(run_budget=Budget(seconds=60)))
        assert (await used(database))["run", "seconds"] < 4_000


class TestDays:
    async def test_runs_of_a_flow_share_the_budget_of_a_day(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        server.script(*[server.text("One.", tokens=(60, 40))] * 3)
        version = await store_flow(database, asking(daily_budget=Budget(tokens=250)), AGENT_COMPONENTS)
        requests = [new_run(version) for _ in range(3)]
        for request in requests:
            await engine.start(request)
            await over(engine, request.key.run_id)
        codes = [(await run_row(database, request.key.run_id)).error_code for request in requests]
        assert (codes, len(server.asked)) == ([None, None, "budget_exceeded"], 2)
        message = (await run_row(database, requests[2].key.run_id)).error_message
        assert "The flow's budget for today (UTC) is 250 tokens. 200 are used" in message


class TestSubflows:
    async def test_charge_the_budgets_of_the_run_that_starts_them(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        server.script(*[server.text("One.", tokens=(60, 40))] * 3)
        child = await publish(database, await store_flow(database, asking(2), AGENT_COMPONENTS))
        flow = make_flow(
            {"start": "Start", "call": "RunFlow"}, ["start.text -> call.text"], call={"flow": child.flow_id}
        ).model_copy(update={"settings": FlowSettings(run_budget=Budget(tokens=150), daily_budget=Budget(tokens=9000))})
        request = await ran(database, engine, flow)
        row = await run_row(database, request.key.run_id)
        (below,) = await child_rows(database, request.key.run_id)
        assert (row.error_code, below.error_code, len(server.asked)) == ("budget_exceeded", "budget_exceeded", 1)
        amounts = await used(database)
        assert (amounts["run", "tokens"], amounts["flow", "tokens"]) == (100, 100)


class TestAtTheSameTime:
    async def test_charges_never_exceed_an_account(self, database: Database, engine: ExecutionBackend) -> None:
        request = new_run(await store_flow(database, make_flow({"echo": "Start"})), budget=Budget(tokens=100))
        await engine.start(request)
        budgets = Budgets(database, GivenFacts())
        key = request.key
        accounts = (
            Account(BudgetScope.RUN, key.run_id, {Kind.TOKENS: 100}),
            Account(BudgetScope.DAY, key.flow_id, {Kind.TOKENS: 90}),
        )
        charged = await asyncio.gather(
            *(budgets.charge(key.tenant_id, accounts, {Kind.TOKENS: 20}) for _ in range(12)), return_exceptions=True
        )
        refused = [error for error in charged if isinstance(error, BudgetExceeded)]
        assert len(refused) == 8
        assert refused[0].extra["scope"] == "day"
        assert (refused[0].extra["used"], refused[0].extra["limit"]) == (80, 90)
        assert await used(database) == {("run", "tokens"): 80, ("flow", "tokens"): 80}


class TestModelSlots:
    async def test_a_step_waits_without_a_worker_until_the_model_has_a_free_slot(
        self, engine: ExecutionBackend, database: Database, server: OpenAIServer
    ) -> None:
        hold = Hold()
        server.script(server.held_text("One.", hold), server.text("Two."))
        version = await store_flow(database, asking(1, {**MODEL, "name": "single"}), AGENT_COMPONENTS)
        requests = [new_run(version) for _ in range(2)]
        for request in requests:
            await engine.start(request)

        async def statuses_of_steps() -> bool:
            rows = [(await step_rows(database, request.key.run_id))["ask0"] for request in requests]
            return sorted((row.status, row.waits_for) for row in rows) == [("running", None), ("waiting", "slot")]

        await until(statuses_of_steps)
        assert len(server.asked) == 1
        hold.release()
        for request in requests:
            await over(engine, request.key.run_id)
            assert (await run_row(database, request.key.run_id)).status == "completed"
        assert len(server.asked) == 2
