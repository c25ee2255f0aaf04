"""New and changed files of a folder: in the workspace of the trigger's owner, or in the storage of a connection."""

import hashlib
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from mimetypes import guess_type
from typing import Any, Protocol, cast

from pydantic import JsonValue

from headgate.components.files.file_names import safe_name
from headgate.components.storage.paths import clean_path
from headgate.components.storage.storage import NoSuchFile, Storage, opened_storage
from headgate.features.runs.transitions import clock
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.hooks.bodies import Upload
from headgate.features.triggers.poll_settings import FolderConfig
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import MOST_LISTED, Cursor, fresh_of, settle
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.features.triggers.polling.watching import LocalFolder, wait_for_change
from headgate.features.triggers.schedule import SECOND
from headgate.features.workspace.errors import WorkspaceFileNotFound
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import STORAGE_KINDS, WorkspaceTools

MOST_FOLDER_BYTES = 100_000_000
"""Bytes of the files of a folder that one poll reads."""
STORAGE_SECONDS = 240
"""Longest time of one poll of a storage."""
SETTLE_SECONDS = 5
"""How long a file must stay the same before it starts a run."""


class _Source(Protocol):
    async def versions(self, config: FolderConfig) -> Mapping[str, str] | None:
        """Return the version of each matching file by path; None when the folder does not exist."""
        ...

    async def content(self, path: str, version: str) -> bytes | None:
        """Return the content of that version; None when it is another one by now."""
        ...


@dataclass(frozen=True, slots=True)
class _Workspace:
    files: WorkspaceTools

    async def versions(self, config: FolderConfig) -> Mapping[str, str] | None:
        search = cast("dict[str, Any]", await self.files.glob_search(config.pattern, config.folder))
        if search.get("error") == WorkspaceFileNotFound(config.folder or ".", "Folder").detail:
            return None
        if "error" in search:
            raise TriggerInvalid(f"The folder cannot be read: {search['error']}", remedy="Correct the folder.")
        if search["truncated"]:
            raise TriggerInvalid("Not all of the folder could be searched.", remedy="Choose a smaller folder.")
        paths, contents, size = _limited([str(path) for path in search["matches"]]), dict[str, str](), 0
        for path in paths:
            content = await self.files.read_content(path)
            size += len(content)
            _require_size(size)
            contents[path] = hashlib.sha256(content).hexdigest()
        return contents

    async def content(self, path: str, version: str) -> bytes | None:
        content = await self.files.read_content(path)
        return content if hashlib.sha256(content).hexdigest() == version else None


@dataclass(slots=True)
class _Stored:
    storage: Storage
    size: int = 0

    async def versions(self, config: FolderConfig) -> Mapping[str, str] | None:
        folder = clean_path(config.folder, subject="The trigger", field="folder")
        try:
            entries = await self.storage.list_files(folder, config.pattern)
        except NoSuchFile:
            return None
        _limited([entry.path for entry in entries])
        return {entry.path: entry.version for entry in entries}

    async def content(self, path: str, version: str) -> bytes | None:  # noqa: ARG002 - another version is a new file
        try:
            content = await self.storage.read(path, MOST_FOLDER_BYTES)
        except NoSuchFile:
            return None
        self.size += len(content)
        _require_size(self.size)
        return content


async def read_folder(ctx: PollContext, config: FolderConfig, cursor: Cursor | None) -> PollResult:
    """Return the new and changed files of a folder, in the order of their paths.

    A file counts once two polls some seconds apart find the same version: until then it may be half-written. A folder
    that does not exist yet is waited for; all that it has later is new.
    """
    async with AsyncExitStack() as stack:
        source = await _opened(ctx, config, stack)
        versions = await source.versions(config)
        if versions is None:
            return PollResult((), Cursor() if cursor is None else cursor, waits_for=config.folder or "/")
        paths = sorted(versions)
        if not ctx.with_unsettled and (cursor is not None or config.first == "all"):
            keys = [f"{path}:{versions[path]}" for path in paths]
            settled, cursor = settle(keys, cursor, clock(), SETTLE_SECONDS * SECOND)
            paths = [path for path, is_settled in zip(paths, settled, strict=True) if is_settled]
        keys = [f"{path}:{versions[path]}" for path in paths]
        new = fresh_of(keys, cursor, most=config.most, all_at_first=config.first == "all")
        items = []
        for position in new.positions:
            content = await source.content(paths[position], versions[paths[position]])
            if content is not None:  # another version is new at the next poll
                items.append(_file(paths[position], content, keys[position]))
    again_seconds = SETTLE_SECONDS if new.cursor.unsettled else None
    return PollResult(tuple(items), new.cursor, more=new.more, again_seconds=again_seconds)


async def wait_for_files(ctx: PollContext, config: FolderConfig, known: str, seconds: float) -> str:
    """Return the state of a folder of this machine once it is not `known`, or after the time.

    Raises `TriggerInvalid` for another storage.
    """
    if config.connection is None:
        root = await ctx.workspace_folder()
    else:
        opened = (await ctx.connection(ConnectionReference(config.connection, STORAGE_KINDS))).folder
        if opened is None:
            raise TriggerInvalid("This storage does not report changes.", remedy="Its files are found by polls.")
        root = opened.path.resolve()
    return await wait_for_change(LocalFolder(root, config.folder, config.pattern), known, seconds)


async def _opened(ctx: PollContext, config: FolderConfig, stack: AsyncExitStack) -> _Source:
    if config.connection is None:
        return _Workspace(await ctx.workspace())
    connection = await ctx.connection(ConnectionReference(config.connection, STORAGE_KINDS))
    opened = opened_storage(connection, seconds=STORAGE_SECONDS, subject="The trigger")
    return _Stored(await stack.enter_async_context(opened))


def _limited(paths: list[str]) -> list[str]:
    if len(paths) > MOST_LISTED:
        raise TriggerInvalid(f"More than {MOST_LISTED:,} files match.", remedy="Choose a more specific pattern.")
    return paths


def _require_size(size: int) -> None:
    if size > MOST_FOLDER_BYTES:
        raise TriggerInvalid(f"The files have more than {MOST_FOLDER_BYTES:,} bytes.", remedy="Choose fewer files.")


def _file(path: str, content: bytes, key: str) -> Item:
    name = safe_name(path.rpartition("/")[2], default="file")
    media_type = guess_type(name)[0] or "application/octet-stream"
    sha256 = hashlib.sha256(content).hexdigest()
    value: JsonValue = {"path": path, "name": name, "size": len(content), "sha256": sha256}
    return Item(key, value, files=(Upload(name, media_type, content),))
