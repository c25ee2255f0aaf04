"""Encryption of stored content with a tenant's data key: AES-256-GCM with a key that is derived for each value.

Sealed content is bound to its tenant and place (table, row, column) and cannot be opened anywhere else. A value is
`hd1.KEYID.BASE64`, which names its data key. A file is a header and chunks, each authenticated with its number and
whether it is the last: a changed, moved or removed chunk is detected, and any range of a file can be opened on its own.
"""

import base64
import hashlib
import hmac
import os
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headgate.foundation.errors import Unavailable
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import aead
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
else:
    aead = lazy_module("cryptography.hazmat.primitives.ciphers.aead")

MARK = "hd1."
"""Prefix of every sealed value, followed by the data key id and a full stop."""
ID_CHARACTERS = 16
CHUNK_BYTES = 65_536
"""Size of the file content in one chunk, in bytes."""
_PREFIX = len(MARK) + ID_CHARACTERS + 1
_FILE_MARK = b"hgf1"
_SALT, _TAG, _KEY = 16, 16, 32
_AT_ONCE = 16
"""Number of chunks that are encrypted or decrypted at a time."""
HEADER_BYTES = len(_FILE_MARK) + _SALT
_ONCE = bytes(12)
"""The nonce of a value, whose key is used only once."""


class SealBroken(Unavailable):
    """Sealed content that cannot be opened with its key."""

    code = "content_damaged"
    title = "Stored content cannot be decrypted"
    detail = "The stored content of {} cannot be decrypted: it was changed, or belongs to another record."
    remedy = "Restore it from a backup."


@dataclass(frozen=True, slots=True)
class DataKey:
    """A tenant's data key for its content."""

    id: str
    tenant_id: str
    material: bytes = field(repr=False)

    def sealed(self, content: bytes, place: str) -> str:
        """Return a value encrypted for its place, such as `TABLE/ROW/COLUMN`."""
        salt = os.urandom(_SALT)
        ciphertext = _cipher(self, place, salt).encrypt(_ONCE, content, _bound_to(self, place))
        return f"{MARK}{self.id}.{base64.urlsafe_b64encode(salt + ciphertext).decode()}"

    def opened(self, token: str, place: str) -> bytes:
        """Return the decrypted value. Raises `SealBroken`."""
        try:
            stored = base64.urlsafe_b64decode(token[_PREFIX:])
            cipher = _cipher(self, place, stored[:_SALT])
            return cipher.decrypt(_ONCE, stored[_SALT:], _bound_to(self, place))
        except Exception as error:  # whatever the reason, it is not the stored content
            raise SealBroken(place) from error


def key_id_of(value: object) -> str:
    """Return the id of the data key in a sealed value; empty when the value is not sealed."""
    return value[len(MARK) : _PREFIX - 1] if isinstance(value, str) and value.startswith(MARK) else ""


def new_data_key(tenant_id: str) -> DataKey:
    """Return a new random key."""
    return DataKey(os.urandom(ID_CHARACTERS // 2).hex(), tenant_id, os.urandom(_KEY))


def sealed_size(size: int) -> int:
    """Return the size of a file's content after sealing, in bytes."""
    return HEADER_BYTES + size + _TAG * max(1, -(-size // CHUNK_BYTES))


async def sealed_file(key: DataKey, content: AsyncIterable[bytes], place: str) -> AsyncIterator[bytes]:
    """Yield a file's content in its stored form."""
    salt = os.urandom(_SALT)
    cipher, bound, number = _cipher(key, place, salt), _bound_to(key, place), 0
    yield _FILE_MARK + salt
    async for chunks, last in _blocks(content, CHUNK_BYTES):
        numbered = enumerate(chunks, start=number)
        yield b"".join(cipher.encrypt(_nonce(number, last=last), chunk, bound) for number, chunk in numbered)
        number += len(chunks)


async def opened_file(key: DataKey, stored: AsyncIterable[bytes], place: str) -> AsyncIterator[bytes]:
    """Yield a file's decrypted content. Raises `SealBroken` at a changed chunk, or when the end is missing."""
    pieces, begin, number = aiter(stored), b"", 0
    while len(begin) < HEADER_BYTES and (chunk := await anext(pieces, None)) is not None:
        begin += chunk
    cipher, bound = _file_cipher(key, begin[:HEADER_BYTES], place), _bound_to(key, place)
    async for chunks, last in _blocks(_joined(begin[HEADER_BYTES:], pieces), CHUNK_BYTES + _TAG):
        numbered = enumerate(chunks, start=number)
        try:
            content = b"".join(cipher.decrypt(_nonce(number, last=last), chunk, bound) for number, chunk in numbered)
        except Exception as error:
            raise SealBroken(place) from error
        yield content
        number += len(chunks)


async def _joined(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


async def _blocks(pieces: AsyncIterable[bytes], size: int) -> AsyncIterator[tuple[list[memoryview], bool]]:
    """Yield the bytes in chunks of a size, several at a time; then the last chunk, marked, of up to this size."""
    pending = b""
    async for chunk in pieces:
        pending = pending + chunk if pending else chunk
        end, view = max(0, (len(pending) - 1) // size * size), memoryview(pending)
        for start in range(0, end, size * _AT_ONCE):
            stop = min(end, start + size * _AT_ONCE)
            yield [view[at : at + size] for at in range(start, stop, size)], False
        pending = pending[end:]
    yield [memoryview(pending)], True


def _file_cipher(key: DataKey, header: bytes, place: str) -> "AESGCM":
    """Return the cipher of a stored file. Raises `SealBroken` when its header is invalid."""
    if not header.startswith(_FILE_MARK):
        raise SealBroken(place)
    return _cipher(key, place, header[len(_FILE_MARK) :])


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\x01" if last else b"\x00")


def _bound_to(key: DataKey, place: str) -> bytes:
    return f"{key.tenant_id}/{place}".encode()


def _cipher(key: DataKey, place: str, salt: bytes) -> "AESGCM":
    """Return the cipher of one value: its key is derived, so a nonce is never used twice with one key."""
    derived = hmac.digest(key.material, b"headgate content " + salt + _bound_to(key, place), hashlib.sha256)
    return aead.AESGCM(derived)
