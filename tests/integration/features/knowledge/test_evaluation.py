"""Questions and evaluations of knowledge bases, through the API."""

from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import event, text

from headgate.features.access.principal import LOCAL
from headgate.features.knowledge.evaluation import evaluating, questions
from headgate.features.knowledge.evaluation.evaluating import Evaluator
from headgate.features.knowledge.evaluation.schemas import MOST_QUESTIONS, EvaluationIn, QuestionIn
from headgate.foundation.database import Database
from tests.integration.features.knowledge.conftest import API, HANDBOOK, Knowledge
from tests.support.knowledge import open_shelf

LEAVE = "How many days of holiday do employees have each year?"


class Evaluated:
    """A base with two documents, and the calls of its questions."""

    def __init__(self, knowledge: Knowledge, base: str, handbook: str, menu: str) -> None:
        self.client, self.base, self.handbook, self.menu = knowledge.client, base, handbook, menu

    async def add(
        self, question: str, *document_ids: str, status: int = 201, quote: str = "", **more: Any
    ) -> dict[str, Any]:
        body = {"question": question, "document_ids": document_ids, "quote": quote, **more}
        made = await self.client.post(f"{API}/{self.base}/questions", json=body)
        assert made.status_code == status, made.text
        found: dict[str, Any] = made.json()
        return found

    async def evaluate(self, status: int = 201, **body: Any) -> dict[str, Any]:
        made = await self.client.post(f"{API}/{self.base}/evaluations", json=body)
        assert made.status_code == status, made.text
        found: dict[str, Any] = made.json()
        return found

    async def get(self, path: str, status: int = 200) -> Any:
        read = await self.client.get(f"{API}/{self.base}/{path}")
        assert read.status_code == status, read.text
        return read.json()


def written(row: dict[str, Any]) -> list[dict[str, Any]]:
    """The filters of a question or evaluation, with their test only."""
    return [{name: value for name, value in item.items() if value is not None} for item in row["filters"]]


@pytest.fixture
async def evaluated(knowledge: Knowledge) -> Evaluated:
    base = await knowledge.base()
    handbook = await knowledge.add(base, "handbook.md", HANDBOOK)
    menu = await knowledge.add(base, "menu.md", "# Menu\n\nSoup on Monday, fish on Friday.")
    return Evaluated(knowledge, base, handbook["id"], menu["id"])


