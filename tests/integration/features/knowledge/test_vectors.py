"""Search by meaning: passages are embedded once, by the model that the base has, and found with their scores."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.access.principal import LOCAL
from headgate.features.knowledge import indexing, service
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import DocumentOut
from headgate.features.knowledge.errors import NoEmbeddings
from headgate.features.knowledge.schemas import KnowledgeBaseChange, KnowledgeBaseOut
from headgate.features.knowledge.search.schemas import Mode, SearchIn, SearchOut
from headgate.features.models.embeddings import MOST_TEXTS
from headgate.features.models.errors import ModelUnreachable
from headgate.foundation.database import Database
from tests.support.knowledge import Shelf, open_shelf

pytestmark = pytest.mark.both_databases

MODEL, OTHER = "openai/small", "ollama/other"
LEAVE, CARS = "Employees have 27 days of holiday each year.", "Company cars are parked in the garage."
LONG = "\n\n".join(f"Sentence {number} is about subject{number} and nothing else at all." for number in range(600))


@pytest.fixture
async def shelf(database: Database, tmp_path: Path) -> AsyncIterator[Shelf]:
    opened = open_shelf(database, tmp_path)
    async with opened.jobs.running():
        await opened.make_base(passage_tokens=60, overlap_tokens=0, embedding_model=MODEL)
        yield opened


async def fetch(database: Database, statement: str) -> list[Any]:
    async with database.reading() as session:
        return [tuple(row) for row in await session.execute(text(statement))]


async def asked(shelf: Shelf, query: str, mode: Mode | None = None, limit: int = 8) -> SearchOut:
    return await shelf.searcher.search_as(LOCAL, shelf.base_id, SearchIn(query=query, mode=mode, limit=limit))


async def base_of(shelf: Shelf) -> KnowledgeBaseOut:
    async with shelf.database.reading() as session:
        return await service.described(session, LOCAL, await service.get_base(session, LOCAL, shelf.base_id))


async def document_of(shelf: Shelf, document: str) -> DocumentOut:
    async with shelf.database.reading() as session:
        return await documents.describe_document(session, LOCAL, shelf.base_id, document)


async def choose(shelf: Shelf, model: str) -> None:
    async with shelf.database.writing() as session:
        await service.change_base(session, LOCAL, shelf.base_id, KnowledgeBaseChange(embedding_model=model))


class TestHybrid:
    async def test_finds_what_is_meant_and_says_in_which_list(self, shelf: Shelf) -> None:
        await shelf.add("leave", LEAVE)
        await shelf.add("cars", CARS)
        await shelf.indexer.settle()
        assert (await asked(shelf, "vacation", "lexical")).hits == []
        answer = await asked(shelf, "vacation")
        assert (answer.mode, answer.vectors, answer.embedding_model) == ("hybrid", True, MODEL)
        first, second = answer.hits
        assert (first.document, first.lexical_rank, first.vector_rank) == ("leave", None, 1)
        assert (second.vector_rank, second.embedding_model) == (2, MODEL)
        assert first.similarity is not None
        assert second.similarity is not None
        assert 1 > first.similarity > second.similarity
        assert first.score == 0.5
        both = (await asked(shelf, "holiday")).hits[0]
        assert (both.lexical_rank, both.vector_rank, both.score) == (1, 1, 1.0)
        lexical = (await asked(shelf, "holiday", "lexical")).hits[0]
        assert (lexical.vector_rank, lexical.similarity, lexical.embedding_model) == (None, None, "")
        near = await asked(shelf, "automobile garage", "vector")
        assert (near.hits[0].document, near.hits[0].score, near.terms) == ("cars", 1.0, [])

    async def test_of_a_base_without_a_model_is_refused_and_the_default_is_lexical(self, shelf: Shelf) -> None:
        await shelf.make_base("Plain")
        await shelf.add("leave", LEAVE)
        await shelf.indexer.settle()
        answer = await asked(shelf, "holiday")
        assert (answer.mode, answer.vectors, len(answer.hits)) == ("lexical", False, 1)
        with pytest.raises(NoEmbeddings, match="it has no embedding model"):
            await asked(shelf, "holiday", "hybrid")
        assert shelf.embedder.texts == []

    async def test_is_lexical_and_says_why_when_the_model_cannot_be_reached(self, shelf: Shelf) -> None:
        await shelf.add("leave", LEAVE)
        await shelf.indexer.settle()
        shelf.embedder.failure = ModelUnreachable("The server is down.")
        answer = await asked(shelf, "holiday")
        assert (answer.mode, len(answer.hits)) == ("lexical", 1)
        assert "The server is down." in answer.problem
        with pytest.raises(ModelUnreachable):
            await asked(shelf, "holiday", "vector")


class TestEmbedding:
    async def test_embeds_only_changed_passages_and_counts_tokens(self, shelf: Shelf) -> None:
        document = await shelf.add("long", LONG)
        await shelf.indexer.settle()
        before = await document_of(shelf, document)
        assert before.passages_embedded == before.passages == len(shelf.embedder.texts) > MOST_TEXTS
        assert before.embedding_tokens == sum(len(text.split()) for _, text in shelf.embedder.texts)
        shelf.embedder.texts.clear()
        await shelf.add("long", LONG.replace("subject300", "walrus"))
        await shelf.indexer.settle()
        (changed,) = shelf.embedder.texts
        assert "walrus" in changed[1]
        after = await document_of(shelf, document)
        assert after.passages_embedded == after.passages
        assert (await asked(shelf, "Sentence 300 is about walrus", "vector")).hits[0].text.count("walrus") == 1
        shelf.embedder.texts.clear()
        await shelf.add("copy", LONG)
        await shelf.indexer.settle()
        assert len(shelf.embedder.texts) == 1, "the same passages of another document are not embedded again"

    async def test_is_postponed_while_the_model_fails_and_words_are_found(self, shelf: Shelf) -> None:
        shelf.embedder.failure = ModelUnreachable("The server is down.")
        document = await shelf.add("leave", LEAVE)
        await shelf.indexer.settle()
        waiting = await document_of(shelf, document)
        assert (waiting.status, waiting.passages_embedded) == ("pending", 0)
        assert "The server is down." in waiting.problem
        shelf.embedder.failure = None
        assert len((await asked(shelf, "holiday", "lexical")).hits) == 1

    async def test_sends_nothing_to_a_model_that_is_not_cleared_for_it(self, shelf: Shelf) -> None:
        shelf.embedder.cleared_for = 1
        secret = await shelf.add("secret", LEAVE, level=2)
        await shelf.add("open", CARS, level=1)
        await shelf.indexer.settle()
        assert [text for _, text in shelf.embedder.texts] == [CARS]
        described = await document_of(shelf, secret)
        assert (described.status, described.passages_embedded) == ("ready", 0)
        assert described.notes == [
            f"Not embedded: the document has sensitivity level 2, and {MODEL} is cleared for 1. It is found by words."
        ]
        assert (await asked(shelf, "holiday")).hits[0].document == "secret"


class TestAnotherModel:
    async def test_embeds_in_the_background_while_the_previous_one_is_searched(self, shelf: Shelf) -> None:
        await shelf.add("leave", LEAVE)
        await shelf.add("cars", CARS)
        await shelf.indexer.settle()
        shelf.embedder.failure = ModelUnreachable("The server is down.")
        await choose(shelf, OTHER)
        await shelf.indexer.settle()
        base = await base_of(shelf)
        assert (base.embedding_model, base.searched_model) == (OTHER, MODEL)
        assert (base.passages, base.passages_embedded) == (2, 0)
        assert (base.waiting, base.failed) == (0, 0), "documents are ready while they are embedded"
        shelf.embedder.failure = None
        assert (await asked(shelf, "vacation")).embedding_model == MODEL
        await choose(shelf, MODEL)
        await choose(shelf, OTHER)  # due now
        await shelf.indexer.settle()
        base = await base_of(shelf)
        assert (base.searched_model, base.passages_embedded) == (OTHER, 2)
        answer = await asked(shelf, "vacation")
        assert (answer.embedding_model, answer.hits[0].document) == (OTHER, "leave")
        assert sorted(shelf.embedder.by(OTHER)) == sorted([LEAVE, CARS, "vacation"])
        models = await fetch(shelf.database, "SELECT DISTINCT model FROM knowledge_vectors")
        assert [row[0] for row in models] == [OTHER]

    async def test_of_a_base_without_one_is_searched_when_all_passages_are_embedded(self, shelf: Shelf) -> None:
        await shelf.make_base("Plain")
        await shelf.add("leave", LEAVE)
        await shelf.indexer.settle()
        shelf.embedder.failure = ModelUnreachable("The server is down.")
        await choose(shelf, MODEL)
        with pytest.raises(NoEmbeddings, match="still being embedded"):
            await asked(shelf, "vacation", "vector")
        assert (await asked(shelf, "vacation")).mode == "lexical"

    async def test_none_deletes_the_vectors(self, shelf: Shelf) -> None:
        await shelf.add("leave", LEAVE)
        await shelf.indexer.settle()
        await choose(shelf, "")
        assert await fetch(shelf.database, "SELECT passage_id FROM knowledge_vectors") == []
        base = await base_of(shelf)
        assert (base.embedding_model, base.searched_model, base.passages_embedded) == ("", "", 0)
        assert (await asked(shelf, "holiday")).mode == "lexical"

    async def test_that_is_chosen_while_a_document_is_embedded_gets_all_passages(
        self, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole, changed = shelf.embedder.embed, False

        async def embed(principal: object, model: str, texts: list[str]) -> object:
            nonlocal changed
            embedded = await whole(principal, model, texts)  # type: ignore[arg-type]
            if not changed:
                changed = True
                await choose(shelf, OTHER)
            return embedded

        monkeypatch.setattr(shelf.embedder, "embed", embed)
        document = await shelf.add("long", LONG)
        await shelf.indexer.settle()
        described = await document_of(shelf, document)
        assert (described.status, described.passages_embedded) == ("ready", described.passages)
        models = await fetch(shelf.database, "SELECT model, count(*) FROM knowledge_vectors GROUP BY model")
        assert [tuple(row) for row in models] == [(OTHER, described.passages)]
        assert (await base_of(shelf)).searched_model == OTHER


DIES = """
import asyncio, os, sys
from pathlib import Path
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.support.knowledge import open_shelf

