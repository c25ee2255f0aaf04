"""Reranked searches of flows and of the API, over the wire: budgets, evidence, failures, classifications."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import text

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import LOCAL
from headgate.features.models.local.conversion import convert
from headgate.features.models.local.store import default_models_dir, use_file
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import ClassificationSettings, Settings
from tests.integration.features.knowledge.conftest import API, HANDBOOK, Knowledge
from tests.integration.features.knowledge.test_runs import ANSWER, run
from tests.integration.http.conftest import created
from tests.support import scripted_bert
from tests.support.rerank_server import RerankServer
from tests.support.scripted_server import json_reply

RETRIEVE = """name: Find
nodes:
  ask: ChatInput
  reply: Retrieve
    base: Handbooks
    policy:
      output_classification_override: 3
  out: ChatOutput
edges:
  ask.text -> reply.query
  reply.text -> out.input
"""

RANKED = """name: Order
nodes:
  ask: ChatInput
  reply: Rerank
    items: |-
      a blue house
      a red bus
      a red car
    model: openai/rerank-v1
    limit: 2
  out: ChatOutput
edges:
  ask.text -> reply.query
  reply.text -> out.input
"""


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


@pytest.fixture
def classification() -> ClassificationSettings:
    return ClassificationSettings()


@pytest.fixture
async def app(
    settings: Settings, server: RerankServer, classification: ClassificationSettings
) -> AsyncIterator[FastAPI]:
    made = create_app(settings.model_copy(update={"classification": classification}))
    async with made.router.lifespan_context(made):
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", "sk-test-0123456789"), ("OPENAI_BASE_URL", server.base_url)):
                await secrets.set_variable(session, LOCAL, made.state.box, name=name, value=SecretStr(value))
        yield made


class TestReranking:
    async def test_is_charged_to_the_budget_and_is_in_the_evidence(
        self, knowledge: Knowledge, app: FastAPI, server: RerankServer
    ) -> None:
        base = await knowledge.base(rerank_model="openai/rerank-v1", rerank_candidates=5)
        server.texts.clear()
        await knowledge.add(base, "handbook.md", HANDBOOK)
        server.script(server.text("The daily allowance in Lisbon is 68 EUR [1].", tokens=(7, 3)))
        flow = await created(knowledge.client, ANSWER)
        body = {"text": "Which allowance in Lisbon?", "version": "draft", "wait": True, "budget": {"tokens": 9_000}}
        answer = await knowledge.client.post(f"/api/v1/flows/{flow['id']}/runs", json=body)
        assert answer.json()["status"] == "completed", answer.text
        step = (await knowledge.client.get(f"/api/v1/flow-runs/{answer.json()['id']}/steps/reply")).json()
        (call,) = step["tool_calls"]
        first = call["result"][0]
        assert (call["arguments"]["rerank_model"], first["rerank_model"]) == ("openai/rerank-v1", "openai/rerank-v1")
        assert (first["first_rank"], "problem" in call["arguments"]) == (1, False)
        assert first["rerank_score"] is not None
        assert server.texts
        async with app.state.database.reading() as session:
            used = (await session.execute(text("SELECT used FROM budget_accounts WHERE subject LIKE 'run:%'"))).all()
        assert [row[0] for row in used] == [7 + 3 + sum(len(content.split()) for content in server.texts)]

    async def test_that_fails_keeps_the_order_and_says_so_or_fails_when_it_is_required(
        self, knowledge: Knowledge, server: RerankServer
    ) -> None:
        base = await knowledge.base(rerank_model="openai/rerank-v1")
        await knowledge.add(base, "handbook.md", HANDBOOK)
        server.broken = json_reply({"error": {"message": "overloaded"}}, status=503)
        server.script(server.text("The daily allowance in Lisbon is 68 EUR [1]."))
        done, steps = await run(knowledge.client, ANSWER, "Which allowance in Lisbon?")
        assert done["status"] == "completed", done
        (call,) = steps["reply"]["tool_calls"]
        assert call["arguments"]["problem"].startswith("Not reranked: ")
        assert "overloaded" in call["arguments"]["problem"]
        assert (call["result"][0]["rerank_score"], "rerank_model" in call["arguments"]) == (None, False)
        sent = len(server.asked)
        off, _ = await run(knowledge.client, ANSWER.replace("    model:", "    rerank: off\n    model:"), "Lisbon?")
        assert off["status"] == "completed"
        assert not any(asked.path.endswith("/rerank") for asked in server.asked[sent:])
        required = ANSWER.replace("    model:", "    rerank: required\n    model:")
        refused, steps = await run(knowledge.client, required, "Lisbon?")
        assert refused["status"] == "failed"
        assert "overloaded" in steps["reply"]["error"]["message"]

    async def test_model_is_tested_when_it_is_chosen(
        self, knowledge: Knowledge, app: FastAPI, server: RerankServer
    ) -> None:
        base = await knowledge.base()
        server.broken = json_reply({"error": {"message": "no such model"}}, status=404)
        change = {"rerank_model": "openai/rerank-v1"}
        assert (await knowledge.client.patch(f"{API}/{base}", json=change)).status_code == 502
        assert (await knowledge.client.post(API, json={"name": "B", **change})).status_code == 502
        server.broken = None
        changed = await knowledge.client.patch(f"{API}/{base}", json={**change, "rerank_candidates": 7})
        assert (changed.json()["rerank_model"], changed.json()["rerank_candidates"]) == ("openai/rerank-v1", 7)
        required = await knowledge.client.post(f"{API}/{base}/search", json={"query": "x", "rerank": True})
        assert required.status_code == 200, "nothing matches: no model is asked"


class TestRerankStep:
    async def test_orders_texts_and_is_charged_to_the_budget(
        self, knowledge: Knowledge, app: FastAPI, server: RerankServer
    ) -> None:
        flow = await created(knowledge.client, RANKED)
        body = {"text": "red car", "version": "draft", "wait": True, "budget": {"tokens": 9_000}}
        answer = await knowledge.client.post(f"/api/v1/flows/{flow['id']}/runs", json=body)
        assert answer.json()["status"] == "completed", answer.text
        assert answer.json()["text"] == "a red car\n\na red bus"
        assert server.texts == ["a blue house", "a red bus", "a red car"]
        async with app.state.database.reading() as session:
            used = (await session.execute(text("SELECT used FROM budget_accounts WHERE subject LIKE 'run:%'"))).all()
        assert [row[0] for row in used] == [sum(len(content.split()) for content in server.texts)]

    async def test_fails_when_the_model_does(self, knowledge: Knowledge, server: RerankServer) -> None:
        server.broken = json_reply({"error": {"message": "overloaded"}}, status=503)
        done, steps = await run(knowledge.client, RANKED, "red car")
        assert done["status"] == "failed"
        assert "overloaded" in steps["reply"]["error"]["message"]


class TestLocalModel:
    @pytest.fixture(autouse=True)
    def before_the_server_starts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    async def test_reranks_searches_on_the_server_itself(
        self, knowledge: Knowledge, server: RerankServer, tmp_path: Path
    ) -> None:
        weights, vocabulary = scripted_bert.write_published(tmp_path, scripted_bert.make_tensors())
        convert(weights, vocabulary, tmp_path / "made.gguf", "made")
        scripted_bert.write_reranker(tmp_path / "made.gguf", tmp_path / "ranks.gguf")
        use_file(default_models_dir(), tmp_path / "ranks.gguf", "ranks")
        base = await knowledge.base(rerank_model="local/ranks")
        await knowledge.add(base, "garage.md", "Each car of the garage has a holiday.")
        await knowledge.add(base, "leave.md", "The days of holiday.")
        found = await knowledge.client.post(f"{API}/{base}/search", json={"query": "holiday", "rerank": True})
        assert (found.status_code, found.json()["rerank_model"]) == (200, "local/ranks"), found.text
        scores = [hit["rerank_score"] for hit in found.json()["hits"]]
        assert (len(scores), scores) == (2, sorted(scores, reverse=True))
        assert server.asked == []


class TestClearance:
    @pytest.fixture
    def classification(self) -> ClassificationSettings:
        return ClassificationSettings(enabled=True)

    @pytest.fixture
    async def base(self, knowledge: Knowledge, server: RerankServer) -> str:
        base = await knowledge.base(rerank_model="openai/rerank-v1")
        server.texts.clear()
        await knowledge.add(base, "open.md", "The allowance in Lisbon is 68 EUR.", classification=0)
        await knowledge.add(base, "secret.md", "The secret allowance in Lisbon is 99 EUR.", classification=3)
        level = await knowledge.client.put("/api/v1/model-classes/openai/rerank-v1", json={"level": 2})
        assert level.status_code == 200, level.text
        return base

    async def test_keeps_passages_of_a_search_from_the_model(
        self, knowledge: Knowledge, server: RerankServer, base: str
    ) -> None:
        hits = await knowledge.search(base, "allowance in Lisbon")
        assert {hit["document"]: hit["rerank_score"] is None for hit in hits} == {"open.md": False, "secret.md": True}
        assert server.texts == ["The allowance in Lisbon is 68 EUR."]

    @pytest.mark.usefixtures("base")
    async def test_keeps_passages_that_a_step_may_read_from_the_model(
        self, knowledge: Knowledge, server: RerankServer
    ) -> None:
        done, steps = await run(knowledge.client, RETRIEVE, "allowance in Lisbon")
        assert done["status"] == "completed", done
        (call,) = steps["reply"]["tool_calls"]
        scores = {found["document"]: found["rerank_score"] is None for found in call["result"]}
        assert scores == {"open.md": False, "secret.md": True}
        assert "1 of 2 passages are classified above openai/rerank-v1" in call["arguments"]["problem"]
        assert server.texts == ["The allowance in Lisbon is 68 EUR."]

    @pytest.mark.usefixtures("base")
    async def test_sends_nothing_when_the_question_is_above_it(
        self, knowledge: Knowledge, server: RerankServer
    ) -> None:
        spec = RETRIEVE.replace("nodes:", "settings:\n  input_classification: 3\nnodes:", 1)
        done, steps = await run(knowledge.client, spec, "allowance in Lisbon")
        assert done["status"] == "completed", done
        (call,) = steps["reply"]["tool_calls"]
        assert "was not called" in call["arguments"]["problem"]
        assert (len(call["result"]), server.texts) == (2, [])
