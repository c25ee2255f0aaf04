"""Components for archives."""

import base64
import io
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import Any, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.files.file_names import safe_name
from headgate.components.isolated import ARCHIVE_ENTRIES, ARCHIVE_MEMBERS
from headgate.components.isolated.calls import call_isolated
from headgate.components.readers.archive import MOST_MEMBER_BYTES
from headgate.components.readers.document import Unreadable, require_size
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, Data, File, Table, field, output
from headgate.sdk.coerce import data_of

MOST_FILES = 500
MOST_BYTES = 100_000_000
"""Maximum number and total size of the files that one step extracts or packs."""
_BATCH_BYTES = MOST_MEMBER_BYTES
_EPOCH = (1980, 1, 1, 0, 0, 0)
_MEDIA_TYPES = {".zip": "application/zip", ".tar.gz": "application/gzip", ".tgz": "application/gzip"}


class ExtractArchive(Component):
    """Lists the files of a ZIP or TAR archive and extracts those that match a pattern."""

    label = "Extract archive"
    category = "data"
    icon = "file-archive"
    keywords = ("zip", "tar", "gz", "tgz", "unzip", "unpack", "decompress", "compressed", "files", "list", "entries")

    archive: File = field(label="Archive", help="ZIP, TAR, TAR.GZ, TAR.BZ2 or TAR.XZ.", main=True)
    pattern: str = field(
        default="*",
        label="Pattern",
        help="Which files to extract: * and ? are wildcards in the path, such as *.csv.",
        port=False,
        max_length=500,
    )
    most_files: int = field(
        default=100, label="Most files", help="More matching files cause an error.", ge=1, le=MOST_FILES, advanced=True
    )
    _listed: list[dict[str, Any]] | None = PrivateAttr(default=None)
    _files: list[File] | None = PrivateAttr(default=None)

    @output(help="The files in the archive: path, size in bytes and modified.")
    async def entries(self) -> Table:
        """Return the list, without extracting anything."""
        rows = [[entry["path"], entry["size"], entry["modified"]] for entry in await self._list()]
        return Table(columns=["path", "size", "modified"], rows=rows)

    @output(help="The extracted files: a list of objects with id, name, media_type, size and path.")
    async def files(self) -> Data:
        """Extract and store the matching files."""
        extracted = await self._extract()
        paths = [entry["path"] for entry in self._matching(await self._list())]
        return [
            cast("dict[str, JsonValue]", data_of(file)) | {"path": path}
            for file, path in zip(extracted, paths, strict=True)
        ]

    @output(help="The first extracted file.")
    async def file(self) -> File:
        """Return the first file. Raises `Unreadable` when no file matches."""
        extracted = await self._extract()
        if not extracted:
            raise Unreadable(
                f"'{self.archive.name}' contains no file that matches '{clipped(self.pattern, 60)}'.",
                remedy="Change the pattern.",
            )
        return extracted[0]

    async def _list(self) -> list[dict[str, Any]]:
        if self._listed is None:
            self._listed = cast("list[dict[str, Any]]", await self._call(ARCHIVE_ENTRIES, {}))
        return self._listed

    def _matching(self, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        unique = {entry["path"]: entry for entry in entries if fnmatchcase(entry["path"], self.pattern)}
        return list(unique.values())

    async def _extract(self) -> list[File]:
        """Extract and store once, in batches that a process can return."""
        if self._files is None:
            entries = self._matching(await self._list())
            self._require_bounds(entries)
            self._files = []
            for batch in _batches(entries):
                members = cast("dict[str, str]", await self._call(ARCHIVE_MEMBERS, {"paths": list[JsonValue](batch)}))
                for path in batch:
                    name = safe_name(PurePosixPath(path).name, default="file")
                    media_type = guess_type(name)[0] or "application/octet-stream"
                    await self.ctx.check_cancelled()
                    content = base64.b64decode(members[path])
                    self._files.append(await self.ctx.files.save(name, content, media_type))
        return self._files

    def _require_bounds(self, entries: Sequence[dict[str, Any]]) -> None:
        size = sum(entry["size"] for entry in entries)
        if len(entries) > self.most_files or size > MOST_BYTES:
            raise Unreadable(
                f"{len(entries)} files with {size} bytes of '{self.archive.name}' match; the limits are "
                f"{self.most_files} files and {MOST_BYTES} bytes.",
                remedy="Use a more specific pattern.",
            )

    async def _call(self, function: str, arguments: dict[str, JsonValue]) -> JsonValue:
        content = await self.ctx.files.read(self.archive)
        require_size(content, self.archive.name)
        encoded = base64.b64encode(content).decode()
        arguments |= {"content": encoded, "name": self.archive.name}
        return await call_isolated(self.ctx, function, arguments, f"'{clipped(self.archive.name, 80)}'")


class CreateArchive(Component):
    """Packs files into a ZIP or TAR.GZ archive to download."""

    label = "Create archive"
    category = "output"
    icon = "file-archive"
    effect = True
    keywords = ("zip", "tar", "gz", "tgz", "pack", "compress", "bundle", "download", "files", "archive")

    files: list[File] = field(label="Files", help="The files to pack, in this order.", main=True, many=True)
    name: str = field(
        default="files.zip", label="File name", help="With the extension .zip or .tar.gz.", port=False, max_length=1000
    )

    @output(help="The archive.")
    async def file(self) -> File:
        """Read the files, pack them off the event loop, then store."""
        name = safe_name(self.name, default="files.zip")
        extension = next((suffix for suffix in _MEDIA_TYPES if name.lower().endswith(suffix)), "")
        if not extension:
            raise ComponentError(
                f"CreateArchive: '{name}' does not end in .zip or .tar.gz.", remedy="Add the extension.", field="name"
            )
        if len(self.files) > MOST_FILES or sum(file.size for file in self.files) > MOST_BYTES:
            raise ComponentError(
                f"CreateArchive: more than {MOST_FILES} files or {MOST_BYTES} bytes.", remedy="Pack fewer files."
            )
        contents = [await self.ctx.files.read(file) for file in self.files]
        members = list(zip(_unique_names(self.files), contents, strict=True))
        content = await run_in_flow_thread(_zip if extension == ".zip" else _tar, members)
        await self.ctx.check_cancelled()
        return await self.ctx.files.save(name, content, _MEDIA_TYPES[extension])


def _batches(entries: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    """Group paths so that each group unpacks to at most `_BATCH_BYTES`; a larger file is a separate group."""
    batch: list[str] = []
    size = 0
    for entry in entries:
        if batch and size + entry["size"] > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(entry["path"])
        size += entry["size"]
    if batch:
        yield batch


def _unique_names(files: Sequence[File]) -> list[str]:
    """Return a name for each file; a repeated name gets a number before its extension."""
    names: list[str] = []
    used: set[str] = set()
    for file in files:
        path = PurePosixPath(safe_name(file.name, default="file"))
        number, name = 1, str(path)
        while name.lower() in used:
            number += 1
            name = f"{path.stem}-{number}{path.suffix}"
        used.add(name.lower())
        names.append(name)
    return names


def _zip(members: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a ZIP with fixed times: the same files are the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name, _EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return stream.getvalue()


def _tar(members: Sequence[tuple[str, bytes]]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()
