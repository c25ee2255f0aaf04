"""Connections to databases over the API: adding, testing and using one in a run, with real databases."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.foundation.settings import ConnectionSettings, Settings
from headgate.foundation.settings.connections import FolderSettings
from tests.integration.features.connections.conftest import LOOPBACK
from tests.support.connections import connect, create
from tests.support.mariadb import PASSWORD, mariadb_server
from tests.support.sql_server import sql_server

COUNT = """name: Count
nodes:
  in: ChatInput
  count: SqlQuery
    database: shop
    sql: SELECT count(*) AS n FROM customer
  note: PromptTemplate
    template: '{question} {rows}'
  out: ChatOutput
edges:
  in.text -> note.question
  count.table -> note.rows
  note.text -> out.input
"""


@pytest.fixture
async def app(settings: Settings, tmp_path: Path) -> AsyncIterator[FastAPI]:
    folders = {"data": FolderSettings(path=f"{tmp_path}/opened/{{tenant_id}}")}
    made = create_app(
        settings.model_copy(update={"http": LOOPBACK, "connections": ConnectionSettings(folders=folders)})
    )
    async with made.router.lifespan_context(made):
        yield made


async def test_a_database_file_is_tested_and_used_in_a_run(client: httpx2.AsyncClient, tmp_path: Path) -> None:
    fields = {"dialect": "sqlite", "folder": "data", "file": "shop.db"}
    await connect(client, "shop", "sql_file", fields=fields)
    outcome = (await client.post("/connections/shop/test")).json()
    assert (outcome["ok"], "does not exist" in outcome["message"]) == (False, True), outcome
    folder = tmp_path / "opened" / DEFAULT_TENANT_ID
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("CREATE TABLE customer (id integer)")
        database.execute("INSERT INTO customer VALUES (1), (2)")
    outcome = (await client.post("/connections/shop/test")).json()
    assert (outcome["ok"], outcome["message"]) == (True, "The database was opened; tables and views: 1.")
    assert str(tmp_path) not in str(outcome)
    flow = await create(client, COUNT)
    run = (await client.post(f"/flows/{flow}/runs", json={"text": "x", "wait": True})).json()
    assert run["status"] == "completed", run
    assert "2" in str(run["output"])


async def test_the_test_of_a_server_checks_the_password(client: httpx2.AsyncClient) -> None:
    with mariadb_server() as server:
        server.sql("CREATE DATABASE shop", "GRANT ALL ON shop.* TO shop@'127.0.0.1'")
        fields = {"dialect": "mariadb", "host": "127.0.0.1", "port": server.port, "database": "shop", "user": "shop"}
        fields |= {"tls": "off"}
        await connect(client, "good", "sql", fields=fields, secrets={"password": PASSWORD})
        await connect(client, "bad", "sql", fields=fields, secrets={"password": "wrong-secret"})
        good = (await client.post("/connections/good/test")).json()
        bad = (await client.post("/connections/bad/test")).json()
    assert (good["ok"], bad["ok"]) == (True, False), (good, bad)
    assert "denied" in bad["message"].lower()
    assert "wrong-secret" not in str(bad)


async def test_the_test_of_sql_server_says_what_the_user_may_change(client: httpx2.AsyncClient) -> None:
    with sql_server() as server:
        server.sql("CREATE TABLE customer (id int PRIMARY KEY, name nvarchar(80))")
        fields = {"dialect": "sqlserver", "host": "127.0.0.1", "port": server.port, "database": "shop", "user": "shop"}
        await connect(client, "good", "sql", fields=fields | {"tls": "off"}, secrets={"password": PASSWORD})
        await connect(client, "bad", "sql", fields=fields | {"tls": "off"}, secrets={"password": "wrong-secret"})
        await connect(client, "plain", "sql", fields=fields, secrets={"password": PASSWORD})
        good = (await client.post("/connections/good/test")).json()
        server.rights += ["EXECUTE", "INSERT"]
        writer = (await client.post("/connections/good/test")).json()
        bad = (await client.post("/connections/bad/test")).json()
        plain = (await client.post("/connections/plain/test")).json()
        tables = (await client.get("/connections/good/tables")).json()
    assert (good["ok"], good["message"]) == (True, "The database was opened; tables and views: 1.")
    assert "The user may change the database (EXECUTE, INSERT)" in writer["message"]
    assert (bad["ok"], "wrong-secret" in str(bad), "Login failed" in bad["message"]) == (False, False, True), bad
    assert (plain["ok"], "refuses encryption" in plain["message"]) == (False, True), plain
    assert [(one["name"], [column["sql"] for column in one["columns"]]) for one in tables["items"]] == [
        ("customer", ["id", "name"])
    ]


async def test_tables_are_listed_searched_and_paged(client: httpx2.AsyncClient, tmp_path: Path) -> None:
    folder = tmp_path / "opened" / DEFAULT_TENANT_ID
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "shop.db") as database:
        database.execute("CREATE TABLE customer (id integer PRIMARY KEY, email text NOT NULL)")
        database.execute('CREATE TABLE "order" (id integer, "Who; --" integer REFERENCES customer(id))')
        database.execute("CREATE VIEW rich AS SELECT id FROM customer")
    await connect(client, "shop", "sql_file", fields={"dialect": "sqlite", "folder": "data", "file": "shop.db"})
    first = (await client.get("/connections/shop/tables", params={"limit": 2})).json()
    assert [one["name"] for one in first["items"]] == ["customer", "order"]
    assert first["items"][0]["columns"] == [
        {"name": "id", "sql": "id", "type": "INTEGER", "nullable": True, "key": True, "references": ""},
        {"name": "email", "sql": "email", "type": "TEXT", "nullable": False, "key": False, "references": ""},
    ]
    order = first["items"][1]
    assert (order["sql"], order["columns"][1]["sql"]) == ('"order"', '"Who; --"')
    assert order["columns"][1]["references"] == "customer.id"
    rest = (await client.get("/connections/shop/tables", params={"cursor": first["next_cursor"]})).json()
    assert ([one["name"] for one in rest["items"]], rest["next_cursor"]) == (["rich"], None)
    found = (await client.get("/connections/shop/tables", params={"q": "EMAIL"})).json()
    assert [one["name"] for one in found["items"]] == ["customer"]
    hostile = (await client.get("/connections/shop/tables", params={"q": "'; DROP TABLE customer; --%"})).json()
    assert hostile["items"] == []


async def test_tables_are_those_of_a_database_only(client: httpx2.AsyncClient, tmp_path: Path) -> None:
    await connect(client, "key", "bearer", fields={"url": "http://127.0.0.1:1"}, secrets={"token": "x"})
    assert (await client.get("/connections/key/tables")).status_code == 422
    assert (await client.get("/connections/nobody/tables")).status_code == 404
    await connect(client, "shop", "sql_file", fields={"dialect": "sqlite", "folder": "data", "file": "shop.db"})
    missing = await client.get("/connections/shop/tables")
    assert missing.status_code == 422, missing.text
    assert str(tmp_path) not in missing.text
    for dialect in ("postgresql", "sqlserver"):
        inside = {"dialect": dialect, "host": "169.254.169.254", "port": 5432, "database": "x", "user": "x"}
        await connect(client, f"inside-{dialect}", "sql", fields=inside, secrets={"password": "x"})
        refused = await client.get(f"/connections/inside-{dialect}/tables")
        assert refused.status_code in {403, 422}, refused.text
