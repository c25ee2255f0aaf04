import asyncio
import errno
import hashlib
import os
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.features.files.errors import FileDamaged, FileTooLarge, StorageFailed, StorageFull
from headgate.features.files.local_storage import INCOMING, PIECE_BYTES, STALE_SECONDS, LocalStorage
from headgate.features.files.storage import Storage, StoredContent
from headgate.foundation.ids import new_id

LIMIT = 10 * PIECE_BYTES
TENANT = new_id()


async def chunks(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return LocalStorage(tmp_path / "files")


async def read(storage: Storage, file_id: str, stored: StoredContent) -> bytes:
    return b"".join([piece async for piece in await storage.get(TENANT, file_id, sha256=stored.sha256)])


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


class TestPut:
    async def test_counts_and_hashes_what_it_writes(self, storage: Storage, tmp_path: Path) -> None:
        file_id = new_id()
        stored = await storage.put(TENANT, file_id, chunks(b"one ", b"", b"two"), max_bytes=LIMIT)
        assert stored == StoredContent(size_bytes=7, sha256=hashlib.sha256(b"one two").hexdigest())
        assert await read(storage, file_id, stored) == b"one two"
        assert everything(tmp_path) == [f"files/{TENANT}/{file_id[-2:]}/{file_id}"]

    async def test_keeps_others_from_reading(self, storage: Storage, tmp_path: Path) -> None:
        file_id = new_id()
        await storage.put(TENANT, file_id, chunks(b"x"), max_bytes=LIMIT)
        path = tmp_path / "files" / TENANT / file_id[-2:] / file_id
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0

    async def test_stores_an_empty_content(self, storage: Storage) -> None:
        stored = await storage.put(TENANT, file_id := new_id(), chunks(), max_bytes=LIMIT)
        assert stored.size_bytes == 0
        assert await read(storage, file_id, stored) == b""

    async def test_stops_at_the_limit_and_leaves_nothing(self, storage: Storage, tmp_path: Path) -> None:
        taken = 0

        async def endless() -> AsyncIterator[bytes]:
            nonlocal taken
            while True:
                taken += 1
                yield bytes(1000)

        with pytest.raises(FileTooLarge, match="5000 bytes"):
            await storage.put(TENANT, new_id(), endless(), max_bytes=5000)
        assert taken == 6
        assert everything(tmp_path) == []

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    @pytest.mark.parametrize(("place", "call"), [(os, "fsync"), (Path, "replace"), (Path, "mkdir"), (os, "open")])
    async def test_leaves_nothing_on_a_full_disk(
        self,
        storage: Storage,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        *,
        number: int,
        place: object,
        call: str,
    ) -> None:
        def fail(*_args: object, **_options: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(place, call, fail)
        with pytest.raises(StorageFull, match="nothing was stored"):
            await storage.put(TENANT, new_id(), chunks(b"x" * 100_000), max_bytes=LIMIT)
        monkeypatch.undo()
        assert everything(tmp_path) == []

    async def test_says_why_the_disk_refused(self, storage: Storage, tmp_path: Path) -> None:
        (tmp_path / "files").write_text("in the way")
        with pytest.raises(StorageFailed):
            await storage.put(TENANT, new_id(), chunks(b"x"), max_bytes=LIMIT)

    async def test_leaves_nothing_when_the_sender_fails_or_goes(self, storage: Storage, tmp_path: Path) -> None:
        async def broken() -> AsyncIterator[bytes]:
            yield b"half"
            raise RuntimeError("gone")

        half_written = asyncio.Event()

        async def stalled() -> AsyncIterator[bytes]:
            yield b"half"
            half_written.set()
            await asyncio.sleep(60)

        with pytest.raises(RuntimeError):
            await storage.put(TENANT, new_id(), broken(), max_bytes=LIMIT)
        writing = asyncio.create_task(storage.put(TENANT, new_id(), stalled(), max_bytes=LIMIT))
        await half_written.wait()
        assert len(everything(tmp_path)) == 1
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
        assert everything(tmp_path) == []

    async def test_clears_what_a_dead_process_left(self, storage: Storage, tmp_path: Path) -> None:
        folder = tmp_path / "files" / INCOMING
        folder.mkdir(parents=True)
        for name, age in (("dead", STALE_SECONDS + 10), ("alive", 10)):
            (folder / name).write_text("half")
            os.utime(folder / name, (time.time() - age,) * 2)
        await storage.put(TENANT, new_id(), chunks(b"x"), max_bytes=LIMIT)
        assert [path.name for path in folder.iterdir()] == ["alive"]

    @pytest.mark.parametrize("bad", ["../../etc/passwd", "", "x" * 36, "\x00" * 36, "/" * 36])
    async def test_makes_a_path_of_ids_only(self, storage: Storage, tmp_path: Path, bad: str) -> None:
        for tenant_id, file_id in ((bad, new_id()), (TENANT, bad)):
            with pytest.raises(FileDamaged):
                await storage.put(tenant_id, file_id, chunks(b"x"), max_bytes=LIMIT)
            with pytest.raises(FileDamaged):
                await storage.get(tenant_id, file_id, sha256="")
            with pytest.raises(FileDamaged):
                await storage.delete(tenant_id, file_id)
        assert everything(tmp_path) == []


class TestGet:
    async def test_gives_a_large_content_in_pieces(self, storage: Storage) -> None:
        content = os.urandom(2 * PIECE_BYTES + 5)
        stored = await storage.put(TENANT, file_id := new_id(), chunks(content), max_bytes=LIMIT)
        pieces = [piece async for piece in await storage.get(TENANT, file_id, sha256=stored.sha256)]
        assert [len(piece) for piece in pieces] == [PIECE_BYTES, PIECE_BYTES, 5]
        assert b"".join(pieces) == content

    async def test_refuses_a_content_that_changed(self, storage: Storage, tmp_path: Path) -> None:
        stored = await storage.put(TENANT, file_id := new_id(), chunks(b"true"), max_bytes=LIMIT)
        (tmp_path / "files" / TENANT / file_id[-2:] / file_id).write_bytes(b"lies")
        with pytest.raises(FileDamaged, match="differs from what was stored"):
            await storage.get(TENANT, file_id, sha256=stored.sha256)

    async def test_refuses_a_content_that_is_gone(self, storage: Storage) -> None:
        with pytest.raises(FileDamaged, match="missing"):
            await storage.get(TENANT, new_id(), sha256="0" * 64)

    async def test_finds_nothing_of_another_tenant(self, storage: Storage) -> None:
        stored = await storage.put(TENANT, file_id := new_id(), chunks(b"x"), max_bytes=LIMIT)
        with pytest.raises(FileDamaged):
            await storage.get(new_id(), file_id, sha256=stored.sha256)


class TestDelete:
    async def test_removes_a_content_once_or_twice(self, storage: Storage, tmp_path: Path) -> None:
        await storage.put(TENANT, file_id := new_id(), chunks(b"x"), max_bytes=LIMIT)
        await storage.delete(TENANT, file_id)
        await storage.delete(TENANT, file_id)
        assert everything(tmp_path) == []
