"""Lists and extracts archives: ZIP, TAR, and TAR compressed with gzip, bzip2 or xz. Nothing is written to a disk."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any

from headgate.components.readers.document import Unreadable
from headgate.graph.names import clipped
from headgate.sdk.coerce import clean_text

MOST_ENTRIES = 10_000
MOST_MEMBER_BYTES = 20_000_000
"""Maximum unpacked size of one file."""
MOST_UNPACKED = 200_000_000
"""Maximum unpacked size of all files that one extraction reads, in bytes, the skipped ones of a TAR included."""
_DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError),
    *(NotImplementedError, KeyError, IndexError),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in an archive; folders, links and devices are no entries."""

    path: str
    size: int
    """Unpacked size in bytes, as the archive declares it."""
    modified: str | None
    """ISO 8601; null when the archive has no valid time."""


def list_archive(content: bytes, *, name: str) -> list[Entry]:
    """Return the files of an archive, in its order. Raises `Unreadable`."""
    with _readable(name):
        return [entry for entry, _ in _members(content, name)]


def extract(content: bytes, paths: Collection[str], *, name: str) -> dict[str, bytes]:
    """Return the content of files of an archive, by path.

    Raises `Unreadable` when one is missing, or exceeds a limit whatever size the archive declares.
    """
    selected: dict[str, bytes] = {}
    remaining = MOST_UNPACKED
    with _readable(name):
        for entry, stream in _members(content, name):
            if entry.path not in paths:
                continue
            with stream() as member:
                data = member.read(min(MOST_MEMBER_BYTES, remaining) + 1)
            if len(data) > min(MOST_MEMBER_BYTES, remaining):
                raise Unreadable(
                    f"'{clipped(entry.path, 80)}' in '{name}' unpacks to more than {MOST_MEMBER_BYTES} bytes.",
                    remedy="Extract fewer or smaller files.",
                )
            remaining -= len(data)
            selected[entry.path] = data
    missing = sorted(set(paths) - set(selected))
    if missing:
        raise Unreadable(f"'{name}' contains no readable file '{clipped(missing[0], 80)}'.")
    return selected


@contextmanager
def _readable(name: str) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # an encrypted member of a ZIP
        raise Unreadable(f"'{name}' is encrypted: {clipped(str(error), 200)}.") from error
    except _DAMAGED as error:
        raise Unreadable(
            f"'{name}' is not a readable archive: {clipped(str(error), 200)}.", remedy="Use ZIP, TAR or TAR.GZ."
        ) from error


class _Opener:
    """Opens one member when it is needed."""

    def __init__(self, archive: zipfile.ZipFile | tarfile.TarFile, member: zipfile.ZipInfo | tarfile.TarInfo) -> None:
        self._archive = archive
        self._member = member

    def __call__(self) -> IO[bytes]:
        if isinstance(self._archive, zipfile.ZipFile):
            return self._archive.open(self._member)  # type: ignore[arg-type]
        stream = self._archive.extractfile(self._member)  # type: ignore[arg-type]
        if stream is None:
            raise tarfile.ReadError("the member has no content")
        return stream


def _members(content: bytes, name: str) -> Iterator[tuple[Entry, _Opener]]:
    if zipfile.is_zipfile(io.BytesIO(content)):
        yield from _zip_members(content, name)
        return
    with closing(tarfile.open(fileobj=io.BytesIO(_plain_tar(content, name)), mode="r:")) as archive:
        for number, member in enumerate(archive):
            _require_count(number + 1, name)
            if member.isreg():
                modified = _moment(member.mtime)
                yield Entry(clean_text(member.name), member.size, modified), _Opener(archive, member)


def _zip_members(content: bytes, name: str) -> Iterator[tuple[Entry, _Opener]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        infos = archive.infolist()
        _require_count(len(infos), name)
        for info in infos:
            is_link = (info.external_attr >> 28) == 0o12
            if not info.is_dir() and not is_link:
                entry = Entry(clean_text(info.filename), info.file_size, _zip_time(info))
                yield entry, _Opener(archive, info)


def _plain_tar(content: bytes, name: str) -> bytes:
    """Return the unpacked TAR. Raises `Unreadable` when it exceeds the limit."""
    source = io.BytesIO(content)
    openers: dict[bytes, Any] = {
        b"\x1f\x8b": gzip.open,
        b"BZ": bz2.open,
        b"\xfd7": lzma.open,
    }
    opener = openers.get(content[:2])
    if opener is None:
        return content
    with opener(source) as stream:
        plain: bytes = stream.read(MOST_UNPACKED + 1)
    if len(plain) > MOST_UNPACKED:
        raise Unreadable(f"'{name}' unpacks to more than {MOST_UNPACKED // 1_000_000} MB.", remedy="Split it.")
    return plain


def _require_count(count: int, name: str) -> None:
    if count > MOST_ENTRIES:
        raise Unreadable(f"'{name}' has more than {MOST_ENTRIES} entries.", remedy="Split it.")


def _zip_time(info: zipfile.ZipInfo) -> str | None:
    try:
        return datetime(*info.date_time).isoformat()  # noqa: DTZ001 - ZIP has no time zone
    except ValueError:
        return None


def _moment(seconds: float) -> str | None:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None
