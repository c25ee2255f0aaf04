"""Converts the files of a message to the format of models."""

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
"""Media types whose format name in the APIs differs from the subtype."""


async def content_of(ctx: RunContext, model: Model, text: str, files: Sequence[File]) -> str | list[dict[str, Any]]:
    """The content of a user message: the text alone, or LangChain's standard blocks of text, images, audio and files.

    Images, audio and PDFs are sent directly to a model that accepts them; other documents are sent as text. Unsupported
    files are rejected before anything is sent: `Invalid` names the model, the missing capability, and models that have
    it.
    """
    if not files:
        return text
    native_ids = ctx.check_inputs(model, files)
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    return blocks + [await _block(ctx, model, file, as_file=file.id in native_ids) for file in files]


def described(text: str, files: Sequence[File]) -> str:
    """Return the message for the evidence: files by name, media type and size."""
    return "\n".join([text, *(f"[{file.name}, {file.media_type}, {file.size} bytes]" for file in files)])


async def _block(ctx: RunContext, model: Model, file: File, *, as_file: bool) -> dict[str, Any]:
    content = await ctx.files.read(file)
    if as_file:
        return _encoded(content, file)
    try:
        document = await read_document(ctx, content, name=file.name, media_type=file.media_type, members=["text"])
    except Unreadable:
        if file.media_type != _PDF:
            raise
        ctx.check_inputs(model, [file], unreadable=True)  # a scan: only a model with page vision can read it
        return _encoded(content, file)
    for note in document.notes:
        ctx.log(note)
    return {"type": "text", "text": as_data(in_words([mark("file", file.name)]), document.text)}


def _encoded(content: bytes, file: File) -> dict[str, Any]:
    media_type = file.media_type.partition(";")[0].strip().lower()
    group = media_type.partition("/")[0]
    data = {"base64": base64.b64encode(content).decode(), "mime_type": _PLAIN.get(media_type, media_type)}
    if group in {"image", "audio", "video"}:
        return {"type": group, **data}
    return {"type": "file", **data, "filename": file.name}
