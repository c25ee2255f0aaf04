"""A stream that is encrypted with a passphrase: AES-256-GCM in chunks, with a key that scrypt derives.

The file is a header (mark, scrypt cost, salt) and chunks. Each chunk is authenticated with the header, its number and
whether it is the last, so that a changed, moved, missing or appended chunk is detected.
"""

import hashlib
import io
import os
from typing import IO, TYPE_CHECKING

from typing_extensions import Buffer

from headgate.entrypoints.backups.errors import BackupInvalid, PassphraseWrong
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import aead
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
else:
    aead = lazy_module("cryptography.hazmat.primitives.ciphers.aead")

MARK = b"hgb1"
"""First bytes of an encrypted backup."""
CHUNK_BYTES = 1024 * 1024
COST = 17
"""Scrypt's N is 2 to this power: 128 MiB of memory for each attempt at a passphrase."""
MAX_COST = 18
_SALT, _TAG = 16, 16
_HEADER = len(MARK) + 1 + _SALT


class SealedWriter(io.RawIOBase):
    """Encrypts what is written to it. `close` writes the last chunk and leaves the file open."""

    def __init__(self, file: IO[bytes], passphrase: str, *, cost: int = COST) -> None:
        self._file = file
        self._header = MARK + bytes([cost]) + os.urandom(_SALT)
        self._cipher = _cipher(passphrase, self._header)
        self._rest = bytearray()
        self._number = 0
        file.write(self._header)

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, content: Buffer, /) -> int:
        """Encrypt complete chunks; the rest waits, since it may be the last one."""
        self._rest += content
        while len(self._rest) > CHUNK_BYTES:
            self._put(bytes(self._rest[:CHUNK_BYTES]), last=False)
            del self._rest[:CHUNK_BYTES]
        return memoryview(content).nbytes

    def close(self) -> None:
        """Write the last chunk."""
        if not self.closed:
            super().close()
            self._put(bytes(self._rest), last=True)

    def _put(self, chunk: bytes, *, last: bool) -> None:
        self._file.write(self._cipher.encrypt(_nonce(self._number, last=last), chunk, self._header))
        self._number += 1


class SealedReader(io.RawIOBase):
    """Decrypts a file. Raises `PassphraseWrong` at its first chunk, and `BackupInvalid` at a later one."""

    def __init__(self, file: IO[bytes], passphrase: str) -> None:
        self._file = file
        self._header = file.read(_HEADER)
        if len(self._header) < _HEADER or self._header[len(MARK)] > MAX_COST:
            raise BackupInvalid("The backup is damaged: its header is not one of an encrypted backup.")
        self._cipher = _cipher(passphrase, self._header)
        self._ahead = file.read(CHUNK_BYTES + _TAG)
        self._content = memoryview(b"")
        self._number = 0
        self._ended = False

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, target: Buffer, /) -> int:
        """Decrypt up to a chunk; 0 after the last."""
        if not self._content and not self._ended:
            self._content = memoryview(self._next())
        view = memoryview(target).cast("B")
        size = min(len(view), len(self._content))
        view[:size] = self._content[:size]
        self._content = self._content[size:]
        return size

    def _next(self) -> bytes:
        chunk, self._ahead = self._ahead, self._file.read(CHUNK_BYTES + _TAG)
        self._ended = not self._ahead
        try:
            content = self._cipher.decrypt(_nonce(self._number, last=self._ended), chunk, self._header)
        except Exception as error:
            if self._number:
                raise BackupInvalid("The backup is damaged: it cannot be decrypted to its end.") from error
            raise PassphraseWrong(
                "The backup cannot be decrypted: the passphrase is wrong, or the file is damaged.",
                remedy="Use the passphrase of the day of the backup, or another copy of the file.",
            ) from error
        self._number += 1
        return content


def _cipher(passphrase: str, header: bytes) -> "AESGCM":
    cost, salt = header[len(MARK)], header[len(MARK) + 1 :]
    key = hashlib.scrypt(
        passphrase.encode(), salt=salt, n=1 << cost, r=8, p=1, maxmem=2 * 128 * 8 * (1 << cost), dklen=32
    )
    return aead.AESGCM(key)


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + (b"\x01" if last else b"\x00")
