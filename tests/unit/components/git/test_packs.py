"""Packs of a hostile server."""

import hashlib
import zlib

import pytest
from dulwich.object_format import DEFAULT_OBJECT_FORMAT
from dulwich.objects import Blob
from dulwich.pack import PackChunkGenerator, create_delta, pack_objects_to_data
from hypothesis import given
from hypothesis import strategies as st

from headgate.components.git.packs import BLOB, ID_DELTA, OFFSET_DELTA, BadPack, GitObject, read_pack

LIMITS = {"most_bytes": 1_000_000, "most_objects": 100}


def entry(kind: int, content: bytes, *, size: int | None = None, base: bytes = b"") -> bytes:
    left = len(content) if size is None else size
    head = [kind << 4 | left & 15]
    left >>= 4
    while left:
        head[-1] |= 0x80
        head.append(left & 0x7F)
        left >>= 7
    return bytes(head) + base + zlib.compress(content)


def pack_of(*entries: bytes, count: int | None = None) -> bytes:
    content = b"PACK" + (2).to_bytes(4, "big") + (len(entries) if count is None else count).to_bytes(4, "big")
    content += b"".join(entries)
    return content + hashlib.sha1(content).digest()


def distance(size: int) -> bytes:
    digits = [size & 0x7F]
    while size := size >> 7:
        size -= 1
        digits.append(0x80 | size & 0x7F)
    return bytes(reversed(digits))


class TestReadPack:
    @given(st.lists(st.binary(max_size=3_000), max_size=20))
    def test_reads_what_the_library_writes(self, contents: list[bytes]) -> None:
        blobs = {blob.id: blob for blob in map(Blob.from_string, contents)}.values()
        count, records = pack_objects_to_data(list(blobs))
        pack = b"".join(PackChunkGenerator(num_records=count, records=records, object_format=DEFAULT_OBJECT_FORMAT))
        objects = read_pack(pack, **LIMITS)
        assert {blob.id.decode(): blob.data for blob in blobs} == {id_: item.content for id_, item in objects.items()}

    @given(st.binary(max_size=3_000), st.binary(max_size=3_000))
    def test_applies_deltas(self, old: bytes, new: bytes) -> None:
        delta = b"".join(create_delta(old, new))
        first = entry(BLOB, old)
        for second in (
            entry(OFFSET_DELTA, delta, base=distance(len(first))),
            entry(ID_DELTA, delta, base=bytes.fromhex(GitObject(BLOB, old).id)),
        ):
            assert GitObject(BLOB, new).id in read_pack(pack_of(first, second), **LIMITS)

    @given(st.binary(max_size=300), st.integers(0, 2**40))
    def test_nothing_else_is_raised(self, noise: bytes, size: int) -> None:
        for pack in (noise, pack_of(noise), pack_of(entry(BLOB, noise, size=size)), pack_of(entry(5, noise))):
            try:
                read_pack(pack, **LIMITS)
            except BadPack:
                continue

    def test_a_size_is_compared_before_anything_is_decompressed(self) -> None:
        bomb = zlib.compress(bytes(50_000_000))
        huge = entry(BLOB, b"", size=2**40)[:6]
        with pytest.raises(BadPack, match="more than 1,000,000 bytes"):
            read_pack(pack_of(huge + bomb), **LIMITS)
        with pytest.raises(BadPack, match="larger than its size"):
            read_pack(pack_of(entry(BLOB, b"", size=10)[:1] + bomb), **LIMITS)

    def test_so_is_that_of_a_delta(self) -> None:
        base = bytes(1_000)
        copy = b"\xb0\xe8\x03"  # 1,000 bytes of the base
        first = entry(BLOB, base)
        for delta, match in (
            (b"\xe8\x07" + b"\x80\x80\x80\x80\x04" + copy * 10, "more than 1,000,000 bytes"),
            (b"\xe8\x07" + b"\x64" + copy * 100_000, "another size"),
            (b"\xe8\x07" + b"\x64" + b"\xb1\xff\x64", "damaged"),
            (b"\x01\x01" + copy, "another base"),
        ):
            with pytest.raises(BadPack, match=match):
                read_pack(pack_of(first, entry(OFFSET_DELTA, delta, base=distance(len(first)))), **LIMITS)

    def test_limits(self) -> None:
        with pytest.raises(BadPack, match="more than 100 objects"):
            read_pack(pack_of(count=101), **LIMITS)
        with pytest.raises(BadPack, match="ends too early"):
            read_pack(pack_of(entry(BLOB, b"x"), count=2), **LIMITS)
        with pytest.raises(BadPack, match="no base"):
            read_pack(pack_of(entry(ID_DELTA, b"", base=bytes(20))), **LIMITS)
