"""Search of many vectors: groups of near ones, a measured recall, and the rights of an exact search."""

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import delete, func, insert, select

from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.knowledge import service
from headgate.features.knowledge.documents.schemas import Readers
from headgate.features.knowledge.index import approximate, grouping
from headgate.features.knowledge.index.approximate import GROUPS
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.index.vector_bytes import encode
from headgate.features.knowledge.index.vectors import nearest
from headgate.features.knowledge.rights import reader_of
from headgate.features.knowledge.search.matching import search_as
from headgate.features.knowledge.search.queries import Question
from headgate.features.knowledge.search.schemas import SearchIn
from headgate.features.knowledge.tables import PassageRow, VectorGroupsRow, VectorRow
from headgate.features.maintenance.vectors import group_vectors
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.knowledge import Shelf, member, open_shelf

pytestmark = pytest.mark.both_databases

MODEL, DIMENSIONS, TOPICS, LIMIT = "openai/small", 32, 24, 10
TEXT = "\n\n".join(f"Sentence {number} is about subject{number} and nothing else at all." for number in range(1_500))
DRAWN = np.random.default_rng(24)
CENTRES = DRAWN.standard_normal((TOPICS, DIMENSIONS))


def drawn(topic: int) -> list[float]:
    """Return a vector near to those of its topic, as texts of one subject have them."""
    return [float(value) for value in CENTRES[topic % TOPICS] + 0.4 * DRAWN.standard_normal(DIMENSIONS)]


async def embed_missing(shelf: Shelf) -> None:
    """Give each passage without a vector one of some topic."""
    async with shelf.database.writing() as session:
        having = select(VectorRow.passage_id)
        query = select(PassageRow.id, PassageRow.document_id).where(PassageRow.id.not_in(having))
        rows = (await session.execute(query)).all()
        place = {"base_id": shelf.base_id, "model": MODEL, "tenant_id": LOCAL.tenant_id}
        values = [
            {**place, "passage_id": id_, "document_id": document, "vector": encode(drawn(id_))}
            for id_, document in rows
        ]
        await session.execute(insert(VectorRow), values)


@pytest.fixture
async def shelf(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shelf]:
    monkeypatch.setattr(approximate, "EXACT", 300)
    opened = open_shelf(database, tmp_path)
    async with opened.jobs.running():
        await opened.make_base(passage_tokens=50, overlap_tokens=0)
        await opened.add("open", TEXT)
        await opened.add("hidden", TEXT, readers=Readers(role=None))
        await opened.indexer.settle()
        await embed_missing(opened)
        yield opened


async def near(shelf: Shelf, principal: Principal, question: list[float]) -> list[int]:
    ids, _ = await near_with_recall(shelf, principal, question)
    return ids


async def near_with_recall(shelf: Shelf, principal: Principal, question: list[float]) -> tuple[list[int], float | None]:
    async with shelf.database.reading() as session:
        base = await service.get_base(session, principal, shelf.base_id)
        scope = Scope(principal.tenant_id, base.id, await reader_of(session, principal, base.space_id))
        passages, share = await nearest(session, scope, MODEL, question, limit=LIMIT)
        return [id_ for id_, _ in passages], share


async def groups_of(database: Database) -> VectorGroupsRow | None:
    async with database.reading() as session:
        return (await session.execute(select(VectorGroupsRow))).scalar_one_or_none()


async def recall(shelf: Shelf, exact: dict[int, list[int]], questions: list[list[float]]) -> float:
    found = [await near(shelf, LOCAL, question) for question in questions]
    return sum(len(set(ids) & set(exact[number])) / LIMIT for number, ids in enumerate(found)) / len(found)


