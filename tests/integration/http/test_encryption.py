"""The application with encryption on: files of every entry point are encrypted, and read as before."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from headgate.entrypoints.http.app import create_app
from headgate.features.runs.evidence.verify import verify
from headgate.foundation.settings import Settings, StorageSettings

MARKER = "PLAINTEXT-MARKER"
SAVING = """name: Saving
nodes:
  heard: ChatInput
  saved: SaveFile
    name: letter.txt
  file: FileInput
  read: ReadFile
edges:
  heard.text -> saved.content
  file.file -> read.file
"""


@pytest.fixture
async def encrypted(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    made = create_app(settings.model_copy(update={"storage": StorageSettings(encrypt=True)}))
    async with made.router.lifespan_context(made):
        transport = httpx2.ASGITransport(app=made, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1") as client:
            yield client


def stored(settings: Settings) -> list[bytes]:
    return [path.read_bytes() for path in Path(settings.data_dir / "files").rglob("*") if path.is_file()]


class TestFiles:
    async def test_are_encrypted_from_every_entry_point_and_read_as_before(
        self, encrypted: httpx2.AsyncClient, settings: Settings
    ) -> None:
        content = f"uploaded {MARKER}".encode()
        upload = (await encrypted.post("/files", files={"file": ("given.txt", content, "text/plain")})).json()
        flow = await created_in(encrypted)
        start = {"text": f"said {MARKER}", "file_ids": [upload["id"]], "wait": True}
        run = (await encrypted.post(f"/flows/{flow}/runs", json=start)).json()
        assert (run["status"], run["text"]) == ("completed", content.decode()), run
        (artifact,) = run["output"]["file_ids"]
        assert (await encrypted.get(f"/artifacts/{artifact}")).content == f"said {MARKER}".encode()
        assert (await encrypted.get(f"/files/{upload['id']}/content")).content == content
        files = stored(settings)
        assert len(files) == 2
        assert [MARKER.encode() in each for each in files] == [False, False]
        for form in ("json", "zip"):
            package = (await encrypted.get(f"/flow-runs/{run['id']}/evidence", params={"format": form})).content
            assert verify(package).good
        state = (await encrypted.get("/maintenance")).json()["encryption"]
        assert (state["encrypted"], state["since"] is not None) == (True, True)


async def created_in(client: httpx2.AsyncClient) -> str:
    answer = await client.post("/flows", json={"spec": SAVING})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])
