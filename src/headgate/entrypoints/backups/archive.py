"""The archive of a backup: a compressed tar stream that `tar` can list, encrypted where a passphrase is given.

The first member is `backup.json`, the last `checksums.txt`: SHA-256, size and path of every member between them. The
reader accepts regular files with safe names only and keeps nothing in memory that grows with the archive.
"""

import gzip
import hashlib
import io
import json
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Self, cast

from headgate.entrypoints.backups import sealing
from headgate.entrypoints.backups.errors import BackupInvalid
from headgate.foundation.errors import Invalid

FORMAT = "headgate-backup/1"
HEADER, CHECKSUMS = "backup.json", "checksums.txt"
PIECE_BYTES = 1024 * 1024
_BLOCK = tarfile.BLOCKSIZE
_HEADER_BYTES, _NAME_BYTES = 1024 * 1024, 8192
_FOLDERS = ("databases", "postgresql", "keys", "files", "workspace", "skills")
_NAME = re.compile(rf"(?:{'|'.join(_FOLDERS)})(?:/(?!\.{{1,2}}(?:/|$))[^/\\\x00-\x1f\x7f]+)+")


@dataclass(frozen=True, slots=True)
class Header:
    """Metadata of a backup."""

    id: str
    created_at: str
    """ISO 8601 in UTC."""
    product_version: str
    schema: str
    """The revision of the database."""
    database: str
    """`sqlite` or `postgresql`."""
    files: str
    """`local`: the contents of files are in the archive. `s3`: they stay in the bucket."""
    keys: bool
    """Whether the installation's keys are in the archive."""
    key_ids: dict[str, list[str]] = field(default_factory=dict)
    """Purpose to the ids of the keys that the installation could read."""
    format: str = FORMAT


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the archive."""

    name: str
    size: int
    content: IO[bytes]
    """Readable until the next member is asked for."""


class ArchiveWriter:
    """Writes an archive into a file. Use as a context manager; the end is written when the block ends without error."""

    def __init__(self, file: IO[bytes], header: Header, passphrase: str | None, spool: Path) -> None:
        self._sums = tempfile.TemporaryFile(dir=spool)  # noqa: SIM115 - closed in `__exit__`
        self._sealed = None if passphrase is None else sealing.SealedWriter(file, passphrase)
        target = file if self._sealed is None else cast("IO[bytes]", self._sealed)
        self._zip = gzip.GzipFile(fileobj=target, mode="wb", compresslevel=1, mtime=0, filename="")
        self.files = self.size = 0
        document = json.dumps(asdict(header), sort_keys=True).encode()
        self._put(HEADER, io.BytesIO(document), len(document))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, _error: object, _trace: object) -> None:
        with self._sums:
            if kind is not None:
                return
            size = self._sums.tell()
            self._sums.seek(0)
            self._put(CHECKSUMS, self._sums, size)
            self._zip.write(bytes(2 * _BLOCK))
            self._zip.close()
            if self._sealed is not None:
                self._sealed.close()

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """Add a file of a known size. Raises `Invalid` for a name that no restore would accept."""
        if not _NAME.fullmatch(name) or len(name.encode(errors="surrogateescape")) > _NAME_BYTES:
            raise Invalid(f"A file with the name {name!a} cannot be backed up.", remedy="Rename or remove it.")
        digest = self._put(name, content, size)
        self._sums.write(_line(digest, size, name))
        self.files += 1
        self.size += size

    def _put(self, name: str, content: IO[bytes], size: int) -> str:
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        self._zip.write(info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
        digest, left = hashlib.sha256(), size
        while left:
            piece = content.read(min(left, PIECE_BYTES))
            if not piece:
                raise BackupInvalid(f"{name} became shorter while it was read.")
            self._zip.write(piece)
            digest.update(piece)
            left -= len(piece)
        self._zip.write(bytes(-size % _BLOCK))
        return digest.hexdigest()


class ArchiveReader:
    """Reads an archive from its first to its last byte. Raises `BackupInvalid`, `PassphraseWrong`.

    What `members` yielded is only proven when it ends: the checksums are the last member.
    """

    def __init__(self, file: IO[bytes], passphrase: str | None) -> None:
        with ExitStack() as stack:
            self._sums = stack.enter_context(tempfile.TemporaryFile())
            self._zip = gzip.GzipFile(fileobj=_opened(file, passphrase), mode="rb")
            self.files = self.size = 0
            self.header = _header_of(self._first())
            stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sums.close()

    def members(self) -> Iterator[Member]:
        """Every file between header and checksums, then proof that all of them are there and unchanged."""
        while True:
            info = self._next()
            if info is None:
                raise BackupInvalid("The backup is incomplete: it has no checksums at its end.")
            if info.name == CHECKSUMS:
                break
            if not _NAME.fullmatch(info.name):
                raise BackupInvalid(f"The backup contains a file that does not belong to one: {info.name!a}.")
            content = _Content(self, info.size)
            yield Member(info.name, info.size, cast("IO[bytes]", content))
            digest = content.finish()
            self._skip_padding(info.size)
            self._sums.write(_line(digest, info.size, info.name))
            self.files += 1
            self.size += info.size
        self._check_sums(info.size)

    def _check_sums(self, size: int) -> None:
        written, left = self._sums.tell(), size
        self._sums.seek(0)
        same = written == size
        while left and same:
            piece = self.read(min(left, PIECE_BYTES))
            same = piece == self._sums.read(len(piece))
            left -= len(piece)
        if not same:
            raise BackupInvalid("The backup is damaged: files in it do not match their checksums.")
        self._skip_padding(size)
        if self._next() is not None:
            raise BackupInvalid("The backup contains more than its checksums name.")
        if self.read(_BLOCK, least=0).strip(b"\0") or self.read(1, least=0):
            raise BackupInvalid("The backup contains more than its checksums name.")

    def _first(self) -> bytes:
        info = self._next()
        if info is None or info.name != HEADER or info.size > _HEADER_BYTES:
            raise BackupInvalid("The file is not a Headgate backup.")
        content = self.read(info.size)
        self._skip_padding(info.size)
        return content

    def _next(self) -> tarfile.TarInfo | None:
        info = self._info()
        if info is not None and info.type == tarfile.GNUTYPE_LONGNAME:
            if info.size > _NAME_BYTES + 1:
                raise BackupInvalid("The backup contains a file whose name is too long.")
            name = self.read(info.size).rstrip(b"\0").decode("utf-8", "surrogateescape")
            self._skip_padding(info.size)
            info = self._info()
            if info is not None:
                info.name = name
        if info is not None and info.type != tarfile.REGTYPE:
            raise BackupInvalid(f"The backup contains something that is not a regular file: {info.name!a}.")
        return info

    def _info(self) -> tarfile.TarInfo | None:
        block = self.read(_BLOCK)
        if not block.strip(b"\0"):
            return None
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError as error:
            raise BackupInvalid("The backup is damaged: it is not a readable archive.") from error
        if info.size < 0:
            raise BackupInvalid("The backup is damaged: a file has a negative size.")
        return info

    def _skip_padding(self, size: int) -> None:
        self.read(-size % _BLOCK)

    def read(self, size: int, *, least: int | None = None) -> bytes:
        """So many bytes of the decompressed stream. Raises `BackupInvalid` when it ends before `least` of them."""
        try:
            content = self._zip.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise BackupInvalid("The backup is damaged or incomplete: it cannot be decompressed to its end.") from error
        if len(content) < (size if least is None else least):
            raise BackupInvalid("The backup is incomplete.")
        return content


class _Content(io.RawIOBase):
    """The content of one member, hashed while it is read."""

    def __init__(self, archive: ArchiveReader, size: int) -> None:
        self._archive = archive
        self._left = size
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes; empty at the end."""
        size = min(self._left, PIECE_BYTES if size < 0 else size)
        piece = self._archive.read(size) if size else b""
        self._left -= len(piece)
        self._digest.update(piece)
        return piece

    def finish(self) -> str:
        """Read what is left; the SHA-256 of the content."""
        while self.read():
            pass
        return self._digest.hexdigest()


