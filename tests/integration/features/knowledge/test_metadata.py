"""Metadata of documents, and searches that are filtered by it, before anything is ranked."""

from typing import Any

import httpx2
import pytest

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import DocumentChange, Readers
from headgate.features.knowledge.metadata.rows import list_fields
from headgate.features.knowledge.search.schemas import SearchIn
from headgate.features.knowledge.service import get_base
from headgate.foundation.database import Database
from tests.integration.features.knowledge.conftest import API, Knowledge
from tests.support.knowledge import BagEmbedder, Shelf, member, open_shelf

pytestmark = pytest.mark.both_databases

VALUES: dict[str, dict[str, Any]] = {
    "hr.md": {"team": "hr", "year": 2024, "due": "2026-01-31", "draft": True},
    "it.md": {"team": "it", "year": 2025.5, "due": "2026-01-31T18:00:00Z", "draft": False},
    "law.md": {"team": "1", "year": "2026"},
    "bare.md": {},
}
ALL = set(VALUES)
MATCHES: list[tuple[dict[str, Any], set[str]]] = [
    ({"key": "team", "equals": "hr"}, {"hr.md"}),
    ({"key": "team", "equals": "HR"}, set()),
    ({"key": "team", "in": ["hr", "it"]}, {"hr.md", "it.md"}),
    ({"key": "team", "equals": 1}, set()),
    ({"key": "year", "at_least": 2024, "at_most": 2025}, {"hr.md"}),
    ({"key": "year", "at_least": 2025}, {"it.md"}),
    ({"key": "year", "equals": 2024.0}, {"hr.md"}),
    ({"key": "due", "equals": "2026-01-31"}, {"hr.md", "it.md"}),
    ({"key": "due", "at_most": "2026-01-31"}, {"hr.md", "it.md"}),
    ({"key": "due", "at_least": "2026-01-31T12:00:00+01:00"}, {"it.md"}),
    ({"key": "draft", "equals": True}, {"hr.md"}),
    ({"key": "draft", "equals": 1}, set()),
    ({"key": "team", "exists": False}, {"bare.md"}),
    ({"key": "draft", "exists": True}, {"hr.md", "it.md"}),
    ({"key": "nothing", "exists": False}, ALL),
]
HOSTILE = ["'; DROP TABLE knowledge_metadata; --", "%", "_", '" OR 1=1', "\\", "e\u0301", "🙂" * 100]
REFUSED: list[dict[str, Any]] = [
    {"key": "team"}, {"key": "team", "equals": "hr", "exists": True}, {"key": "year", "at_least": "abc"},
    {"key": "year", "at_least": 1, "at_most": "2026-01-31"}, {"key": "year", "equals": 1e300},
    {"key": "team' --", "equals": "x"}, {"key": "", "exists": True}, {"key": "team", "in": []},
    {"key": "team", "equals": "a\u0000b"}, {"key": "team", "equals": ["hr"]}, {"key": "team", "like": "%"},
]  # fmt: skip


async def filled(knowledge: Knowledge) -> str:
    base = await knowledge.base()
    for name, values in VALUES.items():
        await knowledge.add(base, name, f"The allowance of {name}.", metadata=values)
    return base


async def names(knowledge: Knowledge, base: str, *filters: dict[str, Any]) -> set[str]:
    return {hit["document"] for hit in await knowledge.search(base, "allowance", filters=list(filters))}


