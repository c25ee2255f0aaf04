"""Objects of a pack that a Git server sent, read within limits. Pure.

The library decompresses an object and applies a delta before it compares their sizes: a small pack could fill the
memory. Here each size is compared first. Object ids are computed from the contents, so an object is what its id names.
"""

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

COMMIT, TREE, BLOB, TAG, OFFSET_DELTA, ID_DELTA = 1, 2, 3, 4, 6, 7
NAMES: Final[Mapping[int, bytes]] = {COMMIT: b"commit", TREE: b"tree", BLOB: b"blob", TAG: b"tag"}
_HEADER_BYTES = 12
_ID_BYTES = 20
_SLICE = 65_536


class BadPack(Exception):
    """A pack that is damaged, or larger than the limits."""


@dataclass(frozen=True, slots=True)
class GitObject:
    """A commit, tree, blob or tag."""

    kind: int
    content: bytes

    @property
    def id(self) -> str:
        """Return its id: 40 hexadecimal digits."""
        head = b"%s %d\0" % (NAMES[self.kind], len(self.content))
        return hashlib.sha1(head + self.content, usedforsecurity=False).hexdigest()


def read_pack(pack: bytes, *, most_bytes: int, most_objects: int) -> dict[str, GitObject]:
    """Return the objects of a pack by id. Raises `BadPack`.

    Args:
        pack: The pack, with its checksum.
        most_bytes: What its objects and deltas may have together, decompressed.
        most_objects: How many it may have.
    """
    if not pack:
        return {}
    if len(pack) < _HEADER_BYTES + _ID_BYTES or pack[:4] != b"PACK":
        raise BadPack("it is no pack")
    count = int.from_bytes(pack[8:12], "big")
    if count > most_objects:
        raise BadPack(f"it has more than {most_objects:,} objects")
    return _Reader(pack, most_bytes).objects(count)


class _Reader:
    def __init__(self, pack: bytes, most_bytes: int) -> None:
        self._pack = memoryview(pack)[:-_ID_BYTES]
        self._most, self._left = most_bytes, most_bytes
        self._at = _HEADER_BYTES

    def objects(self, count: int) -> dict[str, GitObject]:
        by_offset: dict[int, GitObject] = {}
        by_id: dict[str, GitObject] = {}
        for _ in range(count):
            offset = self._at
            kind, size = self._head()
            base: GitObject | None = None
            if kind == OFFSET_DELTA:
                base = by_offset.get(offset - self._distance())
            elif kind == ID_DELTA:
                base = by_id.get(bytes(self._take(_ID_BYTES)).hex())
            elif kind not in NAMES:
                raise BadPack("an object has an unknown kind")
            content = self._inflated(size)
            if kind in {OFFSET_DELTA, ID_DELTA}:
                if base is None:
                    raise BadPack("a delta has no base")
                kind, content = base.kind, self._applied(base.content, content)
            made = GitObject(kind, content)
            by_offset[offset] = by_id[made.id] = made
        return by_id

    def _take(self, size: int) -> memoryview:
        piece = self._pack[self._at : self._at + size]
        if len(piece) < size:
            raise BadPack("it ends too early")
        self._at += size
        return piece

    def _head(self) -> tuple[int, int]:
        byte = self._take(1)[0]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            byte = self._take(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
            if shift > 60:
                raise BadPack("the size of an object is wrong")
        return kind, size

    def _distance(self) -> int:
        byte = self._take(1)[0]
        distance = byte & 0x7F
        while byte & 0x80:
            byte = self._take(1)[0]
            distance = (distance + 1 << 7) | (byte & 0x7F)
            if distance > len(self._pack):
                raise BadPack("a delta has no base")
        return distance

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise BadPack(f"it has more than {self._most:,} bytes")

    def _inflated(self, size: int) -> bytes:
        self._spend(size)
        inflater, pieces, length = zlib.decompressobj(), list[bytes](), 0
        while not inflater.eof:
            piece = self._pack[self._at : self._at + _SLICE]
            if not piece:
                raise BadPack("it ends too early")
            try:
                content = inflater.decompress(piece, size - length + 1)
            except zlib.error as error:
                raise BadPack("an object cannot be decompressed") from error
            length += len(content)
            if length > size or inflater.unconsumed_tail:
                raise BadPack("an object is larger than its size")
            pieces.append(content)
            self._at += len(piece)
        self._at -= len(inflater.unused_data)
        if length != size:
            raise BadPack("an object is smaller than its size")
        return b"".join(pieces)

    def _applied(self, base: bytes, delta: bytes) -> bytes:
        """Return what a delta makes of its base: copied pieces of the base, and new ones."""
        base_size, at = _number(delta, 0)
        size, at = _number(delta, at)
        if base_size != len(base):
            raise BadPack("a delta has another base")
        self._spend(size)
        pieces, length = list[bytes](), 0
        while at < len(delta) and length <= size:
            command = delta[at]
            at += 1
            if command & 0x80:
                start, count, at = _copied(delta, at, command)
                piece = base[start : start + count]
            else:
                count = command
                piece = delta[at : at + count]
                at += count
            if not count or len(piece) < count:
                raise BadPack("a delta is damaged")
            length += count
            pieces.append(piece)
        if length != size:
            raise BadPack("a delta has another size")
        return b"".join(pieces)


def _copied(delta: bytes, at: int, command: int) -> tuple[int, int, int]:
    """Return start and length of a piece of the base, and where the next command begins."""
    start = count = 0
    for bit in range(7):
        if command & 1 << bit:
            if at >= len(delta):
                raise BadPack("a delta is damaged")
            if bit < 4:
                start |= delta[at] << 8 * bit
            else:
                count |= delta[at] << 8 * (bit - 4)
            at += 1
    return start, count or 0x10000, at


def _number(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(content) and shift <= 60:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
        shift += 7
    raise BadPack("a delta is damaged")
