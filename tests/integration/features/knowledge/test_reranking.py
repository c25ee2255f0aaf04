"""Reranking: the first passages of a search, in the order of a model, within its clearance and the reader's rights."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL
from headgate.features.knowledge import service
from headgate.features.knowledge.documents.schemas import Readers
from headgate.features.knowledge.errors import NoReranker
from headgate.features.knowledge.evaluation import questions
from headgate.features.knowledge.evaluation.evaluating import Evaluator
from headgate.features.knowledge.evaluation.schemas import EvaluationIn, QuestionIn
from headgate.features.knowledge.schemas import KnowledgeBaseChange
from headgate.features.knowledge.search.reranking import reordered
from headgate.features.knowledge.search.schemas import SearchIn, SearchOut
from headgate.features.models.errors import BadModelSettings, ModelUnreachable, PromptTooLong
from headgate.features.models.reranking import Reranked
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.knowledge import Shelf, member, open_shelf
from tests.support.rerank_server import score_of

MODEL = "cohere/rerank-v3.5"
# By words the one with the rare words is first; the reranker prefers those of which the query is a large part.
QUERY = "holiday policy rules leave travel"
LONG = "Rules of leave and travel: holiday, policy, and many other words which the question does not have."
SHORT = "Holiday policy."
OTHER = "Company policy of cars in the garage."


@pytest.fixture
async def shelf(database: Database, tmp_path: Path) -> AsyncIterator[Shelf]:
    opened = open_shelf(database, tmp_path)
    async with opened.jobs.running():
        await opened.make_base(passage_tokens=200, overlap_tokens=0, rerank_model=MODEL, rerank_candidates=10)
        yield opened


async def fill(shelf: Shelf, **levels: int) -> None:
    for name, content in (("other", OTHER), ("long", LONG), ("short", SHORT)):
        await shelf.add(name, content, level=levels.get(name))
    await shelf.indexer.settle()


async def asked(shelf: Shelf, **more: object) -> SearchOut:
    search_in = SearchIn.model_validate({"query": QUERY, **more})
    return await shelf.searcher.search_as(LOCAL, shelf.base_id, search_in)


def order(answer: SearchOut) -> list[str]:
    return [hit.document for hit in answer.hits]


class TestReranked:
    async def test_is_the_order_of_the_model_with_its_scores_and_the_rank_before(self, shelf: Shelf) -> None:
        await fill(shelf)
        before = await asked(shelf, rerank=False)
        assert shelf.embedder.reranked == []
        assert (before.rerank_model, {hit.rerank_score for hit in before.hits}) == ("", {None})
        answer = await asked(shelf)
        assert (answer.rerank_model, answer.problem) == (MODEL, "")
        scores = [score_of(QUERY, hit.text) for hit in answer.hits]
        assert [hit.rerank_score for hit in answer.hits] == [round(score, 4) for score in scores]
        assert scores == sorted(scores, reverse=True)
        assert order(answer)[0] == "short"
        assert [hit.first_rank for hit in answer.hits] == [order(before).index(name) + 1 for name in order(answer)]
        assert [hit.score for hit in answer.hits] == [
            before.hits[(hit.first_rank or 0) - 1].score for hit in answer.hits
        ]

    async def test_takes_a_passage_into_the_limit_that_was_below_it(self, shelf: Shelf) -> None:
        await fill(shelf)
        assert order(await asked(shelf, rerank=False, limit=1)) == ["long"]
        assert order(await asked(shelf, limit=1)) == ["short"]
        assert {content for _, content in shelf.embedder.reranked} == {OTHER, LONG, SHORT}

    async def test_sends_only_the_first_passages_each_text_once(self, shelf: Shelf) -> None:
        async with shelf.database.writing() as session:
            await service.change_base(session, LOCAL, shelf.base_id, KnowledgeBaseChange(rerank_candidates=2))
        for number in range(6):
            await shelf.add(f"policy{number}", f"Holiday policy number{number}.")
        await shelf.add("copy", "Holiday policy number0.")
        await shelf.indexer.settle()
        answer = await asked(shelf, limit=2)
        assert len(answer.hits) == 2
        assert len({content for _, content in shelf.embedder.reranked}) == len(shelf.embedder.reranked) <= 2
        everything = await asked(shelf, limit=50)
        assert len(everything.hits) == 6, "the limit is sent when it is more than the candidates"

    async def test_applies_diversity_and_neighbours_to_the_new_order(self, shelf: Shelf) -> None:
        await fill(shelf)
        answer = await asked(shelf, diversity=0.1, neighbours=1)
        assert order(answer)[0] == "short"

    async def test_asks_nothing_when_nothing_matches(self, shelf: Shelf) -> None:
        await fill(shelf)
        answer = await asked(shelf, query="zeppelin", rerank=True)
        assert (answer.hits, answer.rerank_model, shelf.embedder.reranked) == ([], "", [])

    def test_keeps_the_place_of_a_passage_without_a_score(self) -> None:
        assert reordered([1, 2, 3, 4], {1: -3.0, 3: 5.0, 4: 0.0}) == [3, 2, 4, 1]
        assert reordered([1, 2], {1: 1.0, 2: 1.0}) == [1, 2]


class TestClearance:
    async def test_keeps_passages_from_a_model_that_may_not_receive_them(self, shelf: Shelf) -> None:
        await fill(shelf, long=3)
        shelf.embedder.cleared_for = 2
        before, answer = order(await asked(shelf, rerank=False)), await asked(shelf)
        assert LONG not in {content for _, content in shelf.embedder.reranked}
        assert len(shelf.embedder.reranked) == 2
        assert order(answer).index("long") == before.index("long"), "it keeps its place"
        withheld = answer.hits[before.index("long")]
        assert (withheld.rerank_score, withheld.rerank_model) == (None, "")
        assert answer.problem == f"Not reranked: 1 of 3 passages are classified above {MODEL}."

    async def test_of_no_passage_sends_nothing(self, shelf: Shelf) -> None:
        await fill(shelf, long=3, short=3, other=3)
        shelf.embedder.cleared_for = 0
        answer = await asked(shelf)
        assert (len(answer.hits), answer.rerank_model, shelf.embedder.reranked) == (3, "", [])
        assert "3 of 3 passages" in answer.problem


class TestRights:
    async def test_apply_to_what_is_sent(self, shelf: Shelf) -> None:
        await fill(shelf)
        await shelf.add("hidden", "Holiday policy holiday.", readers=Readers(role=None))
        await shelf.indexer.settle()
        viewer = member(new_id(), Role.VIEWER)
        answer = await shelf.searcher.search_as(viewer, shelf.base_id, SearchIn(query=QUERY))
        assert "hidden" not in order(answer)
        assert "Holiday policy holiday." not in {content for _, content in shelf.embedder.reranked}

    async def test_that_are_withdrawn_while_the_model_answers_apply_to_the_result(
        self, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await fill(shelf)
        rerank = shelf.embedder.rerank

        async def withdraw(*asked: object) -> Reranked:
            sql = "UPDATE knowledge_documents SET reader_role = NULL, owner_user_id = NULL WHERE name = 'short'"
            async with shelf.database.writing() as session:
                await session.execute(text(sql))
            return await rerank(*asked)  # type: ignore[arg-type]

        monkeypatch.setattr(shelf.embedder, "rerank", withdraw)
        assert sorted(order(await asked(shelf))) == ["long", "other"]


class TestFailure:
    @pytest.mark.parametrize("failure", [ModelUnreachable("The server is down."), PromptTooLong("It is too long.")])
    async def test_keeps_the_order_and_says_why_or_fails_when_it_is_required(
        self, shelf: Shelf, failure: ModelUnreachable | PromptTooLong
    ) -> None:
        await fill(shelf)
        before = await asked(shelf, rerank=False)
        shelf.embedder.failure = failure
        answer = await asked(shelf)
        assert answer.hits == before.hits
        assert (answer.rerank_model, answer.problem) == ("", f"Not reranked: {failure}")
        with pytest.raises(type(failure)):
            await asked(shelf, rerank=True)

    async def test_of_the_settings_is_not_tolerated(self, shelf: Shelf) -> None:
        await fill(shelf)
        shelf.embedder.failure = BadModelSettings("There is no such provider.", remedy="Choose another.")
        with pytest.raises(BadModelSettings):
            await asked(shelf)

    async def test_is_that_of_a_base_without_a_model_when_it_is_required(self, shelf: Shelf) -> None:
        await fill(shelf)
        async with shelf.database.writing() as session:
            changed = await service.change_base(session, LOCAL, shelf.base_id, KnowledgeBaseChange(rerank_model=""))
        assert (changed.rerank_model, changed.rerank_candidates) == ("", 10)
        assert (await asked(shelf)).rerank_model == ""
        with pytest.raises(NoReranker, match="has no rerank model"):
            await asked(shelf, rerank=True)
        assert shelf.embedder.reranked == []


class TestEvaluation:
    async def test_compares_the_search_with_and_without_the_model(self, shelf: Shelf) -> None:
        await fill(shelf)
        async with shelf.database.reading() as session:
            rows = await session.execute(text("SELECT id FROM knowledge_documents WHERE name = 'short'"))
            (document,) = rows.scalars()
        async with shelf.database.writing() as session:
            question_in = QuestionIn(question=QUERY, document_ids=[document])
            await questions.add_question(session, LOCAL, shelf.base_id, question_in)
        evaluator = Evaluator(shelf.database, shelf.embedder, shelf.asker)
        evaluation = await evaluator.evaluate(LOCAL, shelf.base_id, EvaluationIn())
        plain, reranked = evaluation.measures
        assert [(row.mode, row.reranked) for row in (plain, reranked)] == [("lexical", False), ("lexical", True)]
        before = order(await asked(shelf, rerank=False)).index("short") + 1
        assert (plain.mrr, reranked.mrr) == (round(1 / before, 4), 1.0)
        assert (evaluation.rerank_model, evaluation.rerank_candidates) == (MODEL, 10)
        shelf.embedder.reranked.clear()
        without = await evaluator.evaluate(LOCAL, shelf.base_id, EvaluationIn(rerank=False))
        assert (len(without.measures), without.rerank_model, without.rerank_candidates) == (1, "", 0)
        assert shelf.embedder.reranked == []

    async def test_fails_with_the_model(self, shelf: Shelf) -> None:
        await fill(shelf)
        async with shelf.database.reading() as session:
            ids = (await session.execute(text("SELECT id FROM knowledge_documents"))).scalars().all()
        async with shelf.database.writing() as session:
            question_in = QuestionIn(question=QUERY, document_ids=list(ids))
            await questions.add_question(session, LOCAL, shelf.base_id, question_in)
        shelf.embedder.failure = ModelUnreachable("The server is down.")
        with pytest.raises(ModelUnreachable):
            await Evaluator(shelf.database, shelf.embedder, shelf.asker).evaluate(LOCAL, shelf.base_id, EvaluationIn())