class TestQuestions:
    async def test_are_added_listed_and_deleted(self, evaluated: Evaluated) -> None:
        made = await evaluated.add(LEAVE, evaluated.handbook, evaluated.handbook)
        assert made["documents"] == [{"id": evaluated.handbook, "name": "handbook.md"}]
        assert await evaluated.get("questions") == [made]
        gone = await evaluated.client.delete(f"{API}/{evaluated.base}/questions/{made['id']}")
        assert gone.status_code == 204
        assert await evaluated.get("questions") == []
        again = await evaluated.client.delete(f"{API}/{evaluated.base}/questions/{made['id']}")
        assert again.json()["code"] == "knowledge_question_not_found"

    async def test_of_unknown_documents_are_refused(self, evaluated: Evaluated, knowledge: Knowledge) -> None:
        other = await knowledge.add(await knowledge.base("Other"), "other.md", "Elsewhere.")
        for document_id in (other["id"], "x" * 5000, ""):
            refused = await evaluated.add(LEAVE, document_id, status=404)
            assert refused["code"] == "knowledge_document_not_found"
        await evaluated.add(LEAVE, status=422)
        await evaluated.add("", evaluated.menu, status=422)
        assert await evaluated.get("questions") == []

    async def test_are_limited(self, evaluated: Evaluated, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("headgate.features.knowledge.evaluation.questions.MOST_QUESTIONS", 1)
        await evaluated.add(LEAVE, evaluated.handbook)
        refused = await evaluated.add(LEAVE, evaluated.handbook, status=409)
        assert refused["code"] == "too_many_knowledge_questions"
        assert MOST_QUESTIONS == 200

    async def test_of_a_file_are_added_once_all_or_none(self, evaluated: Evaluated) -> None:
        content = f"question,documents,quote,answer\n{LEAVE},handbook.md,27 days,27 days\nSoup?,menu.md,,\n"
        path = f"{API}/{evaluated.base}/questions/import"
        unknown = await evaluated.client.post(path, json={"content": f"{content}Where?,nowhere.md,,\n"})
        assert unknown.json()["code"] == "knowledge_document_not_found"
        assert await evaluated.get("questions") == []
        first = await evaluated.client.post(path, json={"content": content})
        assert first.status_code == 201, first.text
        assert [row["question"] for row in first.json()["added"]] == [LEAVE, "Soup?"]
        again = await evaluated.client.post(path, json={"content": content})
        assert again.json() == {"added": [], "skipped": 2}
        leave, _soup = await evaluated.get("questions")
        assert (leave["quote"], leave["answer"]) == ("27 days", "27 days")
        assert leave["documents"] == [{"id": evaluated.handbook, "name": "handbook.md"}]

    async def test_of_a_file_are_read_at_once(self, evaluated: Evaluated, app: FastAPI) -> None:
        reads: list[str] = []

        def note(*of: Any) -> None:
            if of[2].startswith("SELECT") and "knowledge_" in of[2]:
                reads.append(of[2])

        lines = "".join(f"Question {number}?,handbook.md;menu.md\n" for number in range(40))
        content = f"question,documents\n{lines}"
        event.listen(app.state.database.engine.sync_engine, "before_cursor_execute", note)
        try:
            made = await evaluated.client.post(f"{API}/{evaluated.base}/questions/import", json={"content": content})
        finally:
            event.remove(app.state.database.engine.sync_engine, "before_cursor_execute", note)
        assert len(made.json()["added"]) == 40
        assert len(reads) < 10

    async def test_of_deleted_documents_have_no_name(self, evaluated: Evaluated) -> None:
        await evaluated.add("Soup?", evaluated.menu)
        await evaluated.client.delete(f"{API}/{evaluated.base}/documents/{evaluated.menu}")
        assert (await evaluated.get("questions"))[0]["documents"] == [{"id": evaluated.menu, "name": ""}]


class TestEvaluation:
    async def test_measures_what_is_found(self, evaluated: Evaluated) -> None:
        await evaluated.add(LEAVE, evaluated.handbook)
        await evaluated.add("Soup on Monday?", evaluated.menu)
        await evaluated.add("zeppelin", evaluated.menu)
        found = await evaluated.evaluate()
        assert found["questions"] == 3
        assert found["skipped"] == 0
        assert found["limit"] == 10
        (lexical,) = found["measures"]
        measured = {"recall": 0.6667, "ndcg": 0.6667, "mrr": 0.6667, "complete": 2}
        assert lexical == {"mode": "lexical", "reranked": False, "queries": 0, **measured}
        assert [answer["searches"][0]["ranks"] for answer in found["answers"]] == [[1], [1], [None]]
        (listed,) = await evaluated.get("evaluations")
        assert listed == {name: value for name, value in found.items() if name != "answers"}
        assert await evaluated.get(f"evaluations/{found['id']}") == found

    async def test_of_filters_searches_documents_with_their_metadata_only(
        self, evaluated: Evaluated, knowledge: Knowledge
    ) -> None:
        old = await knowledge.add(evaluated.base, "menu-2025.md", "# Menu\n\nSoup on Monday, fish on Friday.")
        for document_id, year in ((evaluated.menu, 2026), (old["id"], 2025)):
            path = f"{API}/{evaluated.base}/documents/{document_id}"
            assert (await evaluated.client.patch(path, json={"metadata": {"year": year}})).status_code == 200
        new, missed = [{"key": "year", "at_least": 2026}], [{"key": "year", "in": [2025, 2024]}]
        first = await evaluated.add("Soup on Monday?", evaluated.menu, filters=new)
        assert written(first) == new
        await evaluated.add("Soup on Monday?", evaluated.menu, filters=missed)
        await evaluated.add(LEAVE, evaluated.handbook)
        all_of_them = await evaluated.evaluate(limit=1)
        assert [answer["searches"][0]["ranks"] for answer in all_of_them["answers"]] == [[1], [None], [1]]
        assert [written(answer) for answer in all_of_them["answers"]] == [new, missed, []]
        assert all_of_them["filters"] == []
        some = await evaluated.evaluate(filters=new)
        assert (some["skipped"], written(some)) == (1, new)
        assert [answer["searches"] and answer["searches"][0]["ranks"] for answer in some["answers"]] == [
            [1],
            [None],
            [],
        ]
        assert [written(row) for row in await evaluated.get("evaluations")] == [new, []]
        await evaluated.evaluate(filters=[{"key": "year"}], status=422)
        await evaluated.add("Soup?", evaluated.menu, filters=[{"key": "year", "at_least": "x"}], status=422)

    async def test_of_a_quote_needs_its_passage(self, evaluated: Evaluated) -> None:
        await evaluated.add("Lisbon allowance", evaluated.handbook, quote="68  eur")
        await evaluated.add("Lisbon allowance", evaluated.handbook, quote="99 EUR")
        found = await evaluated.evaluate(limit=5)
        assert [answer["searches"][0]["ranks"][0] is not None for answer in found["answers"]] == [True, False]

    async def test_skips_questions_without_a_document(self, evaluated: Evaluated) -> None:
        await evaluated.add("Soup on Monday?", evaluated.menu)
        await evaluated.client.delete(f"{API}/{evaluated.base}/documents/{evaluated.menu}")
        found = await evaluated.evaluate()
        assert (found["questions"], found["skipped"], found["measures"]) == (1, 1, [])
        assert found["answers"][0]["searches"] == []

    async def test_without_questions_is_refused(self, evaluated: Evaluated) -> None:
        assert (await evaluated.evaluate(422))["code"] == "no_knowledge_questions"
        assert (await evaluated.evaluate(422, limit=0))["code"] == "bad_request"
        assert (await evaluated.get("evaluations/nothing", 404))["code"] == "knowledge_evaluation_not_found"

    async def test_keeps_the_newest(self, evaluated: Evaluated, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(evaluating, "MOST_EVALUATIONS", 2)
        await evaluated.add(LEAVE, evaluated.handbook)
        made = [(await evaluated.evaluate())["id"] for _ in range(3)]
        assert [row["id"] for row in await evaluated.get("evaluations")] == made[:0:-1]


class TestRights:
    async def test_apply_to_the_searches(self, evaluated: Evaluated, app: FastAPI) -> None:
        """A document that the user may not read is skipped, not reported as missed."""
        base = f"{API}/{evaluated.base}"
        await evaluated.add(LEAVE, evaluated.handbook)
        await evaluated.add("Soup on Monday?", evaluated.menu)
        sql = "UPDATE knowledge_documents SET reader_role = NULL, owner_user_id = NULL WHERE id = :id"
        async with app.state.database.writing() as session:
            await session.execute(text(sql), {"id": evaluated.menu})
        found = await evaluated.evaluate()
        assert found["skipped"] == 1
        assert found["measures"][0]["recall"] == 1.0
        assert (await evaluated.client.get(f"{base}/questions")).status_code == 200


class TestVectors:
    async def test_every_way_is_measured_with_questions_embedded_once(self, database: Database, tmp_path: Path) -> None:
        shelf = open_shelf(database, tmp_path)
        async with shelf.jobs.running():
            base = await shelf.make_base(passage_tokens=60, overlap_tokens=0, embedding_model="openai/small")
            leave = await shelf.add("leave", "Employees have 27 days of holiday each year.")
            await shelf.add("cars", "Company cars are parked in the garage.")
            await shelf.indexer.settle()
        embedded = len(shelf.embedder.texts)
        async with database.writing() as session:
            for question in ("vacation", "holiday"):
                question_in = QuestionIn(question=question, document_ids=[leave])
                await questions.add_question(session, LOCAL, shelf.base_id, question_in)
        evaluator = Evaluator(database, shelf.embedder, shelf.asker)
        found = await evaluator.evaluate(LOCAL, shelf.base_id, EvaluationIn())
        assert {row.mode: row.recall for row in found.measures} == {"lexical": 0.5, "vector": 1.0, "hybrid": 1.0}
        assert found.embedding_model == "openai/small"
        assert len(shelf.embedder.texts) == embedded + 2
        assert base == shelf.base_id
