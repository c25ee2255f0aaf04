"""Events for visitors: the result and its files, without steps, prompts and errors."""

from collections.abc import AsyncGenerator

from pydantic import JsonValue

from headgate.features.files import service as files
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.views.public_output import PublicOutput
from headgate.features.runs.widget.service import Widget
from headgate.features.runs.widget.tokens import seal
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.sse import SseEvent


async def visitor_events(
    database: Database, secret_box: SecretBox, widget: Widget, public_output: PublicOutput
) -> AsyncGenerator[SseEvent, None]:
    """Yield the public output of a run, as events for the frame."""
    number = 0
    parts = public_output.pieces()
    try:
        async for part in parts:
            number += 1
            if part.run is None or part.kind == "waiting":
                yield SseEvent(str(number), part.kind, {"text": part.text} if part.kind == "text" else {})
            else:
                yield SseEvent(str(number), *await _ending(database, secret_box, widget, part.run))
    finally:
        await parts.aclose()


async def _ending(
    database: Database, secret_box: SecretBox, widget: Widget, run: RunOut
) -> tuple[str, dict[str, JsonValue]]:
    if run.status != "completed":
        return ("stopped" if run.status == "cancelled" else "failed"), {}
    output = run.output or {}
    ids = list(output.get("file_ids", ()))
    async with database.reading() as session:
        rows = {row.id: row for row in await files.find_files(session, tenant_id=widget.tenant_id, file_ids=ids)}
    file_entries: list[JsonValue] = [
        {
            "name": rows[file_id].name,
            "size": rows[file_id].size_bytes,
            "token": seal(secret_box, "file", file=file_id, flow=widget.flow_id),
        }
        for file_id in ids
        if file_id in rows
    ]
    return "done", {"text": run.text, "files": file_entries, "cut": run.truncated}
