"""Files of a message in the form that models take."""

import base64
from collections.abc import Sequence
from typing import Any

from headgate.components.isolated.calls import read_document
from headgate.components.readers.document import Unreadable
from headgate.foundation.quoting import as_data
from headgate.sdk import File, Model, RunContext
from headgate.sdk.outside import in_words, mark

_PDF = "application/pdf"
_PLAIN = {"audio/mpeg": "audio/mp3", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav"}
"""Media types in the words of the APIs, which make a format's name of them."""


async def content_of(ctx: RunContext, model: Model, text: str, files: Sequence[File]) -> str | list[dict[str, Any]]:
    """The content of a user message: the text alone, or LangChain's standard blocks of text, images, audio and files.

    Images, audio and PDFs go as they are to a model that takes them; other documents go as their text. What the model
    cannot take is refused here, before anything is sent: `Invalid` names the model, what it lacks, and models that can.
    """
    if not files:
        return text
    taken = ctx.check_inputs(model, files)
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return blocks + [await _block(ctx, model, file, whole=file.id in taken) for file in files]


def described(text: str, files: Sequence[File]) -> str:
    """The message as the evidence keeps it: files by name, media type and size."""
    return "\n".join([text, *(f"[{file.name}, {file.media_type}, {file.size} bytes]" for file in files)])


async def _block(ctx: RunContext, model: Model, file: File, *, whole: bool) -> dict[str, Any]:
    content = await ctx.files.read(file)
    if whole:
        return _encoded(content, file)
    try:
        document = await read_document(ctx, content, name=file.name, media_type=file.media_type, wanted=["text"])
    except Unreadable:
        if file.media_type != _PDF:
            raise
        ctx.check_inputs(model, [file], unreadable=True)  # a scan: only a model that looks at pages can read it
        return _encoded(content, file)
    return {"type": "text", "text": as_data(in_words([mark("file", file.name)]), document.text)}


def _encoded(content: bytes, file: File) -> dict[str, Any]:
    media_type = file.media_type.partition(";")[0].strip().lower()
    group = media_type.partition("/")[0]
    data = {"base64": base64.b64encode(content).decode(), "mime_type": _PLAIN.get(media_type, media_type)}
    if group in {"image", "audio", "video"}:
        return {"type": group, **data}
    return {"type": "file", **data, "filename": file.name}
