"""The page's files, compressed when the page was built."""

import mimetypes
from pathlib import Path

from fastapi.responses import FileResponse, Response

from headgate.entrypoints.http.studio.page import BUILT
from headgate.foundation.errors import NotFound

FOR_EVER = "public, max-age=31536000, immutable"
"""For files whose names contain a hash of their content."""
BRIEFLY = "public, max-age=3600"
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))


def file_response(path: Path, accepted: str, *, cache: str) -> Response:
    """A file of the page, in the best encoding of those that the browser takes.

    Raises:
        NotFound: There is no such file of the page.
    """
    if not path.is_relative_to(BUILT) or not path.is_file():
        raise NotFound("The studio has no such file.")
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
    taken = {part.split(";")[0].strip() for part in accepted.split(",")}
    for encoding, ending in _ENCODINGS:
        compressed = path.with_name(path.name + ending)
        if encoding in taken and compressed.is_file():
            return FileResponse(compressed, headers={**headers, "Content-Encoding": encoding}, media_type=media_type)
    return FileResponse(path, headers=headers, media_type=media_type)
