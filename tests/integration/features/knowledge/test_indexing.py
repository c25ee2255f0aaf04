"""Indexing is resumed after its process died: nothing is lost, nothing is indexed twice."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.access.principal import LOCAL
from headgate.features.files.errors import StorageFailed
from headgate.features.files.local_storage import LocalStorage
from headgate.features.knowledge import indexing, repository
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import DocumentOut
from headgate.foundation.database import Database
from tests.support.knowledge import Shelf, open_shelf
from tests.support.rows import execute

TEXT = "\n\n".join(f"Sentence {number} is about subject{number} and nothing else at all." for number in range(2_000))
DIES = """
import asyncio, os, sys
from pathlib import Path
from headgate.features.knowledge import indexing
from headgate.features.knowledge.index import lexical
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.support.knowledge import open_shelf

indexing.BATCH = 50
whole, calls = lexical.add_passages, []

async def add(session, rows):
    calls.append(1)
    await whole(session, rows)
    if len(calls) == 4:
        os._exit(9)

lexical.add_passages = add

async def main():
    database = Database(Settings(data_dir=Path(sys.argv[1]), database={"url": sys.argv[2]}))
    shelf = open_shelf(database, Path(sys.argv[1]))
    async with shelf.jobs.running():
        await shelf.indexer.settle()

asyncio.run(main())
"""


class TestResuming:
    async def test_after_a_kill_keeps_what_is_stored_and_adds_the_rest(
        self, database: Database, tmp_path: Path
    ) -> None:
        shelf = open_shelf(database, tmp_path)
        await shelf.make_base(passage_tokens=50, overlap_tokens=0)
        shelf.indexer.soon = lambda document_id: None  # type: ignore[method-assign]
        document = await shelf.add("long.txt", TEXT)
        url = database.url.render_as_string(hide_password=False)
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", DIES, str(tmp_path), url)
        assert await process.wait() == 9
        before = await rows(database)
        assert len(before) == 150, "the transaction of the fourth batch was not committed"
        later = open_shelf(database, tmp_path)
        async with later.jobs.running():
            await later.jobs.recover(indexing.KIND)
            await later.indexer.settle()
        after = await rows(database)
        assert set(before) <= set(after)
        async with database.reading() as session:
            described = await documents.describe_document(session, LOCAL, shelf.base_id, document)
            passages = await repository.list_passages(
                session, document, tenant_id=LOCAL.tenant_id, limit=10_000, after=-1
            )
        assert (described.status, described.passages, described.passages_done) == ("ready", len(after), len(after))
        assert [one.ordinal for one in passages] == list(range(len(after)))
        assert "".join(TEXT[one.core : one.end] for one in passages) == TEXT

    async def test_a_content_that_is_replaced_meanwhile_is_indexed_instead(
        self, database: Database, tmp_path: Path
    ) -> None:
        shelf = open_shelf(database, tmp_path)
        async with shelf.jobs.running():
            await shelf.make_base()
            document = ""
            for number in range(6):
                document = await shelf.add("same.txt", f"This is content {number}. " * 50)
            await shelf.indexer.settle()
            async with database.reading() as session:
                described = await documents.describe_document(session, LOCAL, shelf.base_id, document)
                passages = await repository.list_passages(
                    session, document, tenant_id=LOCAL.tenant_id, limit=100, after=-1
                )
        assert (described.problem, described.status, described.version) == ("", "ready", 6)
        assert {one.version for one in passages} == {6}
        assert all("content 5" in one.text for one in passages)


class TestFailing:
    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (StorageFailed("The bucket does not answer.", remedy="Check it."), "The bucket does not answer. Check it."),
            (RuntimeError("private detail"), "Unexpected error RuntimeError; see the log of the server."),
        ],
    )
    async def test_is_repeated_a_few_times_and_says_why(
        self, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
    ) -> None:
        shelf = open_shelf(database, tmp_path)
        reads, whole = [], LocalStorage.get

        async def fails(*_: Any, **__: Any) -> Any:
            reads.append(1)
            raise error

        monkeypatch.setattr(LocalStorage, "get", fails)
        async with shelf.jobs.running():
            await shelf.make_base()
            document = await shelf.add("a", "The text.")
            await shelf.indexer.settle()
            first = await described(shelf, document)
            assert (first.status, first.problem) == ("pending", f"Attempt 1 of 8 failed: {reason}")
            monkeypatch.setattr(indexing, "RETRY_SECONDS", 0.0)
            await execute(database, "UPDATE knowledge_documents SET due_at = 1")
            shelf.indexer.soon(document)
            await shelf.indexer.settle()
            last = await described(shelf, document)
            assert (last.status, last.problem) == ("failed", f"Attempt 8 of 8 failed: {reason}")
            assert len(reads) == 8
            monkeypatch.setattr(LocalStorage, "get", whole)
            await reindexed(shelf, document)
            again = await described(shelf, document)
            assert (again.status, again.problem, again.passages) == ("ready", "", 1)

    async def test_with_its_process_each_time_is_bounded_too(self, database: Database, tmp_path: Path) -> None:
        shelf = open_shelf(database, tmp_path)
        async with shelf.jobs.running():
            await shelf.make_base()
            document = await shelf.add("a", "The text.")
            await shelf.indexer.settle()
            await execute(database, "UPDATE knowledge_documents SET tries = 8, due_at = 1, status = 'indexing'")
            shelf.indexer.soon(document)
            await shelf.indexer.settle()
            failed = await described(shelf, document)
            assert failed.status == "failed"
            assert "ended 8 times" in failed.problem
            await reindexed(shelf, document)
            assert (await described(shelf, document)).status == "ready"


async def described(shelf: Shelf, document: str) -> DocumentOut:
    async with shelf.database.reading() as session:
        return await documents.describe_document(session, LOCAL, shelf.base_id, document)


async def reindexed(shelf: Shelf, document: str) -> None:
    async with shelf.database.writing() as session:
        await documents.reindex_document(session, LOCAL, shelf.base_id, document)
    shelf.indexer.soon(document)
    await shelf.indexer.settle()


async def rows(database: Database) -> list[tuple[int, str]]:
    """Id and digest of every passage."""
    async with database.reading() as session:
        found = await session.execute(text("SELECT id, digest FROM knowledge_passages ORDER BY id"))
        return [(row[0], row[1]) for row in found]
