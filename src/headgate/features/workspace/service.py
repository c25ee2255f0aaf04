"""A user's own files, managed by the user. Operations of agents are not recorded here."""

from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.workspace import text
from headgate.features.workspace.errors import NotATextFile
from headgate.features.workspace.folder import Entry, Folder, workspace_errors
from headgate.features.workspace.names import MAX_DEPTH, is_possible
from headgate.features.workspace.places import Binding
from headgate.features.workspace.root import Root
from headgate.features.workspace.schemas import WorkspaceFileOut, WorkspacePage, WorkspaceText
from headgate.features.workspace.workspace import Area, Workspace


async def list_files(
    workspace: Workspace, principal: Principal, *, area: Area = "assistant", limit: int = 50, after: str = ""
) -> WorkspacePage:
    """Return files by path after `after`, and their total usage. Raises `UserRequired`."""

    def work(root: Root) -> WorkspacePage:
        files = [file for file in sorted(_files(root.folder, ()), key=lambda file: file.path) if file.path > after]
        used, limits = root.usage(), root.settings.workspace
        return WorkspacePage(
            items=files[:limit],
            next_cursor=files[limit - 1].path if len(files) > limit else None,
            files=used.files,
            size_bytes=used.size,
            max_files=limits.max_files,
            max_bytes=limits.max_bytes,
        )

    return await _own(workspace, principal, area).run(work)


async def read_bytes(workspace: Workspace, principal: Principal, path: str, *, area: Area = "assistant") -> bytes:
    """Return a file's content. Raises `WorkspaceFileNotFound`, `PathEscapes`, `PathReserved`, `NotATextFile`."""
    return await _own(workspace, principal, area).run(lambda root: text.read_bytes(root, path))


async def read_text(
    workspace: Workspace, principal: Principal, path: str, *, area: Area = "assistant"
) -> WorkspaceText:
    """Return a text file. Raises like `read_bytes`, `NotATextFile` for binary content."""

    def work(root: Root) -> WorkspaceText:
        content = text.read_bytes(root, path)
        if text.is_binary(content):
            raise NotATextFile(f"Refusing to read binary file: {path}", remedy="Download it.")
        entry = _about(root, path)
        return WorkspaceText(**entry.model_dump(), text=content.decode(errors="replace"))

    return await _own(workspace, principal, area).run(work)


async def write_text(
    session: AsyncSession,
    principal: Principal,
    workspace: Workspace,
    path: str,
    content: str,
    *,
    area: Area = "assistant",
) -> WorkspaceFileOut:
    """Write a complete file. Raises errors of paths, `WorkspaceFileTooLarge`, `WorkspaceFull`."""

    def work(root: Root) -> WorkspaceFileOut:
        text.write_file(root, path, content)
        return _about(root, path)

    entry = await _own(workspace, principal, area).run(work)
    payload = {"area": area, "size_bytes": entry.size_bytes}
    await record(
        session, principal, "workspace.file_written", id=principal.user_id, name=path, after=payload, payload=payload
    )
    return entry


async def remove_file(
    session: AsyncSession, principal: Principal, workspace: Workspace, path: str, *, area: Area = "assistant"
) -> None:
    """Delete a file, and folders that become empty. Raises `WorkspaceFileNotFound`, errors of paths."""
    entry = await _own(workspace, principal, area).run(lambda root: _remove(root, path))
    payload = {"area": area, "size_bytes": entry.size_bytes}
    await record(
        session, principal, "workspace.file_deleted", id=principal.user_id, name=path, before=payload, payload=payload
    )


def _own(workspace: Workspace, principal: Principal, area: Area) -> Binding:
    principal.require(Permission.WORKSPACE_USE)
    return workspace.of_user(principal, area).binding


def _remove(root: Root, path: str) -> WorkspaceFileOut:
    parts = text.file_parts(path)
    with root.locked(), workspace_errors(path):
        entry = _about(root, path)
        root.note.forget()
        with root.folder.below(parts[:-1]) as folder:
            folder.remove(parts[-1])
        root.prune(parts[:-1])
    return entry


def _about(root: Root, path: str) -> WorkspaceFileOut:
    *folders, name = text.file_parts(path)
    with workspace_errors(path), root.folder.below(folders) as folder:
        return _shown((*folders, name), folder.entry(name))


def _files(folder: Folder, prefix: tuple[str, ...]) -> Iterator[WorkspaceFileOut]:
    for entry in folder.entries():
        if not is_possible(entry.name):
            continue
        if not entry.is_folder:
            yield _shown((*prefix, entry.name), entry)
        elif len(prefix) < MAX_DEPTH:
            with workspace_errors("/".join((*prefix, entry.name)), "Folder"), folder.child(entry.name) as child:
                yield from _files(child, (*prefix, entry.name))


def _shown(parts: tuple[str, ...], entry: Entry) -> WorkspaceFileOut:
    modified = datetime.fromtimestamp(entry.modified, UTC)
    return WorkspaceFileOut(path="/".join(parts), size_bytes=entry.size, modified_at=modified)