class TestManyVectors:
    async def test_are_searched_in_few_groups_with_the_recall_that_was_measured(self, shelf: Shelf) -> None:
        questions = [drawn(number) for number in range(40)]
        exact = {number: await near(shelf, LOCAL, question) for number, question in enumerate(questions)}
        assert (await near_with_recall(shelf, LOCAL, questions[0]))[1] is None, "all are compared"
        assert await grouping.tune(shelf.database, dry=True) > 600
        assert await groups_of(shelf.database) is None
        assert await grouping.tune(shelf.database) > 600
        made = await groups_of(shelf.database)
        assert made is not None
        assert made.recall is not None
        assert made.recall >= grouping.TARGET
        assert made.probes < len(made.centroids) // made.size // 2, "a search reads a small part"
        assert await recall(shelf, exact, questions) > 0.85
        assert (await near_with_recall(shelf, LOCAL, questions[0]))[1] == made.recall
        async with shelf.database.reading() as session:
            search_in = SearchIn(query="something")
            answer = await search_as(
                session, LOCAL, shelf.base_id, search_in, question=Question(MODEL, tuple(questions[0]))
            )
        assert (answer.vector_recall, answer.vectors) == (made.recall, True)
        async with shelf.database.reading() as session:
            base = await service.described(session, LOCAL, await service.get_base(session, LOCAL, shelf.base_id))
        assert base.vector_recall is None, "the base is not searched with this model"
        assert await grouping.tune(shelf.database) == 0, "nothing is left to do"

    async def test_lack_none_that_is_new(self, shelf: Shelf) -> None:
        await grouping.tune(shelf.database)
        await shelf.add("new", "A new passage about something.")
        await shelf.indexer.settle()
        await embed_missing(shelf)
        async with shelf.database.writing() as session:
            new = (await session.execute(select(func.max(VectorRow.passage_id)))).scalar_one()
            vector = (await session.execute(select(VectorRow).where(VectorRow.passage_id == new))).scalar_one()
            vector.vector = encode([-value for value in CENTRES.sum(axis=0)])
        assert (await near(shelf, LOCAL, [float(-value) for value in CENTRES.sum(axis=0)]))[0] == new
        assert await grouping.tune(shelf.database) == 1
        assert new in await near(shelf, LOCAL, [float(-value) for value in CENTRES.sum(axis=0)])

    async def test_are_all_compared_until_the_groups_are_measured(
        self, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        questions = [drawn(number) for number in range(10)]
        exact = {number: await near(shelf, LOCAL, question) for number, question in enumerate(questions)}

        async def killed(*_: object) -> None:
            raise ConnectionError

        with monkeypatch.context() as patch:
            patch.setattr(grouping, "_measure", killed)
            with pytest.raises(ConnectionError):
                await grouping.tune(shelf.database)
        made = await groups_of(shelf.database)
        assert made is not None
        assert made.recall is None
        assert await recall(shelf, exact, questions) == 1
        await grouping.tune(shelf.database)
        again = await groups_of(shelf.database)
        assert again is not None
        assert (again.epoch, again.recall is not None) == (made.epoch, True), "it continues with the same groups"

    async def test_of_a_reader_are_only_those_that_it_may_read(
        self, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await grouping.tune(shelf.database)
        async with shelf.database.reading() as session:
            query = select(PassageRow.id).join_from(PassageRow, VectorRow, VectorRow.passage_id == PassageRow.id)
            documents = (await session.execute(select(PassageRow.document_id).distinct())).scalars().all()
            ids = {document: set((await session.execute(query.where(PassageRow.document_id == document))).scalars())
                   for document in documents}  # fmt: skip
        reader = member(new_id(), Role.VIEWER)
        questions = [drawn(number) for number in range(30)]
        exact = [await near(shelf, reader, question) for question in questions]
        monkeypatch.setattr(approximate, "EXACT", 10)
        found = [await near(shelf, reader, question) for question in questions]
        (allowed,) = [some for some in ids.values() if set(exact[0]) <= some]
        assert {id_ for hits in found for id_ in hits} <= allowed
        assert sum(len(set(one) & set(other)) for one, other in zip(found, exact, strict=True)) > 30 * LIMIT * 0.85

    async def test_that_became_few_are_searched_exactly_again(self, shelf: Shelf) -> None:
        outcome = await group_vectors(shelf.database, shelf.storage, None)  # type: ignore[arg-type]
        assert outcome.vectors > 600
        async with shelf.database.writing() as session:
            kept = select(VectorRow.passage_id).order_by(VectorRow.passage_id).limit(200)
            await session.execute(delete(VectorRow).where(VectorRow.passage_id.not_in(kept)))
        assert (await group_vectors(shelf.database, shelf.storage, None)).vectors == 0  # type: ignore[arg-type]
        assert await groups_of(shelf.database) is None

    async def test_are_grouped_again_when_there_are_many_more(self, shelf: Shelf) -> None:
        await grouping.tune(shelf.database)
        await shelf.add("more", TEXT.replace("nothing", "little"))
        await shelf.add("most", TEXT.replace("nothing", "less"))
        await shelf.indexer.settle()
        await embed_missing(shelf)
        await grouping.tune(shelf.database)
        made = await groups_of(shelf.database)
        assert made is not None
        assert made.epoch == 2
        async with shelf.database.reading() as session:
            earlier = select(func.count()).select_from(VectorRow).where(VectorRow.cluster < 2 * GROUPS)
            assert (await session.execute(earlier)).scalar_one() == 0
