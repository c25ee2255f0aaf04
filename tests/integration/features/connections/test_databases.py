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
