"""What every storage must do; each adapter runs it (`test_storages.py`)."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Protocol

import pytest

from headgate.features.files.errors import FileDamaged, FileTooLarge
from headgate.features.files.storage import Storage, StoredContent
from headgate.foundation.ids import new_id

MEBIBYTE = 1024 * 1024
LIMIT = 64 * MEBIBYTE


class Place(Protocol):
    """A storage with its insides open to the test."""

    storage: Storage

    def contents(self) -> list[str]:
        """Names of all that is kept, finished or not."""
        ...

    def spoil(self, tenant_id: str, file_id: str, content: bytes) -> None:
        """Change a content behind the storage's back."""
        ...


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece


async def torn(size: int) -> AsyncIterator[bytes]:
    """A source that breaks after so many bytes."""
    for _ in range(size // MEBIBYTE):
        yield bytes(MEBIBYTE)
    raise ConnectionResetError("the sender went away")


async def read(place: Place, tenant: str, file_id: str, stored: StoredContent) -> bytes:
    key = stored.data_key_id
    content = await place.storage.get(tenant, file_id, sha256=stored.sha256, data_key_id=key)
    return b"".join([piece async for piece in content])


class StorageConformance:
    """Give a fixture `place` to run it."""

    @pytest.mark.parametrize("size", [0, 1, MEBIBYTE, 5 * MEBIBYTE, 5 * MEBIBYTE + 1, 12 * MEBIBYTE])
    async def test_gives_back_what_it_was_given(self, place: Place, size: int) -> None:
        content = bytes(number % 251 for number in range(1000)) * (size // 1000 + 1)
        content = content[:size]
        tenant, file_id = new_id(), new_id()
        parts = [content[start : start + 300_000] for start in range(0, size, 300_000)]
        stored = await place.storage.put(tenant, file_id, pieces(*parts), max_bytes=LIMIT)
        assert (stored.size_bytes, stored.sha256) == (size, hashlib.sha256(content).hexdigest())
        assert await read(place, tenant, file_id, stored) == content
        assert place.contents() == [f"{tenant}/{file_id[-2:]}/{file_id}"]

    @pytest.mark.parametrize("limit", [10, 7 * MEBIBYTE])
    async def test_takes_a_content_at_the_limit_and_none_over_it(self, place: Place, limit: int) -> None:
        tenant = new_id()
        await place.storage.put(tenant, new_id(), pieces(bytes(limit)), max_bytes=limit)
        with pytest.raises(FileTooLarge):
            await place.storage.put(tenant, new_id(), pieces(bytes(limit - 1), b"xx"), max_bytes=limit)
        assert len(place.contents()) == 1

    @pytest.mark.parametrize("size", [MEBIBYTE, 14 * MEBIBYTE])
    async def test_leaves_nothing_of_an_upload_that_broke(self, place: Place, size: int) -> None:
        with pytest.raises(Exception, match=r"sender went away|reported an error"):
            await place.storage.put(new_id(), new_id(), torn(size), max_bytes=LIMIT)
        assert place.contents() == []

    async def test_leaves_nothing_of_an_upload_that_was_cancelled(self, place: Place) -> None:
        begun = asyncio.Event()

        async def endless() -> AsyncIterator[bytes]:
            for number in range(8):
                yield bytes(MEBIBYTE)
                if number == 6:
                    begun.set()
            await asyncio.Event().wait()

        putting = asyncio.create_task(place.storage.put(new_id(), new_id(), endless(), max_bytes=LIMIT))
        await begun.wait()
        putting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await putting
        for _ in range(100):  # what was on its way may still have to be taken back
            if not place.contents():
                break
            await asyncio.sleep(0.05)
        assert place.contents() == []

    @pytest.mark.parametrize("now", [b"", b"other", b"content and more"])
    async def test_hands_out_nothing_that_is_not_what_was_stored(self, place: Place, now: bytes) -> None:
        tenant, file_id = new_id(), new_id()
        stored = await place.storage.put(tenant, file_id, pieces(b"content"), max_bytes=LIMIT)
        place.spoil(tenant, file_id, now)
        with pytest.raises(FileDamaged, match="differs from what was stored"):
            await place.storage.get(tenant, file_id, sha256=stored.sha256)

    async def test_tells_of_a_content_that_is_gone(self, place: Place) -> None:
        with pytest.raises(FileDamaged, match="missing"):
            await place.storage.get(new_id(), new_id(), sha256="0" * 64)

    async def test_deletes_and_does_not_mind_when_there_is_nothing(self, place: Place) -> None:
        tenant, file_id = new_id(), new_id()
        await place.storage.put(tenant, file_id, pieces(b"x"), max_bytes=LIMIT)
        await place.storage.delete(tenant, file_id)
        await place.storage.delete(tenant, file_id)
        assert place.contents() == []

    async def test_keeps_tenants_apart(self, place: Place) -> None:
        file_id = new_id()
        stored = await place.storage.put(new_id(), file_id, pieces(b"mine"), max_bytes=LIMIT)
        with pytest.raises(FileDamaged):
            await place.storage.get(new_id(), file_id, sha256=stored.sha256)

    @pytest.mark.parametrize("name", ["..", "../../etc/passwd", "", "a/b", "a\x00"])
    async def test_makes_nothing_but_an_id_a_place(self, place: Place, name: str) -> None:
        for tenant, file_id in ((name, new_id()), (new_id(), name)):
            with pytest.raises(FileDamaged):
                await place.storage.put(tenant, file_id, pieces(b"x"), max_bytes=LIMIT)
        assert place.contents() == []

    async def test_lists_every_content_with_its_age(self, place: Place) -> None:
        kept = {(new_id(), new_id()) for _ in range(3)}
        for tenant, file_id in kept:
            await place.storage.put(tenant, file_id, pieces(b"x"), max_bytes=LIMIT)
        found = [item async for item in place.storage.contents()]
        assert {(item.tenant_id, item.file_id) for item in found} == kept
        ages = [(datetime.now(UTC) - item.stored_at).total_seconds() for item in found]
        assert all(-5 < age < 60 for age in ages)
