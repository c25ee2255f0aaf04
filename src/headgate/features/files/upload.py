"""Reads the file of a multipart request, and rejects it during the upload when it is too large."""

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
"""Overhead of a form around its file: boundaries, headers, other fields."""
_SCHEMA = {"type": "object", "properties": {FIELD: {"type": "string", "format": "binary"}}, "required": [FIELD]}
OPTIONAL_FORM = {"requestBody": {"required": False, "content": {"multipart/form-data": {"schema": _SCHEMA}}}}
FORM = {"requestBody": {**OPTIONAL_FORM["requestBody"], "required": True}}
"""The body of a request with a file, for the API description."""


@asynccontextmanager
async def uploaded_file(request: Request, *, max_bytes: int) -> AsyncIterator[UploadFile]:
    """Return the form's spooled field `file`. Raises `FileTooLarge` during the upload, `BadUpload` without a file."""
    capped = Request(request.scope, _capped(request, max_bytes))
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise _no_file()
    try:
        async with capped.form(max_files=1, max_fields=8) as form:
            field = form.get(FIELD)
            if not isinstance(field, UploadFile):
                raise _no_file()
            yield field
    except HTTPException as error:  # starlette's error for a malformed form
        raise BadUpload(f"The form is not valid: {error.detail}") from error


async def pieces(file: UploadFile) -> AsyncIterator[bytes]:
    """Yield the file's content in chunks."""
    while chunk := await file.read(PIECE_BYTES):
        yield chunk


def _no_file() -> BadUpload:
    return BadUpload(
        f"The request has no file in the field '{FIELD}'.",
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
