"""Connections to storages over the API: adding, testing and using one in a run, with real servers."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.features.connections import manage
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


class TestBrowsing:
    @pytest.fixture
    async def folder(self, client: httpx2.AsyncClient, tmp_path: Path) -> Path:
        opened = tmp_path / "opened" / DEFAULT_TENANT_ID
        (opened / "2027" / "june").mkdir(parents=True)
        (opened / "b.csv").write_text("four")
        (opened / "Annual report.pdf").write_text("")
        (opened / "outside").symlink_to("/etc")
        (opened / ".headgate-half").write_text("half")
        await connect(client, "archive", "local_folder", fields={"folder": "reports"})
        return opened

    async def test_lists_folders_then_files_with_size_and_time(self, client: httpx2.AsyncClient, folder: Path) -> None:
        page = (await client.get("/connections/archive/files")).json()
        entries = [(entry["path"], entry["is_folder"], entry["size"]) for entry in page["items"]]
        assert entries == [("2027", True, 0), ("Annual report.pdf", False, 0), ("b.csv", False, 4)]
        assert all(entry["changed"] for entry in page["items"])
        assert page["next_cursor"] is None
        inside = (await client.get("/connections/archive/files", params={"folder": "/2027/"})).json()
        assert [(entry["name"], entry["path"]) for entry in inside["items"]] == [("june", "2027/june")]

    async def test_searches_and_pages(
        self, client: httpx2.AsyncClient, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def names(**params: str) -> tuple[list[str], str | None]:
            page = (await client.get("/connections/archive/files", params=params)).json()
            return [entry["name"] for entry in page["items"]], page["next_cursor"]

        assert await names(search="REPORT") == (["Annual report.pdf"], None)
        monkeypatch.setattr(manage, "PAGE_SIZE", 1)
        first, cursor = await names()
        (folder / "2027" / "june").rmdir()
        (folder / "2027").rmdir()  # what is deleted meanwhile moves no other entry
        second, cursor = await names(cursor=cursor or "")
        third, end = await names(cursor=cursor or "")
        assert (first, second, third, end) == (["2027"], ["Annual report.pdf"], ["b.csv"], None)

    async def test_errors_say_what_to_do(self, client: httpx2.AsyncClient, folder: Path) -> None:
        for path, words in (("../x", "without '..'"), ("nowhere", "Check the path"), ("outside", "Check the path")):
            refused = await client.get("/connections/archive/files", params={"folder": path})
            assert refused.status_code == 422, refused.text
            assert words in refused.json()["remedy"], path
        await connect(client, "api", "public_api", fields={"url": "https://api.example.org"})
        other = await client.get("/connections/api/files")
        assert (other.status_code, other.json()["code"]) == (422, "bad_connection")
        assert "s3" in other.json()["remedy"]
        assert (await client.get("/connections/none/files")).status_code == 404

    @pytest.mark.parametrize("kind", ["s3", "gcs", "azure_blob", "sftp", "webdav"])
    async def test_lists_every_kind(self, client: httpx2.AsyncClient, kind: str, tmp_path: Path) -> None:
        with store_of(kind, tmp_path) as store:
            await put(store, "in/a #1.txt", b"one")
            await connect(client, "store", kind, fields=dict(store.fields), secrets=dict(store.secrets))
            root = (await client.get("/connections/store/files")).json()["items"]
            inside = (await client.get("/connections/store/files", params={"folder": "in"})).json()["items"]
        assert [(entry["path"], entry["is_folder"]) for entry in root if entry["path"] == "in"] == [("in", True)]
        assert [(entry["path"], entry["size"]) for entry in inside] == [("in/a #1.txt", 3)]


async def listed(client: httpx2.AsyncClient, name: str) -> dict[str, object]:
    flow = await create(client, LIST.replace("{storage}", name))
    run: dict[str, object] = (await client.post(f"/flows/{flow}/runs", json={"text": "x", "wait": True})).json()
    return run
