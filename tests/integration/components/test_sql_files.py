"""Databases in files of a run: read in the real sandbox, whatever the file and the SQL are."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from headgate.components.sql.components import SqlQuery, SqlSchema
from headgate.foundation.errors import HeadgateError
from headgate.sandbox.libraries import ISOLATED
from headgate.sandbox.limits import ISOLATED_LIMITS, ISOLATED_SIZE
from headgate.sandbox.pool import SandboxPool
from headgate.sdk import ComponentError, ConnectionReference, RunContext, Table
from tests.integration.components.test_isolated import Context
from tests.integration.components.test_sql import INJECTIONS
from tests.integration.components.test_sql_systems import OUTSIDE

SCHEMA = [
    "CREATE TABLE customer (id integer PRIMARY KEY, name text)",
    "INSERT INTO customer VALUES (1, 'Åsa'), (2, NULL)",
]


def sqlite_file(folder: Path) -> bytes:
    path = folder / "made.db"
    database = sqlite3.connect(path)
    for sql in SCHEMA:
        database.execute(sql)
    database.commit()
    database.close()
    return path.read_bytes()


@pytest.fixture
async def ctx() -> AsyncIterator[Context]:
    made = Context()
    made.pool = SandboxPool(limits=ISOLATED_LIMITS, size=ISOLATED_SIZE, insecure=True, scan=False, hosts=ISOLATED)
    yield made
    await made.pool.aclose()


async def query(ctx: Context, content: bytes, sql: str, parameters: Any = None, **values: Any) -> Table:
    file = ctx.files.add("shop.db", content)
    given = {"file": file, "sql": sql, "parameters": parameters or {}, **values}
    return await SqlQuery.create(given).attach(cast("RunContext", ctx)).give_table()


class TestFile:
    async def test_is_queried_with_bound_values(self, ctx: Context, tmp_path: Path) -> None:
        content = sqlite_file(tmp_path)
        rows = await query(ctx, content, "SELECT name FROM customer WHERE id = :id", {"id": 1})
        assert (rows.columns, rows.rows) == (["name"], [["Åsa"]])
        file = ctx.files.add("shop.db", content)
        schema = SqlSchema.create({"file": file}).attach(cast("RunContext", ctx))
        assert [row[:2] for row in (await schema.give_table()).rows] == [["customer", "id"], ["customer", "name"]]

    async def test_takes_values_apart_from_the_sql(self, ctx: Context, tmp_path: Path) -> None:
        content = sqlite_file(tmp_path)
        for text in INJECTIONS:
            rows = await query(ctx, content, "SELECT CAST(:text AS text) AS t FROM customer LIMIT 1", {"text": text})
            assert rows.rows == [[text]]

    async def test_reaches_nothing_else(self, ctx: Context, tmp_path: Path) -> None:
        secret, outside = tmp_path / "secret.csv", tmp_path / "outside"
        secret.write_text("the,secret\n1,2\n", encoding="utf-8")
        content = sqlite_file(tmp_path)
        for sql in OUTSIDE["sqlite"]:
            with pytest.raises(HeadgateError):
                await query(ctx, content, sql.format(outside=outside, secret=secret))
        assert not outside.exists()

    @pytest.mark.parametrize("sql", ["DELETE FROM customer", "DROP TABLE customer", "UPDATE customer SET name = 'x'"])
    async def test_is_only_read(self, ctx: Context, sql: str, tmp_path: Path) -> None:
        with pytest.raises(ComponentError):
            await query(ctx, sqlite_file(tmp_path), sql)

    async def test_with_too_many_rows_or_too_slow_is_refused(self, ctx: Context, tmp_path: Path) -> None:
        content = sqlite_file(tmp_path)
        with pytest.raises(ComponentError, match="more than 1 rows"):
            await query(ctx, content, "SELECT * FROM customer", most_rows=1)
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        with pytest.raises(ComponentError, match=r"took too long|stopped"):
            await query(ctx, content, endless, timeout_seconds=1)

    @pytest.mark.parametrize(
        "content", [b"", b"id,name\n1,x\n", b"SQLite format 3\0" + b"\xff" * 4096, b"12345678DUCK"]
    )
    async def test_that_is_no_database_is_refused(self, ctx: Context, content: bytes) -> None:
        with pytest.raises(HeadgateError):
            await query(ctx, content, "SELECT 1 FROM customer")

    async def test_with_a_log_of_changes_or_of_many_megabytes_is_read(self, ctx: Context, tmp_path: Path) -> None:
        path = tmp_path / "large.db"
        database = sqlite3.connect(path)
        database.execute("PRAGMA journal_mode = wal")
        database.execute("CREATE TABLE t (x blob)")
        database.executemany("INSERT INTO t VALUES (randomblob(1000000))", [()] * 60)
        database.commit()
        database.close()
        assert path.stat().st_size > 60_000_000
        assert (await query(ctx, path.read_bytes(), "SELECT count(*) AS n FROM t")).rows == [[60]]

    async def test_replaces_the_connection(self, ctx: Context, tmp_path: Path) -> None:
        with pytest.raises(ComponentError, match="both a connection and a file"):
            await query(ctx, sqlite_file(tmp_path), "SELECT 1", database=ConnectionReference("shop"))
        step = SqlQuery.create({"sql": "SELECT 1"}).attach(cast("RunContext", ctx))
        with pytest.raises(ComponentError, match="there is no database"):
            await step.give_table()
