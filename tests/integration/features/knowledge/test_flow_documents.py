"""Documents that flows add to a knowledge base, and texts that they embed, over the wire."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import text

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import ClassificationSettings, Settings
from tests.integration.features.knowledge.conftest import API, Knowledge
from tests.integration.http.conftest import created
from tests.support.embedding_server import Embeddings
from tests.support.openai_server import OpenAIServer

FILL = """name: Fill
settings:
  input_classification: 2
nodes:
  ask: ChatInput
  parts: ParseJSON
  reply: IndexDocuments
    base: Handbooks
    name: reports/{item.id}
    metadata: {"team": "sales", "due": "2026-01-31"}
  out: ChatOutput
edges:
  ask.text -> parts.text
  parts.data -> reply.documents
  reply.report -> out.input
"""
FILES = """name: Files
nodes:
  files: FileInput
  reply: IndexDocuments
    base: Handbooks
    readers: nobody
  out: ChatOutput
edges:
  files.files -> reply.documents
  reply.report -> out.input
"""
EMBED = """name: Vectors
nodes:
  ask: ChatInput
  reply: Embed
    model: openai/text-embedding-3-small
  out: ChatOutput
edges:
  ask.text -> reply.items
  reply.vectors -> out.input
"""
TWO = '[{"id": 1, "text": "Lisbon costs 68 EUR."}, {"id": 2, "text": "Oslo costs 74 EUR.", "metadata": {"year": 2026}}]'


@pytest.fixture
def classification() -> ClassificationSettings:
    return ClassificationSettings()


@pytest.fixture
async def app(
    settings: Settings, openai: OpenAIServer, classification: ClassificationSettings
) -> AsyncIterator[FastAPI]:
    made = create_app(settings.model_copy(update={"classification": classification}))
    async with made.router.lifespan_context(made):
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", "sk-test-0123456789"), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(session, LOCAL, made.state.box, name=name, value=SecretStr(value))
        yield made


async def run(client: httpx2.AsyncClient, flow: dict[str, Any], **body: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The run, and its step `reply`."""
    answer = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"version": "draft", "wait": True, **body})
    assert answer.status_code == 201, answer.text
    step = await client.get(f"/api/v1/flow-runs/{answer.json()['id']}/steps/reply")
    return answer.json(), step.json()


async def listed(knowledge: Knowledge, base: str) -> dict[str, dict[str, Any]]:
    """Documents of a base by name."""
    answer = await knowledge.client.get(f"{API}/{base}/documents")
    return {item["name"]: item for item in answer.json()["items"]}


class TestIndexDocuments:
    @pytest.fixture
    def classification(self) -> ClassificationSettings:
        return ClassificationSettings(enabled=True)

    async def test_adds_texts_once_with_metadata_and_the_classification_of_the_run(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        flow = await created(knowledge.client, FILL)
        done, step = await run(knowledge.client, flow, text=TWO)
        assert done["status"] == "completed", done
        report = json.loads(done["text"])
        assert (report["added"], report["passages"], report["problems"]) == (2, 2, [])
        first, second = (await listed(knowledge, base)).values()
        assert (first["name"], second["name"]) == ("reports/2", "reports/1")
        assert first["metadata"] == {"team": "sales", "due": "2026-01-31", "year": 2026}
        assert (first["classification"], first["source"], first["status"]) == (2, f"flow {flow['id']}", "ready")
        assert [call["name"] for call in step["tool_calls"]] == ["knowledge.add", "knowledge.add"]
        assert step["tool_calls"][0]["result"]["sha256"] in {first["sha256"], second["sha256"]}
        again, _ = await run(knowledge.client, flow, text=TWO.replace("74", "75"))
        report = json.loads(again["text"])
        assert (report["changed"], report["unchanged"], report["added"]) == (1, 1, 0)
        documents = await listed(knowledge, base)
        assert (documents["reports/1"]["version"], documents["reports/2"]["version"]) == (1, 2)
        assert documents["reports/1"]["updated_at"] == second["updated_at"], "it was not indexed again"
        hits = await knowledge.search(base, "costs", filters=[{"key": "year", "at_least": 2026}])
        assert [hit["text"].strip() for hit in hits] == ["Oslo costs 75 EUR."]

    async def test_replaces_no_document_of_another_source(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        file_id = await knowledge.upload("kept.md", "The handbook of the office.")
        body = {"file_id": file_id, "name": "reports/1"}
        assert (await knowledge.client.post(f"{API}/{base}/documents", json=body)).status_code == 201
        done, _ = await run(knowledge.client, await created(knowledge.client, FILL), text=TWO)
        assert done["status"] == "completed", done
        report = json.loads(done["text"])
        assert (report["failed"], report["added"]) == (1, 1)
        assert report["problems"][0]["document"] == "reports/1"
        assert "is not of this flow" in report["problems"][0]["problem"]
        assert (await listed(knowledge, base))["reports/1"]["version"] == 1

    async def test_reads_files_and_says_what_was_not_understood(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        ids = [await knowledge.upload("a.md", "Lisbon costs 68 EUR."), await knowledge.upload("b.pdf", b"%PDF-1.7 no")]
        done, _ = await run(knowledge.client, await created(knowledge.client, FILES), file_ids=ids)
        assert done["status"] == "completed", done
        report = json.loads(done["text"])
        assert (report["added"], report["failed"], report["problems"][0]["document"]) == (1, 1, "b.pdf")
        document = (await listed(knowledge, base))["a.md"]
        assert (document["readers"]["role"], document["owner_user_id"]) == (None, LOCAL.user_id)

    async def test_adds_nothing_without_a_base_or_a_name(self, knowledge: Knowledge) -> None:
        flow = await created(knowledge.client, FILL)
        done, step = await run(knowledge.client, flow, text=TWO)
        assert (done["status"], "no knowledge base 'Handbooks'" in step["error"]["message"]) == ("failed", True)
        base = await knowledge.base()
        _, step = await run(knowledge.client, flow, text='[{"id": 1}, {"id": 1}]')
        assert "document 2 has the name 'reports/1'" in step["error"]["message"]
        assert len(await listed(knowledge, base)) <= 1


class TestEmbed:
    async def test_turns_texts_into_vectors_once_and_is_charged_to_the_budget(
        self, knowledge: Knowledge, app: FastAPI, openai: OpenAIServer
    ) -> None:
        vectors = Embeddings()
        openai.sort = vectors.answer
        flow = await created(knowledge.client, EMBED)
        done, step = await run(knowledge.client, flow, text="a red car\na blue house", budget={"tokens": 10_000})
        assert done["status"] == "completed", done
        assert [len(vector) for vector in json.loads(done["text"])] == [256, 256]
        assert (vectors.texts, vectors.models) == (["a red car", "a blue house"], ["text-embedding-3-small"] * 2)
        assert step["tokens_input"] == 6
        async with app.state.database.reading() as session:
            used = (await session.execute(text("SELECT used FROM budget_accounts WHERE subject LIKE 'run:%'"))).all()
        assert [row[0] for row in used] == [6]
        refused, step = await run(knowledge.client, flow, text="a red car", budget={"tokens": 1})
        assert (refused["status"], len(vectors.texts)) == ("failed", 2)
