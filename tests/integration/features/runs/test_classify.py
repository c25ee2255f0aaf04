"""Classify in a run: one branch continues with the value, the others are skipped, and the decision is evidence."""

from dataclasses import replace
from typing import Any

import pytest

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, HttpSettings, Settings
from tests.integration.features.runs.conformance import over, value_of
from tests.support.agents import AGENT_COMPONENTS, MODEL, ServerModels
from tests.support.engine import make_flow, make_services, new_run, on_disk, store_flow
from tests.support.openai_server import OpenAIServer
from tests.support.rows import step_rows


@pytest.fixture
async def engine(database: Database, settings: Settings, openai: OpenAIServer) -> Any:
    services = make_services(
        database, components=AGENT_COMPONENTS, engine=EngineSettings(), files=on_disk(database, settings)
    )
    models = ServerModels(openai.base_url, HttpSettings(allowed_internal_cidrs=["127.0.0.0/8"]))
    backend = build_engine(settings, database, replace(services, chat_models=models))
    await backend.open()
    yield backend
    await backend.close()


class TestClassify:
    @pytest.mark.parametrize(
        ("label", "confidence", "way"),
        [("Refund request", 0.8, "refund_request"), ("Refund request", 0.2, "otherwise"), (None, 1, "otherwise")],
    )
    async def test_one_branch_continues_with_the_value(
        self,
        engine: ExecutionBackend,
        database: Database,
        openai: OpenAIServer,
        *,
        label: str | None,
        confidence: float,
        way: str,
    ) -> None:
        openai.script(openai.structured({"label": label or "none_of_these", "confidence": confidence}))
        flow = make_flow(
            {"start": "Start", "topic": "Classify", "one": "Echo", "rest": "Echo", "seen": "Echo"},
            [
                *("start.text -> topic.value", "topic.refund_request -> one.input", "topic.otherwise -> rest.input"),
                "topic.decision -> seen.input",
            ],
            topic={"model": MODEL, "labels": ["Refund request: wants money", "fault"], "min_confidence": 0.5},
        )
        request = new_run(await store_flow(database, flow, AGENT_COMPONENTS), "my money")
        await engine.start(request)
        await over(engine, request.key.run_id)
        rows = await step_rows(database, request.key.run_id)
        decision = {"label": label, "confidence": confidence, "output": way}
        assert value_of(rows["topic"], "decision") == decision
        assert decision in [line.get("details") for line in rows["topic"].log], "also where nothing is connected"
        taken, skipped = ("one", "rest") if way == "refund_request" else ("rest", "one")
        assert (rows[taken].status, rows[skipped].status) == ("completed", "skipped")
        assert value_of(rows[taken]) == "my money"
        assert "wants money" in rows["topic"].effective_prompt
