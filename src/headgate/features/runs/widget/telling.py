"""The events that a visitor hears: the result and its files. Of steps, prompts and errors nothing."""

from collections.abc import AsyncGenerator

from pydantic import JsonValue

from headgate.features.files import service as files
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.views.speaking import Speech
from headgate.features.runs.widget.service import Widget
from headgate.features.runs.widget.tokens import seal
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.sse import SseEvent


async def told_to_visitors(
    database: Database, box: SecretBox, widget: Widget, speech: Speech
) -> AsyncGenerator[SseEvent, None]:
    """What the run says, as events for the frame."""
    number = 0
    pieces = speech.pieces()
    try:
        async for piece in pieces:
            number += 1
            if piece.run is None:
                yield SseEvent(str(number), piece.kind, {"text": piece.text} if piece.kind == "text" else {})
            else:
                yield SseEvent(str(number), *await _ending(database, box, widget, piece.run))
    finally:
        await pieces.aclose()


async def _ending(database: Database, box: SecretBox, widget: Widget, run: RunOut) -> tuple[str, dict[str, JsonValue]]:
    if run.status != "completed":
        return ("stopped" if run.status == "cancelled" else "failed"), {}
    output = run.output or {}
    ids = list(output.get("file_ids", ()))
    async with database.reading() as session:
        rows = {row.id: row for row in await files.find_files(session, tenant_id=widget.tenant_id, file_ids=ids)}
    made: list[JsonValue] = [
        {
            "name": rows[one].name,
            "size": rows[one].size_bytes,
            "token": seal(box, "file", file=one, flow=widget.flow_id),
        }
        for one in ids
        if one in rows
    ]
    return "done", {"text": run.text, "files": made, "cut": run.truncated}
