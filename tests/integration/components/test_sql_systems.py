"""The components of SQL on MariaDB (a real server), SQLite, DuckDB and a server of SQL Server's protocol.

`test_sql.py` has PostgreSQL, `test_sql_server.py` what only SQL Server has.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import JsonValue

from headgate.components.sql.components import SqlQuery, SqlSchema
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.sdk import ComponentError
from headgate.sdk.connections import OpenedFolder
from headgate.sdk.testing import StepHarness
from tests.integration.components.test_sql import INJECTIONS, Shop
from tests.support.mariadb import PASSWORD, MariaDb, mariadb_server
from tests.support.sql_server import SqlServer, sql_server

SCHEMA = (
    "CREATE TABLE customer (id int NOT NULL PRIMARY KEY, name varchar(80) NOT NULL, joined date, balance decimal(9,2))",
    "INSERT INTO customer VALUES (1, 'Åsa', '2026-01-31', 12.50), (2, 'Bo', NULL, 3)",
    "CREATE VIEW rich AS SELECT * FROM customer WHERE balance > 10",
)
BEFORE = [(1, "Åsa", 12.5), (2, "Bo", 3.0)]
ROWS = "SELECT id, name, balance FROM customer ORDER BY id"
WRITES = [
    "INSERT INTO customer VALUES (3, 'x', NULL, 1)",
    "SELECT 1; DELETE FROM customer",
    "COMMIT; DELETE FROM customer",
    "DELETE FROM customer",
    "DROP TABLE customer",
    "DROP VIEW rich",
    "CREATE TABLE x (a int)",
    "ALTER TABLE customer ADD COLUMN more int",
    "PRAGMA query_only = off; DELETE FROM customer",
    "SET SESSION TRANSACTION READ WRITE",
    "",
]
OUTSIDE = {
    "sqlite": [
        "ATTACH DATABASE '{outside}' AS other",
        "ATTACH DATABASE ':memory:' AS other",
        "VACUUM INTO '{outside}'",
        "SELECT load_extension('{outside}')",
        "PRAGMA query_only = off",
        "PRAGMA writable_schema = on",
        "PRAGMA temp_store_directory = '/tmp'",
        "PRAGMA database_list",
        "SELECT fts3_tokenizer('simple')",
        "CREATE VIRTUAL TABLE v USING fts5(a)",
        "SELECT readfile('{secret}')",
        "SELECT * FROM pragma_database_list",
    ],
    "duckdb": [
        "ATTACH '{outside}' AS other",
        "ATTACH '{secret}' AS other (TYPE sqlite)",
        "COPY customer TO '{outside}'",
        "COPY customer FROM '{secret}'",
        "EXPORT DATABASE '{outside}'",
        "SELECT * FROM read_csv('{secret}')",
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM '{secret}'",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM secret_variable",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "INSTALL httpfs",
        "LOAD '{outside}'",
        "CREATE PERSISTENT SECRET s (TYPE s3)",
        "SELECT path FROM duckdb_databases()",
        "SELECT count(*) FROM system.main.duckdb_databases() WHERE path LIKE '%a%'",
        "SELECT * FROM query('SELECT path FROM duckdb_' || 'databases()')",
        "SELECT * FROM customer WHERE name = (SELECT path FROM duckdb_databases() LIMIT 1)",
        "INSERT INTO customer (id, name) SELECT 9, path FROM duckdb_databases()",
        "CREATE TABLE leaked AS SELECT path FROM duckdb_databases()",
        "CREATE VIEW leaked AS SELECT current_setting('allowed_paths')",
        "SELECT \"current_setting\" /* ( */ ('allowed_paths')",
        "SELECT 'allowed_paths'.current_setting()",
        "SELECT value FROM duckdb_settings()",
        "SELECT install_path FROM duckdb_extensions()",
        "PRAGMA database_list",
        "CALL pragma_database_size()",
        "SELECT 1; SELECT path FROM duckdb_databases()",
        "SET VARIABLE a = (SELECT path FROM duckdb_databases())",
        "EXPLAIN ANALYZE SELECT path FROM duckdb_databases()",
    ],
}


class System(Shop):
    """A database of a system with customers."""

    def __init__(self, kind: str, folder: Path, server: MariaDb | SqlServer | None = None) -> None:
        super().__init__(StepHarness(), "")
        self.kind, self.folder, self.server = kind, folder, server
        self.path = folder / f"shop.{kind}"

    def sql(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements past Headgate; the rows of the last."""
        if isinstance(self.server, MariaDb):
            return self.server.sql(*statements, database="shop")
        if self.server is not None:
            return self.server.sql(*statements)
        if self.kind == "sqlite":
            with sqlite3.connect(self.path) as sqlite:
                return [sqlite.execute(statement).fetchall() for statement in statements][-1]
        with duckdb.connect(self.path) as duck:
            return [duck.execute(statement).fetchall() for statement in statements][-1]

    def content(self) -> list[tuple[Any, ...]]:
        return [(id_, name, None if balance is None else float(balance)) for id_, name, balance in self.sql(ROWS)]

    def connect(self, *, writable: bool = True, file: str = "") -> None:
        """Add the connection `shop` to the harness."""
        if self.server is not None:
            fields: dict[str, JsonValue] = {"dialect": self.kind, "host": "127.0.0.1", "port": self.server.port}
            fields |= {"database": "shop", "user": "shop", "tls": "off"}
            self.harness.connect("shop", "sql", fields, secrets={"password": PASSWORD})
            return
        values: dict[str, JsonValue] = {"dialect": self.kind, "folder": "files", "file": file or self.path.name}
        opened = OpenedFolder(self.folder, writable)
        self.harness.ctx.connections["shop"] = replace(
            self.harness.connect("shop", "sql_file", values), folder=opened, hosts=()
        )


