import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2
import pytest
from sqlalchemy import func, select

from headgate.features.access.principal import DEFAULT_TENANT_ID, DEFAULT_USER_ID, LOCAL
from headgate.features.files import service
from headgate.features.files.errors import FileNotFound, FileTooLarge, NoRoomForFile
from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.routes import router
from headgate.features.files.run_files import RunFiles
from headgate.features.files.tables import StoredFile
from headgate.features.runs.quotas.service import Quotas
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import LimitSettings, QuotaSettings, ServerSettings, Settings
from tests.support.api import api
from tests.support.engine import OneSpace
from tests.support.tenants import add_tenant

UPLOAD_LIMIT = 200_000
NOBODYS = "00000000-0000-7000-8000-000000000099"


@dataclass(frozen=True)
class Run:
    run_id: str
    tenant_id: str
    flow_id: str


@dataclass(frozen=True)
class Origin:
    key: Run
    step_id: str


@pytest.fixture
def storage(tmp_path: Path) -> LocalStorage:
    return LocalStorage(tmp_path / "files")


@pytest.fixture
def run_files(database: Database, storage: LocalStorage) -> RunFiles:
    return RunFiles(database, storage, OneSpace(), LimitSettings(max_artifact_bytes=2048))


@pytest.fixture
def origin() -> Origin:
    return Origin(Run(run_id=new_id(), tenant_id=DEFAULT_TENANT_ID, flow_id=new_id()), "brief")


