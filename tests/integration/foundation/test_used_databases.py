"""The databases of the tests themselves: one that was used before is as a new one."""

from typing import Any

import pytest
from sqlalchemy import create_engine, text

from tests.support.databases import Postgres

LEFT_BEHIND = (
    "UPDATE scheduled_jobs SET worker_id = 'elsewhere:1:a', lease_until = 9000000000000000, due_at = 1",
    "INSERT INTO passkey_challenges (token_hash, purpose, challenge, expires_at) VALUES ('left', 'login', 'bytes', 1)",
    "UPDATE users SET name = 'somebody else'",
)


def rows(url: str) -> dict[str, list[Any]]:
    """The rows of every table; of moments only whether there is one, and of jobs whether they are due."""
    engine = create_engine(url)
    with engine.connect() as connection:
        names = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars().all()
        content = {name: [_plain(row) for row in connection.execute(text(f"SELECT * FROM {name}"))] for name in names}
        due = text("SELECT name FROM scheduled_jobs WHERE due_at <= extract(epoch FROM now()) * 1000000 ORDER BY name")
        content["due jobs"] = list(connection.execute(due).scalars())
    engine.dispose()
    return content


def _plain(row: Any) -> dict[str, Any]:
    return {name: value is None if name.endswith("_at") else value for name, value in row._mapping.items()}


@pytest.mark.parametrize("statement", LEFT_BEHIND)
def test_what_a_test_left_behind_is_gone(postgres: Postgres, statement: str) -> None:
    with postgres.fresh() as first:
        before = rows(first)
        name = first.partition("?")[0].rpartition("/")[2]
        postgres.sql(statement, name)
        assert rows(first) != before
    with postgres.fresh() as second:
        assert second == first
        assert rows(second) == before
