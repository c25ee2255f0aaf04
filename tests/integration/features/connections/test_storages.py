"""Connections to storages over the API: adding, testing and using one in a run, with real servers."""

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
from tests.support.storages import put, store_of

LIST = """name: List
nodes:
  in: ChatInput
  list: FolderFiles
    storage: {storage}
    pattern: '**'
  note: PromptTemplate
    template: '{question} {files}'
  out: ChatOutput
edges:
  in.text -> note.question
  list.table -> note.files
  note.text -> out.input
"""


@pytest.fixture
async def app(settings: Settings, tmp_path: Path) -> AsyncIterator[FastAPI]:
    folders = {"reports": FolderSettings(path=f"{tmp_path}/opened/{{tenant_id}}")}
    made = create_app(
        settings.model_copy(update={"http": LOOPBACK, "connections": ConnectionSettings(folders=folders)})
    )
    async with made.router.lifespan_context(made):
        yield made


class TestStorages:
    @pytest.mark.parametrize("kind", ["sftp", "webdav", "gcs", "azure_blob"])
    async def test_sign_in_when_they_are_tested(self, client: httpx2.AsyncClient, kind: str, tmp_path: Path) -> None:
        with store_of(kind, tmp_path) as store:
            await put(store, "a.txt", b"one")
            await connect(client, "good", kind, fields=dict(store.fields), secrets=dict(store.secrets))
            wrong = dict.fromkeys(store.secrets, "d3Jvbmctc2VjcmV0")
            await connect(client, "bad", kind, fields=dict(store.fields), secrets=wrong)
            good = (await client.post("/connections/good/test")).json()
            bad = (await client.post("/connections/bad/test")).json()
            run = await listed(client, "good")
        assert (good["ok"], bad["ok"]) == (True, False), (good, bad)
        assert "lists its folder" in good["message"]
        assert "d3Jvbmctc2VjcmV0" not in str(bad)
        assert "a.txt" in str(run["output"]), run

    async def test_another_host_key_is_refused(self, client: httpx2.AsyncClient, tmp_path: Path) -> None:
        with store_of("sftp", tmp_path) as store, store_of("sftp", tmp_path) as other:
            fields = {**store.fields, "host_key": other.fields["host_key"]}
            await connect(client, "changed", "sftp", fields=fields, secrets=dict(store.secrets))
            outcome = (await client.post("/connections/changed/test")).json()
        assert outcome["ok"] is False
        assert "key" in outcome["message"].lower()

    async def test_a_folder_is_the_one_of_the_organisation(self, client: httpx2.AsyncClient, tmp_path: Path) -> None:
        await connect(client, "archive", "local_folder", fields={"folder": "reports"})
        outcome = (await client.post("/connections/archive/test")).json()
        assert outcome["ok"] is False
        assert "does not exist" in outcome["message"]
        (tmp_path / "opened" / DEFAULT_TENANT_ID).mkdir(parents=True)
        (tmp_path / "opened" / DEFAULT_TENANT_ID / "june.csv").write_text("a")
        assert (await client.post("/connections/archive/test")).json()["ok"] is True
        assert "june.csv" in str((await listed(client, "archive"))["output"])

    async def test_a_folder_that_is_not_opened_is_refused(self, client: httpx2.AsyncClient) -> None:
        await connect(client, "elsewhere", "local_folder", fields={"folder": "/etc"})
        outcome = (await client.post("/connections/elsewhere/test")).json()
        assert outcome["ok"] is False
        assert "opened no folder" in outcome["message"]


async def listed(client: httpx2.AsyncClient, name: str) -> dict[str, object]:
    flow = await create(client, LIST.replace("{storage}", name))
    run: dict[str, object] = (await client.post(f"/flows/{flow}/runs", json={"text": "x", "wait": True})).json()
    return run
