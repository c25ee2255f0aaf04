"""A folder of the server as a source: incremental, with deletion and rights followed, and nothing outside of it."""

import asyncio
import os
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import update

from headgate.features.knowledge_sources.syncing import SourceSync
from headgate.features.knowledge_sources.tables import SourceRow
from tests.integration.features.knowledge.conftest import API
from tests.integration.features.knowledge.test_attachments import CSV, message
from tests.integration.features.knowledge_sources.conftest import Sources, report
from tests.support.storages import put, store_of

FILES = {"kind": "storage", "connection": "archive"}


@pytest.fixture
async def sources(sources: Sources, folder: Path) -> Sources:
    (folder / "rules").mkdir()
    (folder / "rules" / "leave.md").write_text("# Leave\n\nEmployees have 27 days of holiday.")
    (folder / "door.txt").write_text("The door code is Zephyr.")
    await sources.connect("archive", "local_folder", {"folder": "reports"})
    return sources


class TestStorage:
    async def test_its_files_become_documents_that_are_searched(self, sources: Sources) -> None:
        source = await sources.source(FILES, "Archive", readers={"role": "editor"}, classification=1)
        assert (source["status"], source["problem"]) == ("ready", "")
        assert report(source, "listed", "done", "added", "failed") == [2, 2, 2, 0]
        assert await sources.names() == ["Archive/door.txt", "Archive/rules/leave.md"]
        (hit,) = await sources.search(sources.base_id, "holiday")
        assert (hit["document"], hit["classification"]) == ("Archive/rules/leave.md", 1)
        document = (await sources.documents())[0]
        assert (document["readers"]["role"], document["source"]) == ("editor", "storage: rules/leave.md")

    @pytest.mark.parametrize("kind", ["gcs", "azure_blob"])
    async def test_objects_of_a_cloud_become_documents(self, sources: Sources, tmp_path: Path, kind: str) -> None:
        with store_of(kind, tmp_path) as store:
            await put(store, "rules/leave.md", b"# Leave\n\nEmployees have 31 days of holiday.")
            await sources.connect("cloud", kind, dict(store.fields), **store.secrets)
            config = {**FILES, "connection": "cloud"}
            source = await sources.source(config, "Cloud")
            assert (source["status"], source["problem"]) == ("ready", "")
            assert await sources.names() == ["Cloud/rules/leave.md"]
            assert report(await sources.sync(source), "unchanged", "added") == [1, 0]

    async def test_attachments_of_its_messages_have_their_rights_and_go_with_them(
        self, sources: Sources, folder: Path
    ) -> None:
        mail = message("Trip", "See the table.", rates=CSV, inner=message("In", "Text.", deep=CSV))
        (folder / "trip.eml").write_bytes(mail.as_bytes())
        source = await sources.source({**FILES, "pattern": "*.eml"}, "Archive", readers={"role": "editor"})
        assert report(source, "listed", "added") == [1, 1]
        names = ["Archive/trip.eml", "Archive/trip.eml/inner.eml", "Archive/trip.eml/inner.eml/deep.csv"]
        assert await sources.names() == [*names, "Archive/trip.eml/rates.csv"]
        assert {document["readers"]["role"] for document in await sources.documents()} == {"editor"}
        body = {"readers": {"role": "owner", "users": [], "groups": []}, "classification": 2}
        path = f"{API}/{sources.base_id}/sources/{source['id']}"
        assert (await sources.client.patch(path, json=body)).status_code == 200
        source = await sources.ended(source["id"])
        rights = {(item["readers"]["role"], item["classification"]) for item in await sources.documents()}
        assert rights == {("owner", 2)}
        (folder / "trip.eml").unlink()
        await sources.sync(source)
        assert await sources.names() == []

    async def test_only_what_changed_is_read_again_and_what_is_gone_is_deleted(
        self, sources: Sources, folder: Path
    ) -> None:
        source = await sources.source(FILES, "Archive")
        before = {item["name"]: item for item in await sources.documents()}
        unchanged = await sources.sync(source)
        assert report(unchanged, "unchanged", "added", "changed", "deleted") == [2, 0, 0, 0]
        (folder / "door.txt").write_text("The door code is Quokka.")
        (folder / "new.txt").write_text("Parking costs 5 EUR.")
        (folder / "rules" / "leave.md").unlink()
        source = await sources.sync(source)
        assert report(source, "unchanged", "added", "changed", "deleted") == [0, 1, 1, 1]
        after = {item["name"]: item for item in await sources.documents()}
        assert sorted(after) == ["Archive/door.txt", "Archive/new.txt"]
        assert after["Archive/door.txt"]["id"] == before["Archive/door.txt"]["id"]
        assert after["Archive/door.txt"]["version"] == 2
        assert await sources.search(sources.base_id, "holiday") == []
        assert len(await sources.search(sources.base_id, "quokka")) == 1

    async def test_a_file_that_was_only_touched_is_no_new_version(self, sources: Sources, folder: Path) -> None:
        source = await sources.source(FILES, "Archive")
        os.utime(folder / "door.txt", (1, 1))
        source = await sources.sync(source)
        assert report(source, "unchanged", "changed") == [2, 0]
        assert {item["version"] for item in await sources.documents()} == {1}

    async def test_links_that_lead_out_of_the_folder_are_not_followed(
        self, sources: Sources, folder: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "secret.txt").write_text("The vault code is Walrus.")
        (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
        (folder / "up").symlink_to(tmp_path)
        await sources.source(FILES, "Archive")
        assert await sources.names() == ["Archive/door.txt", "Archive/rules/leave.md"]
        escaping = await sources.source(FILES | {"folder": "../.."}, "Outside")
        assert escaping["status"] == "failed"
        assert "is not a path in the storage" in escaping["problem"]

    async def test_says_what_was_not_understood(self, sources: Sources, folder: Path) -> None:
        (folder / "bomb.docx").write_bytes(b"PK\x03\x04 nothing")
        (folder / "empty.txt").write_text(" ")
        source = await sources.source(FILES, "Archive")
        assert (source["status"], source["problems"]) == ("ready", 2)
        problems = await sources.problems(source)
        assert sorted(problems) == ["bomb.docx", "empty.txt"]
        assert "is not a Word document" in problems["bomb.docx"][0]
        assert problems["empty.txt"] == ["The document has no text."]

    async def test_a_document_of_the_name_that_is_not_of_the_source_stays(self, sources: Sources) -> None:
        file_id = await sources.upload("door.txt", "Mine.")
        body = {"file_id": file_id, "name": "Archive/door.txt"}
        await sources.client.post(f"{API}/{sources.base_id}/documents", json=body)
        source = await sources.source(FILES, "Archive")
        assert report(source, "added", "failed") == [1, 1]
        assert "that is not of this source" in (await sources.problems(source))["door.txt"][0]
        assert {item["version"] for item in await sources.documents()} == {1}

    async def test_a_document_that_was_deleted_by_hand_comes_back(self, sources: Sources) -> None:
        source = await sources.source(FILES, "Archive")
        document = (await sources.documents())[0]
        await sources.client.delete(f"{API}/{sources.base_id}/documents/{document['id']}")
        source = await sources.sync(source)
        assert report(source, "added", "unchanged") == [1, 1]

    async def test_rights_apply_to_all_of_its_documents(self, sources: Sources) -> None:
        source = await sources.source(FILES, "Archive")
        change = {"readers": {"role": "owner"}, "classification": 2}
        changed = await sources.client.patch(f"{API}/{sources.base_id}/sources/{source['id']}", json=change)
        assert changed.status_code == 200, changed.text
        assert {(item["readers"]["role"], item["classification"]) for item in await sources.documents()} == {
            ("owner", 2)
        }

    async def test_metadata_is_given_to_new_documents_and_changed_for_all(self, sources: Sources, folder: Path) -> None:
        source = await sources.source(FILES, "Archive", metadata={"team": "hr", "year": 2024})
        assert source["metadata"] == {"team": "hr", "year": 2024}
        assert {str(item["metadata"]) for item in await sources.documents()} == {str(source["metadata"])}
        (folder / "new.md").write_text("A new file.")
        changed = await sources.client.patch(
            f"{API}/{sources.base_id}/sources/{source['id']}", json={"metadata": {"team": "it"}}
        )
        assert changed.json()["metadata"] == {"team": "it"}
        await sources.sync(source)
        assert [item["metadata"] for item in await sources.documents()] == [{"team": "it"}] * 3

    async def test_a_change_keeps_the_classification_of_the_connection(self, sources: Sources, app: FastAPI) -> None:
        source = await sources.source(FILES, "Archive")
        async with app.state.database.writing() as session:
            await session.execute(update(SourceRow).values(connection_level=3))
        url = f"{API}/{sources.base_id}/sources/{source['id']}"
        assert (await sources.client.patch(url, json={"classification": 1})).status_code == 200
        assert {item["classification"] for item in await sources.documents()} == {3}

    async def test_is_deleted_without_its_documents(self, sources: Sources) -> None:
        source = await sources.source(FILES, "Archive")
        assert (await sources.client.delete(f"{API}/{sources.base_id}/sources/{source['id']}")).status_code == 204
        assert len(await sources.names()) == 2
        assert (await sources.client.get(f"{API}/{sources.base_id}/sources")).json() == []

    async def test_a_key_that_may_not_view_connections_adds_none_that_is_read_with_one(
        self, sources: Sources, client: httpx2.AsyncClient
    ) -> None:
        body = {"name": "narrow", "scopes": ["knowledge.view", "knowledge.edit"]}
        key = await client.post("/api/v1/api-keys", json=body)
        assert key.status_code == 201, key.text
        headers = {"authorization": f"Bearer {key.json()['key']}"}
        url = f"{API}/{sources.base_id}/sources"
        refused = await client.post(url, json={"name": "Archive", "config": FILES}, headers=headers)
        assert (refused.status_code, "connections.view" in refused.text) == (403, True), refused.text

    async def test_names_are_unique_in_a_base(self, sources: Sources) -> None:
        await sources.source(FILES, "Archive")
        again = await sources.client.post(f"{API}/{sources.base_id}/sources", json={"name": "Archive", "config": FILES})
        assert (again.status_code, again.json()["code"]) == (409, "knowledge_source_name_taken")

    async def test_a_connection_that_does_not_exist_is_said(self, sources: Sources) -> None:
        source = await sources.source(FILES | {"connection": "nowhere"}, "Archive")
        assert source["status"] == "failed"
        assert "nowhere" in source["problem"]


class TestSynchronisation:
    async def test_continues_where_it_was_interrupted_and_reads_nothing_twice(
        self, sources: Sources, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for number in range(30):
            (folder / f"{number:02}.txt").write_text(f"Number {number}.")
        stored = list[str]()
        put = SourceSync._put

        async def interrupted(self: SourceSync, sync: Any, entry: Any, *more: Any) -> None:
            await put(self, sync, entry, *more)
            stored.append(entry.key)
            if len(stored) in {10, 20}:
                raise asyncio.CancelledError

        monkeypatch.setattr(SourceSync, "_put", interrupted)
        source = await sources.source(FILES, "Archive")
        assert source["status"] == "ready"
        assert len(stored) == len(set(stored)) == 32
        assert report(source, "listed", "added", "unchanged") == [32, 12, 20]
        assert {item["version"] for item in await sources.documents()} == {1}

    async def test_writes_nothing_of_settings_that_were_changed_meanwhile(
        self, sources: Sources, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put, changed = SourceSync._put, list[int]()

        async def overtaken(self: SourceSync, sync: Any, entry: Any, *more: Any) -> None:
            if not changed:
                url = f"{API}/{sources.base_id}/sources/{sync.source.id}"
                config = FILES | {"pattern": "*.txt"}
                changed.append((await sources.client.patch(url, json={"config": config})).status_code)
            await put(self, sync, entry, *more)

        monkeypatch.setattr(SourceSync, "_put", overtaken)
        source = await sources.source(FILES | {"pattern": "rules/*"}, "Archive")
        assert changed == [200]
        assert await sources.names() == ["Archive/door.txt"]
        assert report(source, "added", "deleted") == [1, 0]

    async def test_is_one_at_a_time(self, sources: Sources, app: FastAPI) -> None:
        source = await sources.source(FILES, "Archive")
        database = app.state.database
        async with database.writing() as session:
            claimed = update(SourceRow).where(SourceRow.id == source["id"])
            await session.execute(claimed.values(worker_id="another", lease_until=2**62))
        asked = await sources.client.post(f"{API}/{sources.base_id}/sources/{source['id']}/sync")
        assert (asked.status_code, asked.json()["code"]) == (409, "knowledge_source_busy")

    async def test_happens_by_schedule(self, sources: Sources, folder: Path, app: FastAPI) -> None:
        source = await sources.source(FILES, "Archive", every_seconds=3600)
        assert source["next_at"] is not None
        (folder / "late.txt").write_text("Late.")
        async with app.state.database.writing() as session:
            await session.execute(update(SourceRow).where(SourceRow.id == source["id"]).values(due_at=1))
        for _ in range(200):
            if "Archive/late.txt" in await sources.names():
                break
            await asyncio.sleep(0.05)
        assert "Archive/late.txt" in await sources.names()

    async def test_is_in_the_audit_log(self, sources: Sources) -> None:
        await sources.source(FILES, "Archive")
        entries = (await sources.client.get("/api/v1/audit", params={"limit": 100})).json()["items"]
        (entry,) = [entry for entry in entries if entry["action"] == "knowledge_source.synchronised"]
        assert "Source Archive" in str(entry)
        assert '"added": 2' in str(entry).replace("'", '"')