async def main():
    database = Database(Settings(data_dir=Path(sys.argv[1]), database={"url": sys.argv[2]}))
    shelf = open_shelf(database, Path(sys.argv[1]))
    whole, calls = shelf.embedder.embed, []

    async def embed(principal, model, texts):
        calls.append(1)
        if len(calls) == 3:
            os._exit(9)
        return await whole(principal, model, texts)

    shelf.embedder.embed = embed
    async with shelf.jobs.running():
        await shelf.indexer.settle()

asyncio.run(main())
"""


class TestResuming:
    async def test_after_a_kill_embeds_only_passages_without_a_vector(self, database: Database, tmp_path: Path) -> None:
        shelf = open_shelf(database, tmp_path)
        await shelf.make_base(passage_tokens=50, overlap_tokens=0, embedding_model=MODEL)
        shelf.indexer.soon = lambda document_id: None  # type: ignore[method-assign]
        document = await shelf.add("long.txt", LONG)
        url = database.url.render_as_string(hide_password=False)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", DIES, str(tmp_path), url)
        assert await process.wait() == 9
        (kept,) = await fetch(database, "SELECT count(*) FROM knowledge_vectors")
        assert kept[0] == 2 * MOST_TEXTS
        async with shelf.jobs.running():
            await shelf.jobs.recover(indexing.KIND)
            await shelf.indexer.settle()
        done = await document_of(shelf, document)
        assert done.passages_embedded == done.passages
        assert len(shelf.embedder.texts) == done.passages - kept[0]
