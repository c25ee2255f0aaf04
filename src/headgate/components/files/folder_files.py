"""The component for files of a folder: in the workspace of the user who runs the flow, or in a storage."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from mimetypes import guess_type
from typing import Protocol, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.files.archives import MOST_BYTES, MOST_FILES
from headgate.components.files.file_names import safe_name
from headgate.components.storage.paths import clean_path
from headgate.components.storage.storage import Storage, opened_storage
from headgate.graph.names import clipped
from headgate.graph.template import Template
from headgate.sdk import (
    STORAGE_KINDS,
    Component,
    ComponentError,
    ConnectionReference,
    Data,
    File,
    Table,
    WorkspaceTools,
    field,
    output,
)
from headgate.sdk.coerce import data_of
from headgate.sdk.outside import mark


@dataclass(frozen=True, slots=True)
class _Listed:
    path: str
    size: int | None = None
    changed: datetime | None = None


class _Folder(Protocol):
    async def matching(self, folder: str, pattern: str) -> list[_Listed]:
        """Return the matching files."""

    async def content(self, path: str) -> bytes:
        """Return the content of a file."""


class FolderFiles(Component):
    """Gives the files of a folder: of the workspace, or of a storage (S3, Google Cloud, Azure, SFTP, WebDAV, server).

    Connect them to For each. Each file is copied into the run when the step runs: later changes in the folder do not
    reach the run. With only the table connected, a storage is listed and no file is copied.
    """

    label = "Files in a folder"
    category = "data"
    icon = "folder-open"
    keywords = (
        "folder", "directory", "files", "every file", "each file", "workspace", "list files", "batch", "glob", "import",
        "documents", "inbox folder", "s3", "sftp", "webdav", "bucket", "nextcloud", "minio", "object storage",
        "download", "remote",
    )  # fmt: skip

    folder: str = field(
        default="",
        label="Folder",
        help="Folder such as invoices/2027; empty is the complete workspace or storage.",
        main=True,
        max_length=1_024,
    )
    pattern: str = field(
        default="*",
        label="Pattern",
        help="Which files: * and ? are wildcards in the name; **/*.pdf also finds files in folders below.",
        port=False,
        max_length=500,
    )
    storage: ConnectionReference | None = field(
        default=None,
        label="Storage",
        help="A connection to S3, Google Cloud, Azure, SFTP, WebDAV or a folder of the server; empty: the workspace.",
        connection_kinds=STORAGE_KINDS,
    )
    changed_after: str = field(
        default="",
        label="Changed after",
        help="Only files of a storage that changed after this time (ISO 8601), such as 2027-01-31T08:00:00Z.",
        advanced=True,
        max_length=40,
    )
    most_files: int = field(
        default=100, label="Most files", help="More matching files cause an error.", ge=1, le=MOST_FILES, advanced=True
    )
    timeout_seconds: float = field(
        default=120, label="Time limit", help="For a storage, in seconds.", ge=1, le=600, advanced=True
    )
    _listed: list[_Listed] | None = PrivateAttr(default=None)
    _saved: list[File] | None = PrivateAttr(default=None)
    _wanted: frozenset[str] = PrivateAttr(default=frozenset({"files", "table"}))

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:
        """Return a template whose outputs are from outside when the files are those of a storage."""
        return super().template(params).model_copy(update={"outside": bool((params or {}).get("storage"))})

    @output(help="The files in the order of their paths: a list of objects with id, name, media_type, size and path.")
    async def files(self) -> Data:
        """Return the copies with the paths of the originals."""
        listed, saved = await self._read(copied=True)
        return [
            cast("dict[str, JsonValue]", data_of(file)) | {"path": entry.path}
            for entry, file in zip(listed, saved, strict=True)
        ]

    @output(help="One row per file: path, size in bytes and, for a storage, the time of the last change.")
    async def table(self) -> Table:
        """Return paths and sizes."""
        listed, _ = await self._read(copied="files" in self._wanted or self.storage is None)
        rows = [[entry.path, entry.size, entry.changed and entry.changed.isoformat()] for entry in listed]
        return Table(columns=["path", "size", "changed"], rows=cast("list[list[JsonValue]]", rows))

    def expect_outputs(self, names: Sequence[str]) -> None:
        """Copy the files only when they are requested."""
        self._wanted = frozenset(names)

    async def _read(self, *, copied: bool) -> tuple[list[_Listed], list[File]]:
        """List once, and copy once when the files are requested."""
        if self._listed is None or (copied and self._saved is None):
            async with AsyncExitStack() as stack:
                source = await self._open(stack)
                listed = self._within(await source.matching(self.folder, self.pattern))
                if copied:
                    listed, self._saved = await self._copy(source, listed)
                self._listed = listed
        return self._listed, self._saved or []

    async def _open(self, stack: AsyncExitStack) -> _Folder:
        if self.storage is None:
            if self.changed_after:
                raise ComponentError(
                    "FolderFiles: files of the workspace have no time of change.",
                    remedy="Choose a storage, or leave the field empty.",
                    field="changed_after",
                )
            return _Workspace(await self.ctx.workspace(read_only=True))
        connection = await self.ctx.connection(self.storage)
        opened = opened_storage(connection, seconds=self.timeout_seconds, subject="FolderFiles")
        storage = await stack.enter_async_context(opened)
        self.ctx.mark_outside([mark("connection", connection.name)])
        return _Stored(storage)

    def _within(self, listed: list[_Listed]) -> list[_Listed]:
        if self.changed_after:
            try:
                after = datetime.fromisoformat(self.changed_after)
            except ValueError as error:
                raise ComponentError(
                    f"FolderFiles: '{clipped(self.changed_after, 40)}' is not a time.",
                    remedy="Write it as 2027-01-31T08:00:00Z.",
                    field="changed_after",
                ) from error
            after = after if after.tzinfo else after.replace(tzinfo=UTC)
            listed = [entry for entry in listed if entry.changed is not None and entry.changed > after]
        if len(listed) > self.most_files:
            raise self._refused(f"{len(listed)} files match; the limit is {self.most_files}")
        if sum(entry.size or 0 for entry in listed) > MOST_BYTES and "files" in self._wanted:
            raise self._refused(f"the matching files have more than {MOST_BYTES} bytes")
        return listed

    async def _copy(self, source: _Folder, listed: list[_Listed]) -> tuple[list[_Listed], list[File]]:
        size, copies, saved = 0, list[_Listed](), list[File]()
        for entry in listed:
            await self.ctx.check_cancelled()
            content = await source.content(entry.path)
            size += len(content)
            if size > MOST_BYTES:
                raise self._refused(f"the matching files have more than {MOST_BYTES} bytes")
            name = safe_name(entry.path.rpartition("/")[2], default="file")
            media_type = guess_type(name)[0] or "application/octet-stream"
            saved.append(await self.ctx.files.save(name, content, media_type))
            copies.append(_Listed(entry.path, len(content), entry.changed))
        return copies, saved

    def _refused(self, reason: str) -> ComponentError:
        return ComponentError(
            f"FolderFiles: folder '{clipped(self.folder, 80)}', pattern '{clipped(self.pattern, 60)}': {reason}.",
            remedy="Choose a smaller folder, or a more specific pattern.",
            field="pattern",
        )


@dataclass(frozen=True, slots=True)
class _Workspace:
    tools: WorkspaceTools

    async def matching(self, folder: str, pattern: str) -> list[_Listed]:
        """Return the matching files by path, without sizes. Raises `ComponentError`."""
        search = await self.tools.glob_search(pattern, folder)
        if "error" in search:
            raise ComponentError(f"FolderFiles: {search['error']}", remedy="Check the folder.", field="folder")
        if search["truncated"]:
            raise ComponentError(
                f"FolderFiles: not all of the folder '{clipped(folder, 80)}' could be searched.",
                remedy="Choose a smaller folder, or a more specific pattern.",
                field="pattern",
            )
        return [_Listed(path) for path in sorted(str(path) for path in cast("list[JsonValue]", search["matches"]))]

    async def content(self, path: str) -> bytes:
        """Return the content of a file."""
        return await self.tools.read_content(path)


@dataclass(frozen=True, slots=True)
class _Stored:
    storage: Storage

    async def matching(self, folder: str, pattern: str) -> list[_Listed]:
        """Return the matching files by path. Raises `ComponentError`."""
        folder = clean_path(folder, subject="FolderFiles", field="folder")
        entries = await self.storage.list_files(folder, pattern)
        return [_Listed(entry.path, entry.size, entry.changed) for entry in entries]

    async def content(self, path: str) -> bytes:
        """Return the content of a file."""
        return await self.storage.read(path)