@pytest.fixture
async def client(database: Database, storage: LocalStorage, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(data_dir=tmp_path, server=ServerSettings(max_upload_bytes=UPLOAD_LIMIT))
    quotas = Quotas(database, settings.quotas)
    async with api(router, database=database, storage=storage, settings=settings, quotas=quotas) as found:
        yield found


def part(disposition: bytes) -> bytes:
    """A form of one part, boundary `x`."""
    return b"--x\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\ntext\r\n--x--\r\n"


def on_disk(folder: Path) -> list[Path]:
    return [path for path in (folder / "files").rglob("*") if path.is_file()]


async def count(database: Database) -> int:
    async with database.reading() as session:
        return (await session.execute(select(func.count()).select_from(StoredFile))).scalar_one()


class TestStoreUpload:
    async def test_keeps_record_and_content(self, database: Database, storage: LocalStorage) -> None:
        row = await service.store_upload(database, storage, LOCAL, name="../a b.txt", content=b"hello")
        assert (row.name, row.media_type, row.size_bytes) == ("a b.txt", "text/plain", 5)
        assert (row.owner_user_id, row.flow_run_id) == (DEFAULT_USER_ID, None)
        found = await service.read_file(database, storage, tenant_id=DEFAULT_TENANT_ID, file_id=row.id)
        assert found == b"hello"

    async def test_keeps_no_content_without_a_record(
        self, database: Database, storage: LocalStorage, tmp_path: Path
    ) -> None:
        nobody = replace(LOCAL, user_id=new_id())
        with pytest.raises(Exception, match=r"(?i)foreign"):
            await service.store_upload(database, storage, nobody, name="a", content=b"x")
        assert on_disk(tmp_path) == []

    async def test_keeps_no_record_without_a_content(self, database: Database, storage: LocalStorage) -> None:
        with pytest.raises(FileTooLarge):
            await service.store_upload(database, storage, LOCAL, name="a", content=b"12345", max_bytes=4)
        assert await count(database) == 0

    async def test_holds_no_connection_while_the_content_comes(self, database: Database, storage: LocalStorage) -> None:
        async def slow() -> AsyncIterator[bytes]:
            yield b"a"
            async with asyncio.timeout(2), database.writing() as session:
                await session.execute(select(StoredFile.id).with_for_update())
            yield b"b"

        row = await service.store_upload(database, storage, LOCAL, name="a", content=slow())
        assert row.size_bytes == 2


class TestRunFiles:
    async def test_keep_an_artifact_with_its_tags(
        self, database: Database, run_files: RunFiles, origin: Origin
    ) -> None:
        saved = await run_files.save(origin, "result.csv", b"a,b\n", "text/csv")
        assert (saved.name, saved.media_type, saved.size) == ("result.csv", "text/csv", 4)
        assert await run_files.read(DEFAULT_TENANT_ID, saved.id) == b"a,b\n"
        async with database.reading() as session:
            row = await service.get_file(session, LOCAL, saved.id)
        assert (row.flow_id, row.flow_run_id, row.step_id) == (origin.key.flow_id, origin.key.run_id, "brief")

    async def test_describe_files_in_the_order_asked(self, run_files: RunFiles, origin: Origin) -> None:
        made = [await run_files.save(origin, f"{number}.txt", b"x", "text/plain") for number in range(3)]
        asked = [made[2].id, made[0].id, made[2].id]
        assert [file.id for file in (await run_files.given(LOCAL, asked)).files] == asked
        assert (await run_files.given(LOCAL, [])).files == ()

    @pytest.mark.parametrize("file_id", [NOBODYS, "", "\x00", "../x", "A" * 36])
    async def test_name_a_file_that_is_not_there(self, run_files: RunFiles, file_id: str) -> None:
        with pytest.raises(FileNotFound):
            await run_files.given(LOCAL, [file_id])
        with pytest.raises(FileNotFound):
            await run_files.read(DEFAULT_TENANT_ID, file_id)

    async def test_refuse_an_artifact_over_the_limit(self, run_files: RunFiles, origin: Origin, tmp_path: Path) -> None:
        with pytest.raises(FileTooLarge, match="2048"):
            await run_files.save(origin, "big", bytes(2049), "")
        assert on_disk(tmp_path) == []

    async def test_show_nothing_to_another_tenant(
        self, database: Database, run_files: RunFiles, origin: Origin
    ) -> None:
        saved = await run_files.save(origin, "a", b"x", "")
        other = await add_tenant(database)
        with pytest.raises(FileNotFound):
            await run_files.read(other.tenant_id, saved.id)
        with pytest.raises(FileNotFound):
            await run_files.given(other, [saved.id])


class TestUpload:
    async def test_keeps_the_file_of_a_form(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/files", files={"file": ("Räkning.pdf", b"%PDF-1.7 x", "text/html")})
        assert answer.status_code == 201
        body = answer.json()
        assert (body["name"], body["media_type"], body["size_bytes"]) == ("Räkning.pdf", "application/pdf", 10)
        assert (await client.get(f"/files/{body['id']}")).json() == body

    async def test_takes_a_file_of_just_the_limit(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/files", files={"file": ("a.bin", bytes(UPLOAD_LIMIT))})
        assert (answer.status_code, answer.json()["size_bytes"]) == (201, UPLOAD_LIMIT)

    async def test_refuses_a_file_over_the_limit(
        self, client: httpx2.AsyncClient, database: Database, tmp_path: Path
    ) -> None:
        answer = await client.post("/files", files={"file": ("a.bin", bytes(UPLOAD_LIMIT + 1))})
        assert (answer.status_code, answer.json()["code"]) == (413, "file_too_large")
        assert (on_disk(tmp_path), await count(database)) == ([], 0)

    async def test_refuses_what_the_tenant_has_no_room_for(
        self, database: Database, storage: LocalStorage, origin: Origin, run_files: RunFiles, tmp_path: Path
    ) -> None:
        settings = Settings(
            data_dir=tmp_path,
            server=ServerSettings(max_upload_bytes=UPLOAD_LIMIT),
        )
        quotas = Quotas(database, QuotaSettings(tenant_storage_bytes=1000))
        await run_files.save(origin, "made", bytes(600), "")
        async with api(router, database=database, storage=storage, settings=settings, quotas=quotas) as client:
            large = await client.post("/files", files={"file": ("a.bin", bytes(401))})
            assert (large.status_code, large.json()["code"]) == (413, "no_room_for_file")
            assert "Your organisation has a limit of 1,000 bytes for stored files" in large.json()["detail"]
            assert "HEADGATE_QUOTAS__TENANT_STORAGE_BYTES" in large.json()["remedy"]
            assert len(on_disk(tmp_path)) == await count(database) == 1
            assert (await client.post("/files", files={"file": ("b.bin", bytes(400))})).status_code == 201
            full = await client.post("/files", files={"file": ("c.bin", b"x")})
            assert (full.status_code, full.json()["code"]) == (413, "no_room_for_file")
            over = await client.post("/files", files={"file": ("d.bin", bytes(UPLOAD_LIMIT * 2))})
            assert over.json()["code"] == "file_too_large", "there is no use in making room for it"
        other = await add_tenant(database)
        async with api(
            router, principal=other, database=database, storage=storage, settings=settings, quotas=quotas
        ) as theirs:
            assert (await theirs.post("/files", files={"file": ("a.bin", bytes(1000))})).status_code == 201
        bounded = RunFiles(database, storage, OneSpace(), LimitSettings(max_artifact_bytes=2048), lambda: quotas)
        with pytest.raises(NoRoomForFile):
            await bounded.save(origin, "more", b"x", "")
        assert len(on_disk(tmp_path)) == await count(database)

    async def test_refuses_what_has_no_room_beside_what_came_at_the_same_time(
        self, database: Database, storage: LocalStorage, tmp_path: Path
    ) -> None:
        begun, other_is_in = asyncio.Event(), asyncio.Event()
        quotas = Quotas(database, QuotaSettings(tenant_storage_bytes=1000))

        async def slowly() -> AsyncIterator[bytes]:
            begun.set()
            await other_is_in.wait()
            yield bytes(600)

        async def keep(content: bytes | AsyncIterator[bytes]) -> StoredFile:
            return await service.store_upload(database, storage, LOCAL, name="a", content=content, limits=quotas)

        slow = asyncio.create_task(keep(slowly()))
        await begun.wait()
        await keep(bytes(600))
        other_is_in.set()
        with pytest.raises(NoRoomForFile, match="which this file would exceed"):
            await slow
        assert len(on_disk(tmp_path)) == await count(database) == 1

    async def test_stops_reading_an_endless_upload(self, client: httpx2.AsyncClient) -> None:
        sent = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal sent
            yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
            while sent < 100 * UPLOAD_LIMIT:
                sent += 10_000
                yield bytes(10_000)

        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = await client.post("/files", content=endless(), headers=headers)
        assert answer.status_code == 413
        assert sent < 2 * UPLOAD_LIMIT

    @pytest.mark.parametrize(
        ("content_type", "body"),
        [
            ("application/json", b"{}"),
            ("application/x-www-form-urlencoded", b"file=x"),
            ("multipart/form-data", b"--x--\r\n"),
            ("multipart/form-data; boundary=x", b""),
            ("multipart/form-data; boundary=x", b"--x--\r\n"),
            ("multipart/form-data; boundary=x", b"nonsense"),
            ("multipart/form-data; boundary=x", part(b'name="file"')),
            ("multipart/form-data; boundary=x", part(b'name="other"; filename="a"')),
        ],
    )
    async def test_says_that_the_form_holds_no_file(
        self, client: httpx2.AsyncClient, content_type: str, body: bytes
    ) -> None:
        answer = await client.post("/files", content=body, headers={"Content-Type": content_type})
        assert (answer.status_code, answer.json()["code"]) == (422, "bad_upload")

    async def test_refuses_two_files(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/files", files=[("file", ("a", b"1")), ("file", ("b", b"2"))])
        assert answer.json()["code"] == "bad_upload"


class TestDownload:
    async def test_sends_a_file_as_an_attachment(self, client: httpx2.AsyncClient) -> None:
        made = (await client.post("/files", files={"file": ("Räkning 1.html", b"<script>alert(1)</script>")})).json()
        answer = await client.get(f"/files/{made['id']}/content")
        assert answer.content == b"<script>alert(1)</script>"
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["content-length"] == "25"
        assert answer.headers["content-disposition"] == (
            "attachment; filename=\"Rakning 1.html\"; filename*=UTF-8''R%C3%A4kning%201.html"
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        assert answer.headers["etag"] == f'"{made["sha256"]}"'

    async def test_sends_what_a_run_made_under_artifacts_too(
        self, client: httpx2.AsyncClient, run_files: RunFiles, origin: Origin
    ) -> None:
        saved = await run_files.save(origin, "result.md", b"# Done", "")
        for path in (f"/artifacts/{saved.id}", f"/files/{saved.id}/content"):
            assert (await client.get(path)).content == b"# Done"

    async def test_does_not_call_an_upload_an_artifact(self, client: httpx2.AsyncClient) -> None:
        made = (await client.post("/files", files={"file": ("a", b"x")})).json()
        assert (await client.get(f"/artifacts/{made['id']}")).status_code == 404

    async def test_refuses_a_damaged_file_before_the_first_byte(
        self, client: httpx2.AsyncClient, tmp_path: Path
    ) -> None:
        made = (await client.post("/files", files={"file": ("a", b"true")})).json()
        (path,) = on_disk(tmp_path)
        path.write_bytes(b"lies")
        answer = await client.get(f"/files/{made['id']}/content")
        assert (answer.status_code, answer.json()["code"]) == (503, "file_damaged")

    async def test_answers_404_for_what_is_not_there(self, client: httpx2.AsyncClient) -> None:
        for file_id in (NOBODYS, "x", "%00", "..%2f..%2fetc%2fpasswd", "A" * 36):
            for path in (f"/files/{file_id}", f"/files/{file_id}/content", f"/artifacts/{file_id}"):
                assert (await client.get(path)).status_code == 404, path


class TestList:
    async def test_comes_in_pages_newest_first(self, client: httpx2.AsyncClient) -> None:
        made = [(await client.post("/files", files={"file": (f"{n}", b"x")})).json()["id"] for n in range(5)]
        seen: list[str] = []
        params: dict[str, str | int] = {"limit": 2}
        for _ in range(3):
            page = (await client.get("/files", params=params)).json()
            seen += [item["id"] for item in page["items"]]
            params["cursor"] = page["next_cursor"] or ""
        assert seen == made[::-1]
        assert page["next_cursor"] is None

    async def test_can_be_of_one_run(self, client: httpx2.AsyncClient, run_files: RunFiles, origin: Origin) -> None:
        await client.post("/files", files={"file": ("upload", b"x")})
        saved = await run_files.save(origin, "artifact", b"x", "")
        items = (await client.get("/files", params={"flow_run_id": origin.key.run_id})).json()["items"]
        assert [item["id"] for item in items] == [saved.id]

    async def test_shows_nothing_of_another_tenant(
        self, client: httpx2.AsyncClient, database: Database, storage: LocalStorage
    ) -> None:
        made = (await client.post("/files", files={"file": ("a", b"x")})).json()["id"]
        other = await add_tenant(database)
        async with api(router, principal=other, database=database, storage=storage) as theirs:
            assert (await theirs.get("/files")).json()["items"] == []
            for path in (f"/files/{made}", f"/files/{made}/content"):
                assert (await theirs.get(path)).status_code == 404
