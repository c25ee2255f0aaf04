"""The storages, by one suite; and what only one of them can meet."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from headgate.features.files.errors import FileDamaged, StorageFailed, StorageFull, StorageNotInstalled
from headgate.features.files.local_storage import LocalStorage
from headgate.features.files.opening import open_contents
from headgate.features.files.s3_storage import S3Storage
from headgate.features.files.sealed_storage import SealedStorage
from headgate.features.files.storage import Storage, StoredContent
from headgate.foundation.ids import new_id
from headgate.foundation.sealing import CHUNK_BYTES, HEADER_BYTES, DataKey, new_data_key
from headgate.foundation.settings import Settings, StorageSettings
from tests.integration.features.files.storage_conformance import LIMIT, MEBIBYTE, StorageConformance, pieces
from tests.support.direct import DIRECT
from tests.support.s3_server import S3Server, s3_server
from tests.support.scripted_server import Reply, ScriptedServer


@dataclass
class Folder:
    """Contents on the disk."""

    storage: Storage
    root: Path

    def contents(self) -> list[str]:
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file())

    def spoil(self, tenant_id: str, file_id: str, content: bytes) -> None:
        (self.root / tenant_id / file_id[-2:] / file_id).write_bytes(content)


@dataclass
class Bucket:
    """Contents in a bucket."""

    storage: Storage
    server: S3Server
    name: str

    def contents(self) -> list[str]:
        found = self.server.keys(self.name) + self.server.unfinished(self.name)
        return sorted(key.removeprefix("headgate/test/") for key in found)

    def spoil(self, tenant_id: str, file_id: str, content: bytes) -> None:
        key = f"headgate/test/{tenant_id}/{file_id[-2:]}/{file_id}"
        self.server.client.put_object(Bucket=self.name, Key=key, Body=content)


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as running:
        yield running


@pytest.fixture
def bucket(server: S3Server) -> Bucket:
    name = f"bucket-{new_id()}"
    server.client.create_bucket(Bucket=name)
    return Bucket(S3Storage(server.settings(name, prefix="headgate/test"), DIRECT), server, name)


class TestLocalStorage(StorageConformance):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Folder:
        return Folder(LocalStorage(tmp_path), tmp_path)


class TestS3Storage(StorageConformance):
    @pytest.fixture
    def place(self, bucket: Bucket) -> Bucket:
        return bucket


class OneKey:
    """A data key for every tenant."""

    def __init__(self) -> None:
        self._keys: dict[str, DataKey] = {}

    async def current(self, tenant_id: str) -> DataKey:
        return self._keys.setdefault(tenant_id, new_data_key(tenant_id))

    async def get(self, tenant_id: str, key_id: str) -> DataKey:
        assert self._keys[tenant_id].id == key_id
        return self._keys[tenant_id]


class TestSealedStorage(StorageConformance):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Folder:
        return Folder(SealedStorage(LocalStorage(tmp_path), OneKey()), tmp_path)


class TestSealedBucket(StorageConformance):
    @pytest.fixture
    def place(self, bucket: Bucket) -> Bucket:
        return Bucket(SealedStorage(bucket.storage, OneKey()), bucket.server, bucket.name)


class TestStoredBytes:
    """What is stored of an encrypted content."""

    @pytest.fixture
    def place(self, tmp_path: Path) -> Folder:
        return Folder(SealedStorage(LocalStorage(tmp_path), OneKey()), tmp_path)

    async def stored(self, place: Folder, content: bytes, tenant: str, file_id: str) -> StoredContent:
        return await place.storage.put(tenant, file_id, pieces(content), max_bytes=LIMIT)

    async def test_shows_nothing_of_it(self, place: Folder) -> None:
        tenant, file_id = new_id(), new_id()
        await self.stored(place, b"MARKER " * 30_000, tenant, file_id)
        (name,) = place.contents()
        assert b"MARKER" not in (place.root / name).read_bytes()

    @pytest.mark.parametrize("change", ["end cut off", "chunk left out", "chunks swapped", "one bit"])
    async def test_is_refused_when_it_was_changed(self, place: Folder, change: str) -> None:
        tenant, file_id = new_id(), new_id()
        stored = await self.stored(place, bytes(3 * CHUNK_BYTES + 5), tenant, file_id)
        (name,) = place.contents()
        whole, chunk = (place.root / name).read_bytes(), CHUNK_BYTES + 16
        head, first, second = whole[:HEADER_BYTES], whole[HEADER_BYTES:][:chunk], whole[HEADER_BYTES + chunk :][:chunk]
        rest = whole[HEADER_BYTES + 2 * chunk :]
        changed = {
            "end cut off": head + first + second,
            "chunk left out": head + first + rest,
            "chunks swapped": head + second + first + rest,
            "one bit": whole[:-1] + bytes([whole[-1] ^ 1]),
        }[change]
        place.spoil(tenant, file_id, changed)
        with pytest.raises(FileDamaged):
            await place.storage.get(tenant, file_id, sha256=stored.sha256, data_key_id=stored.data_key_id)

    async def test_is_refused_in_the_place_of_another_file_of_the_tenant(self, place: Folder) -> None:
        tenant, one, other = new_id(), new_id(), new_id()
        stored = await self.stored(place, b"the same", tenant, one)
        await self.stored(place, b"the same", tenant, other)
        place.spoil(tenant, other, (place.root / tenant / one[-2:] / one).read_bytes())
        with pytest.raises(FileDamaged):
            await place.storage.get(tenant, other, sha256=stored.sha256, data_key_id=stored.data_key_id)


class TestS3Trouble:
    @pytest.mark.parametrize("size", [1, 6 * MEBIBYTE])
    async def test_of_a_bucket_that_is_gone_is_told(self, server: S3Server, size: int) -> None:
        storage = S3Storage(server.settings("no-such-bucket"), DIRECT)
        with pytest.raises(StorageFailed, match="'no-such-bucket' reported an error: it does not exist"):
            await storage.put(new_id(), new_id(), pieces(bytes(size)), max_bytes=LIMIT)
        with pytest.raises(StorageFailed):
            await storage.get(new_id(), new_id(), sha256="0" * 64)

    @pytest.mark.parametrize(
        ("status", "code", "error"),
        [
            (507, "XMinioStorageFull", StorageFull),
            (403, "QuotaExceeded", StorageFull),
            (403, "InvalidAccessKeyId", StorageFailed),
            (403, "SignatureDoesNotMatch", StorageFailed),
            (400, "Strange", StorageFailed),
        ],
    )
    async def test_with_space_or_keys_is_told_without_the_key(
        self, status: int, code: str, error: type[Exception]
    ) -> None:
        body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>no</Message></Error>".encode()
        with S3Answers().script(Reply((body,), status=status, media_type="application/xml")) as answers:
            storage = S3Storage(settings_of(answers), DIRECT, retries=0)
            with pytest.raises(error) as caught:
                await storage.put(new_id(), new_id(), pieces(b"x"), max_bytes=LIMIT)
        assert "s3cr3t" not in str(caught.value)

    async def test_with_a_server_that_is_not_there_is_told(self) -> None:
        storage = S3Storage(
            StorageSettings(kind="s3", bucket="bucket", endpoint_url="http://127.0.0.1:9"), DIRECT, retries=0
        )
        with pytest.raises(StorageFailed, match="reported an error"):
            await storage.put(new_id(), new_id(), pieces(b"x"), max_bytes=LIMIT)

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    async def test_is_not_led_to_another_server(self, status: int) -> None:
        with S3Answers() as store, S3Answers().script(Reply(status=200)) as other:
            store.script(Reply(status=status, headers={"location": f"{other.origin}/elsewhere"}))
            storage = S3Storage(settings_of(store), DIRECT, retries=0)
            with pytest.raises(StorageFailed):
                await storage.put(new_id(), new_id(), pieces(b"x"), max_bytes=LIMIT)
            with pytest.raises((StorageFailed, FileDamaged)):
                await storage.get(new_id(), new_id(), sha256="0" * 64)
        assert store.asked
        assert other.asked == []


class TestOpenStorage:
    def test_opens_what_the_settings_ask_for(self, tmp_path: Path) -> None:
        assert isinstance(open_contents(Settings(data_dir=tmp_path)), LocalStorage)
        bucket = StorageSettings(kind="s3", bucket="bucket")
        assert isinstance(open_contents(Settings(data_dir=tmp_path, storage=bucket)), S3Storage)

    def test_names_the_extra_that_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "obstore", None)
        settings = Settings(data_dir=tmp_path, storage=StorageSettings(kind="s3", bucket="bucket"))
        with pytest.raises(StorageNotInstalled, match=r"pip install 'headgate\[s3\]'"):
            open_contents(settings)

    def test_wants_a_bucket(self) -> None:
        with pytest.raises(ValueError, match="storage kind s3 requires a bucket"):
            StorageSettings(kind="s3")


class S3Answers(ScriptedServer):
    """Says what it is told, whatever is asked."""


def settings_of(answers: S3Answers) -> StorageSettings:
    return StorageSettings(
        kind="s3",
        bucket="bucket",
        endpoint_url=answers.origin,
        access_key_id=SecretStr("key"),
        secret_access_key=SecretStr("s3cr3t"),
    )
