"""Indexing is resumed after its process died: nothing is lost, nothing is indexed twice."""

import asyncio
import sys
from pathlib import Path

from sqlalchemy import text

from headgate.features.access.principal import LOCAL
from headgate.features.knowledge import documents, indexing, repository
from headgate.foundation.database import Database
from tests.support.knowledge import open_shelf

TEXT = "\n\n".join(f"Sentence {number} is about subject{number} and nothing else at all." for number in range(2_000))
DIES = """
import asyncio, os, sys
from pathlib import Path
from headgate.features.knowledge import indexing, search_index
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.support.knowledge import open_shelf

indexing.BATCH = 50
whole, calls = search_index.add_passages, []

async def add(session, rows):
    calls.append(1)
    await whole(session, rows)
    if len(calls) == 4:
        os._exit(9)

search_index.add_passages = add

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
        assert (described.status, described.version) == ("ready", 6)
        assert {one.version for one in passages} == {6}
        assert all("content 5" in one.text for one in passages)


async def rows(database: Database) -> list[tuple[int, str]]:
    """Id and digest of every passage."""
    async with database.reading() as session:
        found = await session.execute(text("SELECT id, digest FROM knowledge_passages ORDER BY id"))
        return [(row[0], row[1]) for row in found]
