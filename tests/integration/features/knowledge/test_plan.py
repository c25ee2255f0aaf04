"""The search by words uses its index right after documents were indexed."""

from pathlib import Path

from sqlalchemy import text

from headgate.foundation.database import Database
from tests.support.knowledge import open_shelf

PASSAGES = 60


class TestPostgres:
    async def test_has_no_pending_list_that_each_search_reads(self, database: Database, tmp_path: Path) -> None:
        if database.dialect != "postgresql":
            return  # FTS5 has no such list
        shelf = open_shelf(database, tmp_path)
        async with shelf.jobs.running():
            await shelf.make_base(passage_tokens=50, overlap_tokens=0)
            for number in range(4):
                await shelf.add(f"words {number}", "\n\n".join(f"word{number}x{at} " * 20 for at in range(PASSAGES)))
            await shelf.indexer.settle()
        async with database.writing() as session:
            options = text("SELECT reloptions FROM pg_class WHERE relname = 'ix_knowledge_passages_terms'")
            assert (await session.execute(options)).scalar_one() == ["fastupdate=off"]
            pending = text("SELECT gin_clean_pending_list('ix_knowledge_passages_terms'::regclass)")
            assert (await session.execute(pending)).scalar_one() == 0
