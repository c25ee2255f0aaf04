"""Components that change the files of a storage."""

from typing import Literal, cast
from urllib.parse import urlsplit

from pydantic import JsonValue

from headgate.components.files.file_names import safe_name
from headgate.components.storage.paths import clean_path
from headgate.components.storage.storage import MOST_BYTES, opened_storage
from headgate.sdk import (
    STORAGE_KINDS,
    Component,
    ComponentError,
    Connection,
    ConnectionReference,
    Data,
    File,
    RunContext,
    field,
    output,
)
from headgate.sdk.calls import CallRequest

Action = Literal["move", "copy", "delete"]
MOST_FILES = 500
_STORAGE = "A connection of the kind S3, Google Cloud, Azure, SFTP, WebDAV or folder of the server."
_KEYWORDS = (
    "s3", "gcs", "azure", "sftp", "webdav", "bucket", "nextcloud", "minio", "ftp", "folder", "object storage", "share",
    "remote",
)  # fmt: skip


class WriteFile(Component):
    """Writes files to a storage: S3, Google Cloud, Azure, SFTP, WebDAV or a folder of the server."""

    label = "Write file"
    category = "data"
    icon = "hard-drive"
    effect = True
    outside = True
    needs_extra = "storage"
    keywords = (*_KEYWORDS, "upload", "put", "save", "store", "export", "archive", "backup")

    storage: ConnectionReference = field(label="Storage", help=_STORAGE, connection_kinds=STORAGE_KINDS)
    files: list[File] = field(label="Files", help="The files to write.", main=True, many=True)
    folder: str = field(
        default="", label="Folder", help="Folder of the storage, such as reports/2027; it is created.", max_length=1_024
    )
    name: str = field(
        default="", label="File name", help="For one file: its name in the storage; empty is its own name.",
        max_length=1_000,
    )  # fmt: skip
    replace: bool = field(
        default=False, label="Replace", help="Replaces existing files; when off, an existing file is an error.",
        port=False,
    )  # fmt: skip
    timeout_seconds: float = field(
        default=120, label="Time limit", help="For all files, in seconds.", ge=1, le=600, advanced=True
    )

    @output(help="The written files: a list of objects with path and size.")
    async def data(self) -> Data:
        """Write the files in their order. A later attempt at an interrupted step reuses the stored answer."""
        if len(self.files) > MOST_FILES or sum(file.size for file in self.files) > MOST_BYTES:
            raise ComponentError(f"WriteFile: more than {MOST_FILES} files or {MOST_BYTES} bytes.")
        targets = self._targets()
        connection = await self.ctx.connection(self.storage)
        check_storage_effect(self.ctx, connection, targets)
        request = {
            "storage": connection.name,
            "files": [[path, file.id] for path, file in zip(targets, self.files, strict=True)],
        }

        async def write() -> JsonValue:
            async with opened_storage(connection, seconds=self.timeout_seconds, subject="WriteFile") as storage:
                for path, file in zip(targets, self.files, strict=True):
                    await self.ctx.check_cancelled()
                    await storage.write(path, await self.ctx.files.read(file), replace=self.replace)
            self.ctx.log("The files were written.", files=len(targets))
            return cast(
                "JsonValue",
                [{"path": path, "size": file.size} for path, file in zip(targets, self.files, strict=True)],
            )

        return (await self.ctx.once(CallRequest.of("value", "WriteFile", request), write)).value

    def _targets(self) -> list[str]:
        if self.name and len(self.files) > 1:
            raise ComponentError("WriteFile: one name for several files.", remedy="Remove the name.", field="name")
        names = [safe_name(self.name or file.name, default="file") for file in self.files]
        repeated = next((name for position, name in enumerate(names) if name in names[:position]), None)
        if repeated is not None:
            raise ComponentError(
                f"WriteFile: two files have the name '{repeated}'.",
                remedy="Give each file its own name.",
                field="files",
            )
        folder = clean_path(self.folder, subject="WriteFile", field="folder")
        return [f"{folder}/{name}" if folder else name for name in names]


class MoveFile(Component):
    """Moves, copies or deletes a file in a storage. A move copies the file, and then deletes the original."""

    label = "Move file"
    category = "data"
    icon = "folder-input"
    effect = True
    outside = True
    needs_extra = "storage"
    keywords = (*_KEYWORDS, "rename", "copy", "delete", "remove", "archive", "processed")

    storage: ConnectionReference = field(label="Storage", help=_STORAGE, connection_kinds=STORAGE_KINDS)
    path: str = field(label="Path", help="The file, such as inbox/a.pdf.", main=True, max_length=1_024)
    action: Action = field(default="move", label="Action", help="What is done with the file.", port=False)
    target: str = field(
        default="", label="New path", help="For move and copy: the path of the file afterwards.", max_length=1_024
    )
    replace: bool = field(
        default=False, label="Replace", help="Replaces an existing file; when off, it is an error.", port=False
    )
    timeout_seconds: float = field(
        default=120, label="Time limit", help="Maximum time in seconds.", ge=1, le=600, advanced=True
    )

    @output(help="action, path and target.")
    async def data(self) -> Data:
        """Change the file. A later attempt at an interrupted step reuses the stored answer."""
        path = self._path(self.path, "path")
        target = "" if self.action == "delete" else self._path(self.target, "target")
        connection = await self.ctx.connection(self.storage)
        check_storage_effect(self.ctx, connection, [path, target] if target else [path])
        answer: dict[str, JsonValue] = {"action": self.action, "path": path, "target": target}

        async def change() -> JsonValue:
            await self.ctx.check_cancelled()
            async with opened_storage(connection, seconds=self.timeout_seconds, subject="MoveFile") as storage:
                if self.action == "delete":
                    await storage.delete(path)
                else:
                    await storage.copy(path, target, replace=self.replace, delete=self.action == "move")
            return answer

        request = answer | {"storage": connection.name}
        return (await self.ctx.once(CallRequest.of("value", "MoveFile", request), change)).value

    def _path(self, path: str, name: str) -> str:
        cleaned = clean_path(path, subject="MoveFile", field=name)
        if not cleaned:
            raise ComponentError(f"MoveFile: the action {self.action} needs a {name}.", field=name)
        return cleaned


def check_storage_effect(ctx: RunContext, connection: Connection, paths: list[str]) -> None:
    """Raise when external content would decide what is changed, or when the operator opened the folder for reading."""
    if connection.folder is not None and not connection.folder.writable:
        raise ComponentError(
            f"The folder of the connection '{connection.name}' is open for reading only.",
            remedy="Ask the operator to make it writable in HEADGATE_CONNECTIONS__FOLDERS.",
        )
    ctx.check_effect(connection.text("host") or urlsplit(connection.text("url")).hostname or connection.name, paths)
