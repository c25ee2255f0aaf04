"""The databases of the tests themselves: one that was used before is as a new one."""

from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import OperationalError

from tests.support.databases import Postgres

pytestmark = pytest.mark.both_databases

OID = text("SELECT oid FROM pg_database WHERE datname = current_database()")
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
        content: dict[str, list[Any]] = {}
        for name in names:
            content[name] = sorted((_plain(row) for row in connection.execute(text(f"SELECT * FROM {name}"))), key=str)
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
        postgres.sql(statement, database=name)
        assert rows(first) != before
    with postgres.fresh() as second:
        assert rows(second) == before


def test_what_a_test_left_running_reaches_no_later_one(postgres: Postgres) -> None:
    with postgres.fresh() as first:
        engine = create_engine(first)
        left = engine.connect()
        oid = left.execute(OID).scalar()
        left.commit()
    with postgres.fresh() as second:
        with pytest.raises(OperationalError):
            left.execute(OID)
        left.close()
        engine.dispose()
        with pytest.raises(OperationalError):
            engine.connect()
        engine = create_engine(second)
        with engine.connect() as connection:
            assert connection.execute(OID).scalar() == oid
        engine.dispose()