@pytest.fixture(scope="module")
def mariadb() -> Iterator[MariaDb]:
    with mariadb_server() as server:
        yield server


@pytest.fixture(params=["mariadb", "sqlserver", "sqlite", "duckdb"])
def system(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[System]:
    folder = tmp_path / "opened"
    folder.mkdir()
    with ExitStack() as stack:
        server: MariaDb | SqlServer | None = None
        if request.param == "mariadb":
            server = request.getfixturevalue("mariadb")
            server.sql(
                "DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop", "GRANT ALL ON shop.* TO shop@'127.0.0.1'"
            )
        elif request.param == "sqlserver":
            server = stack.enter_context(sql_server())
        made = System(request.param, folder, server)
        made.sql(*SCHEMA)
        made.connect()
        yield made


@pytest.fixture(params=["sqlite", "duckdb"])
def file_system(request: pytest.FixtureRequest, tmp_path: Path) -> System:
    made = System(request.param, tmp_path)
    made.sql(*SCHEMA)
    made.connect()
    return made


class TestSqlQuery:
    async def test_returns_rows_with_their_types(self, system: System) -> None:
        found = await system.query("SELECT * FROM customer WHERE id = :id", {"id": 1})
        assert found.columns == ["id", "name", "joined", "balance"]
        assert found.rows == [[1, "Åsa", "2026-01-31", 12.5]]
        assert (await system.query("WITH a AS (SELECT 1 AS n) SELECT n FROM a WHERE :x = 'y'", {"x": "n"})).rows == []

    @pytest.mark.parametrize("sql", WRITES)
    async def test_changes_nothing_whatever_it_is_given(self, system: System, sql: str) -> None:
        with pytest.raises(HeadgateError):
            await system.query(sql)
        assert system.content() == BEFORE

    @pytest.mark.parametrize("text", INJECTIONS)
    async def test_sends_values_apart_from_the_sql(self, system: System, text: str) -> None:
        assert (await system.query("SELECT id FROM customer WHERE name = :name", {"name": text})).rows == []
        assert (await system.query("SELECT CAST(:name AS char(80)) AS back", {"name": text})).rows == [[text]]

    async def test_stops_at_its_limits(self, system: System) -> None:
        many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
        with pytest.raises(ComponentError, match="more than 10 rows"):
            await system.query(many + "SELECT i FROM n", most_rows=10)
        slow = "SELECT count(*) FROM n AS a, n AS b, n AS c, n AS d WHERE a.i + b.i * c.i - d.i = 7"
        with pytest.raises(ComponentError, match="took too long"):
            await system.query(many + slow, timeout_seconds=1)
        assert system.content() == BEFORE

    async def test_writes_rows_to_a_file_as_they_arrive(self, system: System) -> None:
        lines = (await system.csv("SELECT name, balance FROM customer ORDER BY id")).decode().splitlines()
        assert (lines[:2], len(lines)) == (["name,balance", "Åsa,12.5"], 3)

    async def test_says_what_is_wrong(self, system: System) -> None:
        with pytest.raises(ComponentError, match="refused the statement"):
            await system.query("SELECT * FROM custmer")
        with pytest.raises(ComponentError, match="refused the statement"):
            await system.query("SELECT FROM WHERE")


class TestSqlWrite:
    async def test_inserts_and_updates_what_is_there(self, system: System) -> None:
        hostile = "'; DROP TABLE customer; --"
        assert await system.write([{"id": 3, "name": hostile, "balance": 1.25}], table="customer") == {"rows": 1}
        rows: list[dict[str, JsonValue]] = [{"id": 2, "name": "Bob"}, {"id": 4, "name": "Cai"}]
        assert await system.write(rows, table="customer", mode="upsert") == {"rows": 2}
        assert system.content() == [BEFORE[0], (2, "Bob", 3.0), (3, hostile, 1.25), (4, "Cai", None)]

    async def test_runs_a_statement_for_each_row(self, system: System) -> None:
        rows: list[dict[str, JsonValue]] = [{"id": 1, "more": 2}, {"id": 9, "more": 1}]
        sql = "UPDATE customer SET balance = balance + :more WHERE id = :id"
        await system.write(rows, mode="statement", sql=sql)
        assert system.content()[0] == (1, "Åsa", 14.5)

    async def test_writes_all_or_nothing(self, system: System) -> None:
        rows: list[dict[str, JsonValue]] = [{"id": 5, "name": "ok"}, {"id": 1, "name": "there"}]
        with pytest.raises(ComponentError, match="refused the statement"):
            await system.write(rows, table="customer")
        assert system.content() == BEFORE

    @pytest.mark.parametrize("name", ["custmer", "customer; DROP TABLE customer", 'customer" WHERE "1"="1'])
    async def test_knows_the_tables_and_columns(self, system: System, name: str) -> None:
        with pytest.raises(ComponentError, match="there is no table"):
            await system.write([{"id": 7, "name": "x"}], table=name)
        with pytest.raises(ComponentError, match=r"no column 'nam'; did you mean 'name'"):
            await system.write([{"id": 7, "nam": "x"}], table="customer")
        assert system.content() == BEFORE


async def test_the_schema_lists_tables_and_columns(system: System) -> None:
    outputs = await system.harness.run(SqlSchema, {"database": "shop"})
    assert ["customer", "id"] in [row[:2] for row in outputs["table"].rows if row[3:5] == [False, True]]
    assert [line.split("(")[0] for line in outputs["text"].splitlines()] == ["customer", "rich"]


class TestDatabaseFile:
    @pytest.mark.parametrize(("kind", "sql"), [(kind, sql) for kind, many in OUTSIDE.items() for sql in many])
    async def test_reaches_nothing_else(self, kind: str, sql: str, tmp_path: Path) -> None:
        folder, secret, outside = tmp_path / "opened", tmp_path / "secret.csv", tmp_path / "outside"
        folder.mkdir()
        secret.write_text("the,secret\n1,2\n", encoding="utf-8")
        system = System(kind, folder)
        system.sql(*SCHEMA)
        system.connect()
        statement = sql.format(outside=outside, secret=secret)
        with pytest.raises(HeadgateError):
            await system.query(statement)
        with pytest.raises(HeadgateError):
            await system.write([{}], mode="statement", sql=statement)
        assert not outside.exists()
        assert system.content() == BEFORE

    @pytest.mark.parametrize("stored", ["VIEW v AS SELECT current_setting('allowed_paths') AS p", "MACRO m() AS 1"])
    async def test_has_no_view_that_shows_its_place(self, tmp_path: Path, stored: str) -> None:
        system = System("duckdb", tmp_path)
        system.sql(*SCHEMA, f"CREATE {stored}")
        system.connect()
        if "VIEW" in stored:
            with pytest.raises(ComponentError, match="current_setting is not available"):
                await system.query("SELECT p FROM v")
        else:
            assert (await system.query("SELECT m() AS one")).rows == [[1]]

    async def test_names_its_tables(self, tmp_path: Path) -> None:
        system = System("duckdb", tmp_path)
        system.sql(*SCHEMA)
        system.connect()
        names = await system.query("SELECT table_name FROM information_schema.tables ORDER BY 1")
        assert names.rows == [["customer"], ["rich"]]

    @pytest.mark.parametrize("file", ["../secret", "/etc/passwd", "link", "sub", "", "a\x00b"])
    async def test_is_inside_the_folder(self, file_system: System, tmp_path: Path, file: str) -> None:
        folder = tmp_path / "inner"
        (folder / "sub").mkdir(parents=True)
        (tmp_path / "secret").write_bytes(file_system.path.read_bytes())
        (folder / "link").symlink_to(tmp_path / "secret")
        file_system.folder = folder
        file_system.connect(file=file or "../secret")
        with pytest.raises(HeadgateError):
            await file_system.query("SELECT 1")
        with pytest.raises(HeadgateError):
            await file_system.write([{}], mode="statement", sql="CREATE TABLE x (a int)")

    async def test_is_written_only_where_the_operator_allows_it(self, file_system: System) -> None:
        file_system.connect(writable=False)
        with pytest.raises(ComponentError, match="open for reading only"):
            await file_system.write([{"id": 3, "name": "x"}], table="customer")
        assert (await file_system.query("SELECT count(*) AS n FROM customer")).rows == [[2]]

    async def test_is_created_by_what_writes(self, file_system: System) -> None:
        file_system.path.unlink()
        with pytest.raises(ComponentError, match="there is no database"):
            await file_system.query("SELECT 1")
        assert not file_system.path.exists()
        await file_system.write([{}], mode="statement", sql="CREATE TABLE t (a integer)")
        await file_system.write([{"a": 1}], table="t")
        assert (await file_system.query("SELECT a FROM t")).rows == [[1]]

    async def test_that_is_no_database_is_reported(self, file_system: System) -> None:
        file_system.path.write_bytes(b"SQLite format 3\x00" + bytes(range(256)) * 40)
        with pytest.raises(HeadgateError):
            await file_system.query("SELECT * FROM customer")
        file_system.path.write_bytes(b"not a database" * 200)
        with pytest.raises(HeadgateError):
            await file_system.query("SELECT * FROM customer")

    async def test_in_use_is_reported(self, tmp_path: Path) -> None:
        system = System("sqlite", tmp_path)
        system.sql(*SCHEMA)
        system.connect()
        with sqlite3.connect(system.path, isolation_level=None) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(UpstreamFailed, match="locked"):
                await system.query("SELECT * FROM customer", timeout_seconds=1)

    async def test_of_an_unknown_system_is_refused(self, file_system: System) -> None:
        file_system.kind = "access"
        file_system.connect()
        with pytest.raises(ComponentError, match="'access' are not supported"):
            await file_system.harness.run(SqlQuery, {"database": "shop", "sql": "SELECT 1"})
