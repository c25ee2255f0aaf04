"""What steps make and cannot keep inline, on both storages: borders, tags, and a storage that is full or gone."""

import json
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.files import service
from headgate.features.files.local_storage import INCOMING, LocalStorage
from headgate.features.files.run_files import RunFiles
from headgate.features.files.s3_storage import S3Storage
from headgate.features.files.storage import Storage
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine
from headgate.features.runs.spaces import FlowSpaces
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import LimitSettings, Settings
from tests.integration.features.runs.conformance import finish, over
from tests.support.direct import DIRECT
from tests.support.engine import make_flow, make_services, new_run, store_flow
from tests.support.rows import run_row, statuses, step_rows
from tests.support.s3_server import S3Server, s3_server

CAP, PREVIEW = 1000, 100
LIMITS = LimitSettings(max_inline_text_bytes=CAP, max_inline_json_bytes=CAP, max_inline_preview_bytes=PREVIEW)
MEBIBYTE = 1024 * 1024
Opened = Callable[[Storage], Awaitable[ExecutionBackend]]


@dataclass
class Bucket:
    storage: Storage
    server: S3Server
    name: str


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


@pytest.fixture
def bucket(server: S3Server) -> Bucket:
    name = f"bucket-{new_id()}"
    server.client.create_bucket(Bucket=name)
    return Bucket(S3Storage(server.settings(name), DIRECT), server, name)


@pytest.fixture(params=["local", "s3"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "s3":
        found: Storage = request.getfixturevalue("bucket").storage
        return found
    return LocalStorage(tmp_path / "files")


@pytest.fixture
async def engine_on(database: Database, settings: Settings) -> AsyncIterator[Opened]:
    """Opens embedded engines whose files are in a storage."""
    opened: list[ExecutionBackend] = []

    async def open_engine(storage: Storage) -> ExecutionBackend:
        services = make_services(
            database, limits=LIMITS, files=RunFiles(database, storage, FlowSpaces(database), LIMITS)
        )
        engine = build_engine(settings, database, services)
        await engine.open()
        opened.append(engine)
        return engine

    yield open_engine
    for engine in opened:
        await engine.close()


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    """The kernel refuses longer files to this process, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class TestBorders:
    @pytest.mark.parametrize(("characters", "spilled"), [(CAP // 2, False), (CAP // 2 + 1, True)])
    async def test_a_text_at_the_cap_stays_inline_and_one_over_it_does_not(
        self, storage: Storage, engine_on: Opened, database: Database, characters: int, *, spilled: bool
    ) -> None:
        engine = await engine_on(storage)
        request = new_run(await store_flow(database, make_flow({"big": "Big"}, big={"size": characters})))
        await finish(engine, request)
        entry = (await step_rows(database, request.key.run_id))["big"].output_payload["outputs"]["text"]
        if not spilled:
            assert entry == {"type": "Text", "value": "å" * characters}
            return
        assert (entry["size_bytes"], entry["truncated"], entry["preview"]) == (
            2 * characters,
            True,
            "å" * (PREVIEW // 2),
        )
        content = await engine.services.files.read(request.key.tenant_id, entry["file_id"])
        assert content.decode() == "å" * characters

    async def test_data_over_the_cap_is_handed_on_whole(
        self, storage: Storage, engine_on: Opened, database: Database
    ) -> None:
        engine = await engine_on(storage)
        flow = make_flow({"big": "Big", "all": "Join"}, ["big.data -> all.parts"], big={"size": 3000})
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        steps = await step_rows(database, request.key.run_id)
        entry = steps["big"].output_payload["outputs"]["data"]
        assert (entry["media_type"], entry["truncated"]) == ("application/json", True)
        content = await engine.services.files.read(request.key.tenant_id, entry["file_id"])
        assert json.loads(content) == ["x" * 10] * 300
        assert (await run_row(database, request.key.run_id)).output_payload["truncated"] is True

    async def test_an_artifact_carries_its_tags(self, storage: Storage, engine_on: Opened, database: Database) -> None:
        engine = await engine_on(storage)
        request = new_run(await store_flow(database, make_flow({"big": "Big"}, big={"size": CAP})))
        await finish(engine, request)
        entry = (await step_rows(database, request.key.run_id))["big"].output_payload["outputs"]["text"]
        async with database.reading() as session:
            row = await service.get_file(session, LOCAL, entry["file_id"])
        key = request.key
        assert (row.tenant_id, row.flow_id, row.flow_run_id, row.step_id) == (
            key.tenant_id,
            key.flow_id,
            key.run_id,
            "big",
        )
        assert (row.name, row.size_bytes, len(row.sha256)) == ("big.text.txt", 2 * CAP, 64)


class TestTrouble:
    """The step fails with a code; the run goes on from there once there is space."""

    def flow(self, tmp_path: Path) -> Any:
        nodes = {"paid": "Tally", "big": "Big"}
        params: dict[str, Any] = {"paid": {"path": str(tmp_path / "paid")}, "big": {"size": 3 * MEBIBYTE}}
        return make_flow(nodes, ["paid.text -> big.input"], **params)

    async def test_of_a_full_disk_loses_no_run(self, engine_on: Opened, database: Database, tmp_path: Path) -> None:
        engine = await engine_on(LocalStorage(tmp_path / "files"))
        request = new_run(await store_flow(database, self.flow(tmp_path)))
        with no_file_over(4 * MEBIBYTE):
            await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "storage_full")
        assert await statuses(database, request.key.run_id) == {"paid": "completed", "big": "failed"}
        assert list((tmp_path / "files" / INCOMING).iterdir()) == []
        await self.resumed(engine, database, request, tmp_path)

    async def test_of_a_bucket_that_is_gone_loses_no_run(
        self, engine_on: Opened, database: Database, tmp_path: Path, bucket: Bucket
    ) -> None:
        bucket.server.client.delete_bucket(Bucket=bucket.name)
        engine = await engine_on(bucket.storage)
        request = new_run(await store_flow(database, self.flow(tmp_path)))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "storage_failed")
        bucket.server.client.create_bucket(Bucket=bucket.name)
        await self.resumed(engine, database, request, tmp_path)

    async def resumed(self, engine: ExecutionBackend, database: Database, request: Any, tmp_path: Path) -> None:
        assert (await engine.resume(request.key)) is not None
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        entry = (await step_rows(database, request.key.run_id))["big"].output_payload["outputs"]["text"]
        assert len(await engine.services.files.read(request.key.tenant_id, entry["file_id"])) == 6 * MEBIBYTE
        assert (tmp_path / "paid").read_text() == "paid\n"