def is_sealed(path: Path) -> bool:
    """Whether a backup is encrypted."""
    with path.open("rb") as file:
        return file.read(len(sealing.MARK)) == sealing.MARK


def _opened(file: IO[bytes], passphrase: str | None) -> IO[bytes]:
    """The compressed stream. Raises `BackupInvalid`, `PassphraseWrong`."""
    sealed = file.read(len(sealing.MARK)) == sealing.MARK
    file.seek(0)
    if not sealed:
        return file
    if passphrase is None:
        raise Invalid("The backup is encrypted.", remedy="Add the passphrase: --passphrase-file FILE.")
    return cast("IO[bytes]", io.BufferedReader(sealing.SealedReader(file, passphrase), PIECE_BYTES))


def _header_of(content: bytes) -> Header:
    try:
        document = json.loads(content)
        if document["format"] == FORMAT:
            return _checked(Header(**document))
    except (ValueError, TypeError, KeyError, RecursionError):
        document = None
    known = isinstance(document, dict) and str(document.get("format", "")).startswith("headgate-backup/")
    if known:
        raise BackupInvalid("The backup was made by a newer Headgate.", remedy="Restore it with that version.")
    raise BackupInvalid("The file is not a Headgate backup.")


def _checked(header: Header) -> Header:
    texts = (header.id, header.created_at, header.product_version, header.schema, header.database, header.files)
    if not all(isinstance(text, str) and len(text) <= 64 for text in texts) or not isinstance(header.key_ids, dict):
        raise ValueError(texts)
    return header


def _line(digest: str, size: int, name: str) -> bytes:
    return f"{digest} {size} {name}\n".encode("utf-8", "surrogateescape")
