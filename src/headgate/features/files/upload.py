"""Reads the file out of a multipart request, refusing it while it comes when it is too large."""

from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from headgate.features.files.errors import BadUpload, FileTooLarge

FIELD = "file"
PIECE_BYTES = 1024 * 1024
FORM_OVERHEAD_BYTES = 64 * 1024
"""What a form may need around its file: boundaries, headers, other fields."""


@asynccontextmanager
async def uploaded_file(request: Request, *, max_bytes: int) -> AsyncIterator[UploadFile]:
    """The form's field `file`, spooled. Raises `FileTooLarge` while it comes, `BadUpload` when there is none."""
    capped = Request(request.scope, _capped(request, max_bytes))
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise _no_file()
    try:
        async with capped.form(max_files=1, max_fields=8) as form:
            found = form.get(FIELD)
            if not isinstance(found, UploadFile):
                raise _no_file()
            yield found
    except HTTPException as error:  # what starlette makes of a malformed form
        raise BadUpload(f"The form cannot be read: {error.detail}") from error


async def pieces(file: UploadFile) -> AsyncIterator[bytes]:
    """The file's content in pieces."""
    while piece := await file.read(PIECE_BYTES):
        yield piece


def _no_file() -> BadUpload:
    return BadUpload(
        f"The request holds no file in a field '{FIELD}'.",
        remedy=f"Send multipart/form-data, for example: curl -F {FIELD}=@report.pdf",
    )


def _capped(request: Request, max_bytes: int) -> Any:  # noqa: ANN401 - ASGI's receive
    seen = 0

    async def receive() -> MutableMapping[str, Any]:
        nonlocal seen
        message = await request.receive()
        seen += len(message.get("body", b""))
        if seen > max_bytes + FORM_OVERHEAD_BYTES:
            raise FileTooLarge(f"The file is larger than {max_bytes} bytes.", limit=max_bytes)
        return message

    return receive