class TestFilters:
    async def test_limit_a_search_to_documents_with_that_metadata(self, knowledge: Knowledge) -> None:
        base = await filled(knowledge)
        for condition, expected in MATCHES:
            assert await names(knowledge, base, condition) == expected, condition
        assert await names(knowledge, base, {"key": "year", "at_least": 2024}, {"key": "draft", "equals": False}) == {
            "it.md"
        }

    async def test_that_are_not_understood_are_refused(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        for condition in REFUSED:
            answer = await knowledge.client.post(f"{API}/{base}/search", json={"query": "x", "filters": [condition]})
            assert answer.status_code == 422, condition

    async def test_compare_hostile_texts_as_they_are(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        for number, value in enumerate(HOSTILE):
            await knowledge.add(base, f"{number}.md", "The allowance.", metadata={"word": value})
        for number, value in enumerate(HOSTILE):
            hits = await knowledge.search(base, "allowance", filters=[{"key": "word", "equals": value}])
            assert [hit["document"] for hit in hits] == [f"{number}.md"]

    async def test_are_met_before_passages_are_ranked(self, database: Database, tmp_path: Any) -> None:
        shelf = open_shelf(database, tmp_path, BagEmbedder())
        async with shelf.jobs.running():
            await shelf.make_base(embedding_model="openai/text-embedding-3-small")
            for number in range(70):
                await shelf.add(f"{number}.md", "allowance allowance allowance")
            last = await shelf.add("last.md", "A long text about chairs, tables, lamps, and one allowance.")
            await shelf.indexer.settle()
            await change(shelf, last, {"team": "hr"})
            for mode in ("lexical", "vector", "hybrid"):
                search_in = SearchIn.model_validate(
                    {"query": "allowance", "mode": mode, "filters": [{"key": "team", "equals": "hr"}]}
                )
                answer = await shelf.searcher.search_as(LOCAL, shelf.base_id, search_in)
                assert [hit.document for hit in answer.hits] == ["last.md"], mode
                assert answer.hits[0].score == 1.0


async def change(shelf: Shelf, document_id: str, metadata: dict[str, Any]) -> None:
    async with shelf.database.writing() as session:
        body = DocumentChange(metadata=metadata)
        await documents.change_document(session, LOCAL, shelf.base_id, document_id, body)


class TestFields:
    async def test_are_listed_with_their_types_and_values(self, knowledge: Knowledge) -> None:
        base = await filled(knowledge)
        listed = (await knowledge.client.get(f"{API}/{base}/metadata")).json()
        kinds = [(item["key"], item["kind"], item["documents"]) for item in listed]
        assert kinds == [
            ("draft", "boolean", 2), ("due", "date", 2), ("team", "text", 3), ("year", "number", 2),
            ("year", "text", 1),
        ]  # fmt: skip
        assert listed[2]["values"] == ["1", "hr", "it"]

    async def test_of_documents_that_may_not_be_read_are_not_shown(self, database: Database, tmp_path: Any) -> None:
        shelf = open_shelf(database, tmp_path)
        async with shelf.jobs.running():
            await shelf.make_base()
            hidden = await shelf.add("hidden.md", "x", readers=Readers(role="owner"))
            shown = await shelf.add("shown.md", "x")
            await change(shelf, hidden, {"team": "secret", "codename": "x"})
            await change(shelf, shown, {"team": "open"})
            viewer = member("11111111-1111-7111-8111-111111111111", Role.VIEWER)
            async with database.reading() as session:
                listed = await list_fields(session, viewer, await get_base(session, viewer, shelf.base_id))
            assert [(item.key, item.values, item.documents) for item in listed] == [("team", ["open"], 1)]


class TestMetadata:
    async def test_is_kept_replaced_and_removed(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        first = await knowledge.add(base, "a.md", "One.", metadata={"team": "hr", "year": 2024})
        second = await knowledge.add(base, "a.md", "Two.")
        assert (second["version"], second["metadata"]) == (2, {"team": "hr", "year": 2024})
        address = f"{API}/{base}/documents/{first['id']}"
        changed = await knowledge.client.patch(address, json={"metadata": {"team": "it"}})
        assert changed.json()["metadata"] == {"team": "it"}
        assert (await knowledge.client.patch(address, json={"classification": 1})).json()["metadata"] == {"team": "it"}
        assert (await knowledge.client.patch(address, json={"metadata": {}})).json()["metadata"] == {}
        assert (await knowledge.client.get(f"{API}/{base}/metadata")).json() == []
        log = await knowledge.client.get("/api/v1/audit")
        assert "'team': 'it'" in str(log.json())

    @pytest.mark.parametrize("values", [{f"k{number}": 1 for number in range(51)}, {"a b": 1}, {"a": "x" * 501}])
    async def test_is_bounded(self, knowledge: Knowledge, client: httpx2.AsyncClient, values: dict[str, Any]) -> None:
        base = await knowledge.base()
        body = {"file_id": await knowledge.upload("a.md", "x"), "metadata": values}
        assert (await client.post(f"{API}/{base}/documents", json=body)).status_code == 422


class TestAnswer:
    async def test_says_why_it_is_by_words_only(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        for mode, reason in ((None, "no_model"), ("lexical", "chosen")):
            answer = await knowledge.client.post(f"{API}/{base}/search", json={"query": "x", "mode": mode})
            assert (answer.json()["words_only"], answer.json()["vector_recall"]) == (reason, None)
