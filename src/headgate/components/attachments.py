"""Files of a message in the form that models take."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

from headgate.components.readers.document import Unreadable
from headgate.components.readers.reading import read_document
from headgate.foundation.errors import TooLarge
from headgate.sdk import File, RunContext

MOST_BYTES = 20_000_000
"""Most bytes of one attachment; providers refuse larger ones."""


async def content_of(ctx: RunContext, text: str, files: Sequence[File]) -> str | list[dict[str, Any]]:
    """The content of a user message: the text alone, or LangChain's standard blocks of text, images, audio and files.

    Documents go as their text; a PDF without any goes as the file itself, for models that look at pages.
    """
    if not files:
        return text
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return blocks + [await _block(ctx, file) for file in files]


def described(text: str, files: Sequence[File]) -> str:
    """The message as the evidence keeps it: files by name, media type and size."""
    return "\n".join([text, *(f"[{file.name}, {file.media_type}, {file.size} bytes]" for file in files)])


async def _block(ctx: RunContext, file: File) -> dict[str, Any]:
    content = await ctx.files.read(file)
    if len(content) > MOST_BYTES:
        raise TooLarge(
            f"'{file.name}' has {len(content)} bytes; a model takes at most {MOST_BYTES}.", remedy="Shrink the file."
        )
    kind = file.media_type.partition("/")[0]
    if kind in {"image", "audio", "video"} and "xml" not in file.media_type:
        return _encoded(kind, content, file)
    try:
        document = await asyncio.to_thread(read_document, content, name=file.name, media_type=file.media_type)
    except Unreadable:
        if file.media_type != "application/pdf":
            raise
        return _encoded("file", content, file) | {"filename": file.name}
    return {"type": "text", "text": f"<file name={file.name!r}>\n{document.text}\n</file>"}


def _encoded(kind: str, content: bytes, file: File) -> dict[str, Any]:
    return {"type": kind, "base64": base64.b64encode(content).decode(), "mime_type": file.media_type}
