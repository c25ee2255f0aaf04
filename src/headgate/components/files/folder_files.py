"""The component for files of a folder in the workspace of the user who runs the flow."""

from mimetypes import guess_type
from typing import cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.files.archives import MOST_BYTES, MOST_FILES
from headgate.components.files.file_names import safe_name
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, Data, File, Table, WorkspaceTools, field, output
from headgate.sdk.coerce import data_of


class FolderFiles(Component):
    """Gives the files of a folder in the workspace of the user who runs the flow. Connect them to For each.

    Each file is copied into the run when the step runs: later changes in the folder do not reach the run.
    """

    label = "Files in a folder"
    category = "data"
    icon = "folder-open"
    keywords = (
        "folder", "directory", "files", "every file", "each file", "workspace", "list files", "batch", "glob", "import",
        "documents", "inbox folder",
    )  # fmt: skip

    folder: str = field(
        default="",
        label="Folder",
        help="Folder of the workspace, such as invoices/2027; empty is the complete workspace.",
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
    most_files: int = field(
        default=100, label="Most files", help="More matching files cause an error.", ge=1, le=MOST_FILES, advanced=True
    )
    _saved: list[tuple[str, File]] | None = PrivateAttr(default=None)

    @output(help="The files in the order of their paths: a list of objects with id, name, media_type, size and path.")
    async def files(self) -> Data:
        """Return the copies with the paths of the originals."""
        return [
            cast("dict[str, JsonValue]", data_of(file)) | {"path": path} for path, file in await self._copied_files()
        ]

    @output(help="One row per file: path and size in bytes.")
    async def table(self) -> Table:
        """Return paths and sizes."""
        return Table(columns=["path", "size"], rows=[[path, file.size] for path, file in await self._copied_files()])

    async def _copied_files(self) -> list[tuple[str, File]]:
        if self._saved is None:
            workspace = await self.ctx.workspace(read_only=True)
            size, saved = 0, list[tuple[str, File]]()
            for path in await self._paths(workspace):
                await self.ctx.check_cancelled()
                content = await workspace.read_content(path)
                size += len(content)
                if size > MOST_BYTES:
                    raise self._refused(f"the matching files have more than {MOST_BYTES} bytes")
                name = safe_name(path.rpartition("/")[2], default="file")
                media_type = guess_type(name)[0] or "application/octet-stream"
                saved.append((path, await self.ctx.files.save(name, content, media_type)))
            self._saved = saved
        return self._saved

    async def _paths(self, workspace: WorkspaceTools) -> list[str]:
        search = await workspace.glob_search(self.pattern, self.folder)
        if "error" in search:
            raise ComponentError(f"FolderFiles: {search['error']}", remedy="Check the folder.", field="folder")
        paths = sorted(str(path) for path in cast("list[JsonValue]", search["matches"]))
        if search["truncated"]:
            raise self._refused("not all of the folder could be searched")
        if len(paths) > self.most_files:
            raise self._refused(f"{len(paths)} files match; the limit is {self.most_files}")
        return paths

    def _refused(self, reason: str) -> ComponentError:
        return ComponentError(
            f"FolderFiles: folder '{clipped(self.folder, 80)}', pattern '{clipped(self.pattern, 60)}': {reason}.",
            remedy="Choose a smaller folder, or a more specific pattern.",
            field="pattern",
        )
