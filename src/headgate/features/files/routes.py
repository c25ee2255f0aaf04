"""HTTP routes of files and artifacts."""

from typing import Annotated

from fastapi import Depends, Query, Request
from fastapi.responses import StreamingResponse

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.files import service
from headgate.features.files.download import CONTENT, sent_file
from headgate.features.files.errors import FileNotFound
from headgate.features.files.schemas import FileOut
from headgate.features.files.storage import Storage
from headgate.features.files.upload import FORM, pieces, uploaded_file
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    Routes,
    get_database,
    page_of,
    parse_cursor,
    part,
)
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings

router = Routes(tags=["files"])


Contents = Annotated[Storage, part("storage")]
_VIEW = [needs(Permission.FILES_VIEW)]


@router.post(
    "/files", "Upload a file", [needs(Permission.FILES_UPLOAD)], status_code=201, problems=(413,), openapi_extra=FORM
)
async def upload(
    request: Request, caller: Caller, contents: Contents, database: Annotated[Database, Depends(get_database)]
) -> FileOut:
    """Store a file for starting runs. It is private until a run or a test uses it; then its space can view it."""
    settings: Settings = request.app.state.settings
    limit = settings.server.max_upload_bytes
    async with uploaded_file(request, max_bytes=limit) as file:
        row = await service.store_upload(
            database,
            contents,
            caller,
            name=file.filename or "",
            content=pieces(file),
            media_type=file.content_type or "",
            max_bytes=limit,
            limits=request.app.state.quotas,
        )
    return FileOut.model_validate(row)


@router.get("/files", "List files", _VIEW)
async def list_(
    session: ReadSession,
    caller: Caller,
    limit: Limit = 50,
    cursor: Cursor = None,
    flow_run_id: Annotated[
        str | None, Query(description="Only files created by this run.", pattern="^[0-9a-f-]{36}$")
    ] = None,
) -> Page[FileOut]:
    """List your uploads, and files that runs of your spaces used or created, newest first."""
    rows = await service.list_files(
        session, caller, flow_run_id=flow_run_id, limit=limit + 1, before=parse_cursor(cursor)
    )
    page, following = page_of(rows, limit, "id")
    return Page(items=[FileOut.model_validate(row) for row in page], next_cursor=following)


@router.get("/files/{file_id}", "Read the metadata of a file", _VIEW, problems=(404,))
async def read(file_id: str, session: ReadSession, caller: Caller) -> FileOut:
    """Name, type, size and hash of a file."""
    return FileOut.model_validate(await service.get_file(session, caller, file_id))


@router.get(
    "/files/{file_id}/content",
    "Download a file",
    _VIEW,
    response_class=StreamingResponse,
    problems=(404,),
    responses=CONTENT,
)
async def content(file_id: str, session: ReadSession, caller: Caller, contents: Contents) -> StreamingResponse:
    """The content, after verifying its hash."""
    row = await service.get_file(session, caller, file_id)
    return await sent_file(contents, row)


@router.get(
    "/artifacts/{file_id}",
    "Download an artifact",
    _VIEW,
    response_class=StreamingResponse,
    problems=(404,),
    responses=CONTENT,
)
async def artifact(file_id: str, session: ReadSession, caller: Caller, contents: Contents) -> StreamingResponse:
    """An artifact of a step of a run, after verifying its hash."""
    row = await service.get_file(session, caller, file_id)
    if row.flow_run_id is None:
        raise FileNotFound(file_id)
    return await sent_file(contents, row)
