"""Queries and writes on a real PostgreSQL server, over TCP as in production."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import psycopg
import pytest
from pydantic import JsonValue
from sqlalchemy.engine import make_url

from headgate.components.sql import csv_files
from headgate.components.sql.components import SqlQuery, SqlSchema, SqlWrite
from headgate.components.sql.statements import require_select, value_of
from headgate.foundation.errors import Forbidden, HeadgateError, UpstreamFailed
from headgate.sdk import ComponentError, File, Table
from headgate.sdk.calls import CallRequest, CallResult
from headgate.sdk.testing import StepHarness
from tests.support.databases import Postgres
from tests.support.forwarder import forwarded

SCHEMA = """
CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL, joined date, balance numeric(12,2), extra jsonb);
INSERT INTO customer VALUES (1, 'Åsa', '2026-01-31', 12.50, '{"a": [1]}'), (2, 'Bo', NULL, 3, NULL);
CREATE VIEW rich AS SELECT * FROM customer WHERE balance > 10;
CREATE FUNCTION spend() RETURNS integer LANGUAGE plpgsql AS
  $$ BEGIN UPDATE customer SET balance = 0; RETURN 1; END $$;
"""
WRITES = [
    "INSERT INTO customer VALUES (3, 'x')",
    "WITH gone AS (DELETE FROM customer RETURNING id) SELECT * FROM gone",
    "SELECT spend()",
    "SELECT 1; DELETE FROM customer",
    "SELECT 1; COMMIT; DELETE FROM customer",
    "COMMIT; BEGIN; DELETE FROM customer",
    "SET TRANSACTION READ WRITE",
    "SET default_transaction_read_only = off",
    "DO $$ BEGIN SET TRANSACTION READ WRITE; DELETE FROM customer; END $$",
    "DO $$ BEGIN COMMIT; SET TRANSACTION READ WRITE; DELETE FROM customer; END $$",
    "TRUNCATE customer",
    "DROP TABLE customer",
    "CREATE TABLE x (a int)",
    "SELECT * INTO copy FROM customer",
    "COPY customer TO PROGRAM 'cat > /tmp/x'",
    "SELECT lo_create(1)",
    "SELECT nextval('s')",
    "SELECT set_config('transaction_read_only', 'off', false); DELETE FROM customer",
    "EXPLAIN ANALYZE DELETE FROM customer",
    "LOCK TABLE customer",
    "VACUUM",
    "",
]
INJECTIONS = [
    "' OR '1'='1",
    "'; DROP TABLE customer; --",
    "\\'; DELETE FROM customer; --",
    '" OR ""="',
    "1) OR (1=1",
    "Bo'/**/OR/**/1=1--",
    ":name",
    "%(name)s",
    "%s %%",
    "$1",
    "Robert'); DROP TABLE customer;--",
    "x' UNION SELECT 1, current_user, NULL, NULL, NULL --",
    "\u02bc OR 1=1",
]


class Shop:
    """A database with customers, and a step harness with a connection to it."""

    def __init__(self, harness: StepHarness, uri: str) -> None:
        self.harness = harness
        self._uri = uri

    async def query(self, sql: str, parameters: JsonValue = None, **values: Any) -> Table:
        given = {"database": "shop", "sql": sql, "parameters": parameters or {}, **values}
        outputs = await self.harness.run(SqlQuery, given, outputs=["table"])
        found: Table = outputs["table"]
        return found

    async def csv(self, sql: str) -> bytes:
        outputs = await self.harness.run(SqlQuery, {"database": "shop", "sql": sql, "most_rows": 1}, outputs=["csv"])
        file: File = outputs["csv"]
        return await self.harness.ctx.files.read(file)

    async def write(self, rows: list[dict[str, JsonValue]], **values: Any) -> JsonValue:
        given = {"database": "shop", "rows": Table.from_records(rows), **values}
        written: JsonValue = (await self.harness.run(SqlWrite, given))["data"]
        return written

    def content(self) -> list[tuple[Any, ...]]:
        with psycopg.connect(self._uri) as connection:
            return connection.execute("SELECT id, name, balance::text FROM customer ORDER BY id").fetchall()


@pytest.fixture
async def shop(postgres: Postgres) -> AsyncIterator[Shop]:
    with postgres.empty() as url:
        parts = make_url(url)
        uri = parts.set(drivername="postgresql").render_as_string(hide_password=False)
        with psycopg.connect(uri) as connection:
            connection.execute(SCHEMA.encode())
        folder = str(parts.query["host"])
        port = int(str(parts.query.get("port", 5432)))
        with forwarded(f"{folder}/.s.PGSQL.{port}") as tcp:
            harness = StepHarness()
            fields: dict[str, JsonValue] = {"dialect": "postgresql", "host": "127.0.0.1", "port": tcp, "tls": "off"}
            fields |= {"database": str(parts.database), "user": str(parts.username)}
            harness.connect("shop", "sql", fields, secrets={"password": "not checked here"})
            yield Shop(harness, uri)


BEFORE = [(1, "Åsa", "12.50"), (2, "Bo", "3.00")]


class TestSqlQuery:
    async def test_returns_rows_with_their_types(self, shop: Shop) -> None:
        assert await shop.query("SELECT * FROM customer WHERE id = :id", {"id": 1}) == Table(
            columns=["id", "name", "joined", "balance", "extra"], rows=[[1, "Åsa", "2026-01-31", 12.5, {"a": [1]}]]
        )
        assert (await shop.query("SELECT 1::text AS a, NULL AS b WHERE :x = 'y'", {"x": "n"})).rows == []

    @pytest.mark.parametrize("sql", WRITES)
    async def test_changes_nothing_whatever_it_is_told(self, shop: Shop, sql: str) -> None:
        with pytest.raises(HeadgateError):
            await shop.query(sql)
        assert shop.content() == BEFORE

    @pytest.mark.parametrize("text", INJECTIONS)
    async def test_sends_values_apart_from_the_sql(self, shop: Shop, text: str) -> None:
        assert (await shop.query("SELECT id FROM customer WHERE name = :name", {"name": text})).rows == []
        assert (await shop.query("SELECT CAST(:name AS text) AS back", {"name": text})).rows == [[text]]

    async def test_stops_at_its_limits(self, shop: Shop) -> None:
        with pytest.raises(ComponentError, match="more than 10 rows"):
            await shop.query("SELECT * FROM generate_series(1, 1000)", most_rows=10)
        with pytest.raises(ComponentError, match="took too long"):
            await shop.query("SELECT pg_sleep(30)", timeout_seconds=1)
        with pytest.raises(ComponentError, match="more than 50 MB"):
            await shop.query("SELECT repeat('x', 1000000) FROM generate_series(1, 1000)")

    async def test_writes_more_rows_than_a_table_has_to_a_file(
        self, shop: Shop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        content = await shop.csv("SELECT i, '=a, \"b\"' AS text, NULL AS n FROM generate_series(1, 2500) AS i")
        lines = content.decode().splitlines()
        assert (lines[0], lines[1], len(lines)) == ("i,text,n", '1,"\'=a, ""b""",', 2501)
        monkeypatch.setattr(csv_files, "MOST_CSV_BYTES", 1_000_000)
        with pytest.raises(ComponentError, match="larger than 1 MB"):
            await shop.csv("SELECT repeat('x', 1000) FROM generate_series(1, 3000)")

    async def test_says_what_is_wrong(self, shop: Shop) -> None:
        with pytest.raises(ComponentError, match=r"there is no value for :nam; did you mean 'name'"):
            await shop.query("SELECT :nam", {"name": 1})
        with pytest.raises(ComponentError, match='relation "custmer" does not exist'):
            await shop.query("SELECT * FROM custmer")
        with pytest.raises(ComponentError, match="are not an object"):
            await shop.query("SELECT 1", [1])

    async def test_reaches_no_other_server(self, shop: Shop) -> None:
        fields: dict[str, JsonValue] = {"dialect": "postgresql", "host": "10.0.0.1", "port": 5432, "tls": "off"}
        shop.harness.connect("shop", "sql", fields, hosts=["db.example.org:5432"])
        with pytest.raises(Forbidden):
            await shop.query("SELECT 1")

    async def test_uses_no_password_file_of_the_server(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        given = dict[str, Any]()
        original = psycopg.connect

        def connect(**options: Any) -> Any:
            given.update(options)
            return original(**options)

        monkeypatch.setattr(psycopg, "connect", connect)
        assert (await shop.query("SELECT 1 AS a")).rows == [[1]]
        assert {given[name] for name in ("passfile", "sslcert", "sslkey")} == {"/nonexistent"}

    async def test_says_that_there_is_no_server(self) -> None:
        harness = StepHarness()
        harness.connect("shop", "sql", {"dialect": "postgresql", "host": "127.0.0.1", "port": 9, "tls": "off"})
        with pytest.raises(UpstreamFailed, match=r"127\.0\.0\.1:9 failed"):
            await harness.run(SqlQuery, {"database": "shop", "sql": "SELECT 1"})


class TestRequireSelect:
    """Found on a MariaDB server, whose read-only transaction does not refuse them."""

    @pytest.mark.parametrize(
        "sql",
        [
            "BEGIN NOT ATOMIC ROLLBACK; START TRANSACTION READ WRITE; DELETE FROM customer; COMMIT; SELECT 1; END",
            "IF 1 THEN COMMIT; DELETE FROM customer; SELECT 1; END IF",
            "CALL spend()",
            "CREATE TABLE x (a int)",
            "TRUNCATE customer",
            "SET GLOBAL max_connections = 50",
            "SET SESSION TRANSACTION READ WRITE",
            "EXECUTE IMMEDIATE 'COMMIT'",
            "SELECT * FROM customer INTO OUTFILE '/tmp/x'",
            "SELECT 1 /*!50000INTO DUMPFILE '/tmp/x' */",
            "/*! DELETE FROM customer */",
            "-- x\nDELETE FROM customer",
            "SELECTED",
            "",
        ],
    )
    def test_refuses_what_is_no_query(self, sql: str) -> None:
        with pytest.raises(ComponentError, match="is not a SELECT"):
            require_select(sql)

    @pytest.mark.parametrize("sql", ["SELECT 1", "\n select(1)", "WITH a AS (SELECT 1) SELECT * FROM a", "VALUES (1)"])
    def test_lets_queries_pass(self, sql: str) -> None:
        require_select(sql)


TABLES = ["custmer", "customer; DROP TABLE customer", 'customer" WHERE "1"="1', "x.customer"]


class TestSqlWrite:
    async def test_inserts(self, shop: Shop) -> None:
        rows: list[dict[str, JsonValue]] = [
            {"id": 3, "name": text, "joined": "2026-02-01", "balance": 1.25, "extra": {"b": True}}
            for text in ["'; DROP TABLE customer; --"]
        ]
        assert await shop.write(rows, table="customer") == {"rows": 1}
        assert shop.content() == [*BEFORE, (3, "'; DROP TABLE customer; --", "1.25")]

    async def test_answers_of_other_rows_are_not_reused(self, shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        answers = dict[str, JsonValue]()

        async def once(request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
            if request.digest not in answers:
                answers[request.digest] = await call()
            return CallResult(answers[request.digest])

        monkeypatch.setattr(shop.harness.ctx, "once", once)
        for number in (3, 3, 4):
            await shop.write([{"id": number, "name": "x"}], table="customer")
        assert [row[0] for row in shop.content()] == [1, 2, 3, 4]

    async def test_updates_what_is_there(self, shop: Shop) -> None:
        rows: list[dict[str, JsonValue]] = [{"id": 2, "name": "Bob"}, {"id": 4, "name": "Cai"}]
        assert await shop.write(rows, table="public.customer", mode="upsert") == {"rows": 2}
        assert shop.content() == [BEFORE[0], (2, "Bob", "3.00"), (4, "Cai", None)]

    async def test_runs_a_statement_for_each_row(self, shop: Shop) -> None:
        rows: list[dict[str, JsonValue]] = [{"id": 1, "more": 2}, {"id": 9, "more": 1}]
        sql = "UPDATE customer SET balance = balance + :more WHERE id = :id"
        assert await shop.write(rows, mode="statement", sql=sql) == {"rows": 1}
        assert shop.content()[0] == (1, "Åsa", "14.50")

    async def test_writes_all_or_nothing(self, shop: Shop) -> None:
        rows: list[dict[str, JsonValue]] = [{"id": 5, "name": "ok"}, {"id": 1, "name": "there"}]
        with pytest.raises(ComponentError, match="duplicate key"):
            await shop.write(rows, table="customer")
        assert shop.content() == BEFORE

    @pytest.mark.parametrize("name", TABLES)
    async def test_knows_the_tables(self, shop: Shop, name: str) -> None:
        with pytest.raises(ComponentError, match="there is no table"):
            await shop.write([{"id": 7, "name": "x"}], table=name)
        assert shop.content() == BEFORE

    async def test_knows_the_columns(self, shop: Shop) -> None:
        with pytest.raises(ComponentError, match=r"no column 'nam'; did you mean 'name'"):
            await shop.write([{"id": 7, "nam": "x"}], table="customer")
        with pytest.raises(ComponentError, match="the mode insert needs a table"):
            await shop.write([{"id": 7}])


class TestSqlSchema:
    async def test_lists_tables_and_columns(self, shop: Shop) -> None:
        outputs = await shop.harness.run(SqlSchema, {"database": "shop"})
        assert ["customer", "id", "INTEGER", False, True, ""] in outputs["table"].rows
        assert outputs["text"].splitlines()[0].startswith("customer(id INTEGER key, name TEXT, joined DATE")
        assert outputs["text"].splitlines()[1].startswith("rich(")
        only = await shop.harness.run(SqlSchema, {"database": "shop", "match": "RICH"}, outputs=["text"])
        assert only["text"].startswith("rich(")


class TestValueOf:
    def test_gives_json(self) -> None:
        from datetime import UTC, datetime, timedelta
        from decimal import Decimal

        given = [Decimal("0.1"), Decimal("3.0"), Decimal("1.00000000000000000001"), Decimal("NaN"), 2**70, b"\x01"]
        assert [value_of(one) for one in given] == [0.1, 3, "1.00000000000000000001", None, str(2**70), "01"]
        assert value_of(datetime(2026, 1, 31, tzinfo=UTC)) == "2026-01-31T00:00:00+00:00"
        assert value_of([timedelta(seconds=1), {"a": float("inf")}]) == ["0:00:01", {"a": None}]
