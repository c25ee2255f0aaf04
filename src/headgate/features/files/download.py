"""Sends the content of a file so that it never runs in the page's own origin: a file may contain a script."""

from typing import Any

from fastapi.responses import StreamingResponse

from headgate.features.files import service
from headgate.features.files.names import attachment
from headgate.features.files.storage import Storage
from headgate.features.files.tables import StoredFile

CONTENT: dict[int | str, dict[str, Any]] = {
    200: {"description": "The content", "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}}}
}
"""The response of a route that sends a file of any media type, for OpenAPI."""


async def sent_file(storage: Storage, row: StoredFile) -> StreamingResponse:
    """Return the content as an attachment, after verifying its hash. Raises `FileDamaged`."""
    return StreamingResponse(
        await service.open_file(storage, row),
        media_type=row.media_type,
        headers={
            "Content-Disposition": attachment(row.name),
            "Content-Length": str(row.size_bytes),
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cache-Control": "private, max-age=0, must-revalidate",
            "ETag": f'"{row.sha256}"',
        },
    )
