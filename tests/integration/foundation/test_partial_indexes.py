"""Partial indexes: of the rows for which a condition holds, on both databases."""

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, text

from headgate.foundation.database import Database, partial_index

pytestmark = pytest.mark.both_databases

letters = Table(
    "letters",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("state", String(16)),
    partial_index("ix_letters_open", "id", where="state = 'open'"),
)
CONDITION = {
    "sqlite": "SELECT sql FROM sqlite_master WHERE name = 'ix_letters_open'",
    "postgresql": "SELECT indexdef FROM pg_indexes WHERE indexname = 'ix_letters_open'",
}


class TestPartialIndex:
    async def test_is_created_with_its_condition(self, database: Database) -> None:
        engine = database.engine.execution_options(headgate_writes=True)
        async with engine.begin() as connection:
            await connection.run_sync(letters.metadata.create_all)
        async with database.engine.connect() as connection:
            definition = (await connection.execute(text(CONDITION[database.dialect]))).scalar_one()
        assert "state" in definition.partition("WHERE")[2], definition
