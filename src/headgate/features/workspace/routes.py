"""HTTP routes of the caller's workspace."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Query, Response

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.workspace import service
from headgate.features.workspace.names import MAX_PATH_CHARACTERS
from headgate.features.workspace.schemas import WorkspaceFileIn, WorkspaceFileOut, WorkspacePage, WorkspaceText
from headgate.features.workspace.workspace import Area, Workspace
from headgate.foundation.api import Limit, Routes, WriteSession, part

router = Routes(prefix="/workspace/files", tags=["workspace"])


Workspaces = Annotated[Workspace, part("workspace")]
Path = Annotated[str, Query(max_length=MAX_PATH_CHARACTERS, description="Relative path, such as notes/plan.md.")]
Where = Annotated[
    Area,
    Query(
        description=(
            "`assistant`: files of your assistant and of MCP clients. `flows`: files of flows that "
            "you start. They differ only with auto-login."
        )
    ),
]
_CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The content", "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
}
_USE = [needs(Permission.WORKSPACE_USE)]


@router.get("", "List your workspace's files", _USE, problems=(403,))
async def list_(
    caller: Caller,
    workspace: Workspaces,
    limit: Limit = 50,
    cursor: Annotated[
        str, Query(max_length=MAX_PATH_CHARACTERS, description=("`next_cursor` of the previous page."))
    ] = "",
    area: Where = "assistant",
) -> WorkspacePage:
    """List your own files by path, and their total usage."""
    return await service.list_files(workspace, caller, area=area, limit=limit, after=cursor)


@router.get("/content", "Read a text file", _USE, problems=(403, 404))
async def read(path: Path, caller: Caller, workspace: Workspaces, area: Where = "assistant") -> WorkspaceText:
    """The text of one of your files."""
    return await service.read_text(workspace, caller, path, area=area)


@router.put("/content", "Write a text file", _USE, problems=(403, 413))
async def write(
    path: Path,
    file: WorkspaceFileIn,
    session: WriteSession,
    caller: Caller,
    workspace: Workspaces,
    area: Where = "assistant",
) -> WorkspaceFileOut:
    """Write a complete file, with its missing folders."""
    return await service.write_text(session, caller, workspace, path, file.text, area=area)


@router.delete("/content", "Delete a file", _USE, problems=(403, 404))
async def delete(
    path: Path, session: WriteSession, caller: Caller, workspace: Workspaces, area: Where = "assistant"
) -> None:
    """Delete one of your files, and folders that become empty."""
    await service.remove_file(session, caller, workspace, path, area=area)


@router.get("/download", "Download a file", _USE, problems=(403, 404), response_class=Response, responses=_CONTENT)
async def download(path: Path, caller: Caller, workspace: Workspaces, area: Where = "assistant") -> Response:
    """The raw content. It never runs in the page's own origin: a file may contain a script."""
    content = await service.read_bytes(workspace, caller, path, area=area)
    name = quote(path.rpartition("/")[2], safe="")
    return Response(
        content,
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cache-Control": "private, no-store",
        },
    )
