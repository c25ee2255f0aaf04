"""Answers of calls that wait for their run: its result as the trigger describes it, or its text as it comes.

A caller that leaves does not stop the run. Nothing of the run but its result is sent.
"""

import asyncio
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import orjson
from fastapi.responses import JSONResponse, Response
from pydantic import JsonValue

from headgate.features.access.principal import Principal
from headgate.features.runs import service as runs
from headgate.features.runs.completions.stream import rest_of
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.views.public_output import OutputPart, PublicOutput
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.hooks import service
from headgate.features.triggers.hooks.bodies import selected, text_of
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.settings import CallResponse, is_answer_status
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.log import get_logger
from headgate.foundation.sse import EventStream, SseEvent, while_allowed, with_heartbeat
from headgate.graph.ports import PortType

RESULT_SECONDS = 60.0
"""How long a call waits for the result of its run, or for the beginning of its text."""
LONGEST_HEADER = 2_000
_WITHOUT_BODY = frozenset({204, 205})
_UNTRUSTED = {"Content-Security-Policy": "default-src 'none'; sandbox", "X-Content-Type-Options": "nosniff"}
"""What a flow writes is no page of this server: a browser runs and loads nothing of it."""
log = get_logger(__name__)


class TextStream(EventStream):
    """Text that is sent in parts."""

    media_type = "text/plain"


async def result_of(firing: Firing, listed: Listed, response: CallResponse, run_id: str) -> Response | None:
    """Return the response with the result of a run; None when it has not ended in time."""
    await runs.wait_for_run(firing.engine, run_id, seconds=RESULT_SECONDS)
    owner = await firing.owner_of(listed.row, listed.space_id)
    run = await runs.answer_of(firing.engine, owner, run_id)
    if run.status in {"failed", "cancelled"}:
        return _failed(run_id, response.failed_status)
    if run.status != "completed":
        return None
    text = await runs.complete_text(firing.engine, owner, run)
    try:
        return await run_in_flow_thread(described, response, _document(run, text), listed.row.name)
    except TriggerInvalid as error:
        log.warning(
            "result of a call without a valid answer", trigger_id=listed.row.id, run_id=run_id, problem=str(error)
        )
        return _failed(run_id, response.failed_status, error.detail)


def described(response: CallResponse, document: dict[str, JsonValue], name: str) -> Response:
    """Return the response that a trigger describes. Raises `TriggerInvalid`. It blocks.

    Args:
        response: Its settings.
        document: `text`, `data` and `run_id` of the run, from which its expressions select.
        name: Of the trigger.
    """
    status: JsonValue = response.status
    if response.status_from is not None:
        status = selected(response.status_from, document, name=name)
    if not isinstance(status, int) or isinstance(status, bool) or not is_answer_status(status):
        raise TriggerInvalid(f"{text_of(status)[:40]} is not a status of 200 to 299 or 400 to 599.")
    headers = {"X-Run-Id": str(document["run_id"])} | _UNTRUSTED
    for header, expression in response.headers.items():
        value = selected(expression, document, name=name)
        if value is None:
            continue
        text = text_of(value)
        if len(text) > LONGEST_HEADER or not (text.isascii() and text.isprintable()):
            raise TriggerInvalid(
                f"The value of the header {header} is longer than {LONGEST_HEADER:,} or not plain text."
            )
        headers[header] = text
    if status in _WITHOUT_BODY:
        return Response(status_code=status, headers=headers)
    body = document["text"] if response.body_from is None else selected(response.body_from, document, name=name)
    is_json = response.media_type.endswith(("/json", "+json"))
    content = orjson.dumps(body) if is_json and response.body_from is not None else text_of(body)
    return Response(content, status, headers, response.media_type)


async def stream_of(firing: Firing, listed: Listed, run_id: str, *, as_events: bool) -> Response | None:
    """Return the text of a run as it comes, as events or as plain text; None for text that does not begin in time.

    The stream ends when the webhook is removed. Plain text of a run that fails before it begins is the failure.
    """
    owner = await firing.owner_of(listed.row, listed.space_id)
    output = PublicOutput(firing.engine, owner, await runs.key_of(firing.engine, owner, run_id))
    if as_events:
        removed = while_allowed(partial(service.find_hook, firing, listed.row.address or ""))
        response: Response = EventStream(with_heartbeat(_events(firing, owner, output), may_go_on=removed))
    else:
        texts = _texts(firing, owner, output)
        try:
            async with asyncio.timeout(RESULT_SECONDS):
                first = await anext(texts, "")
        except TimeoutError:
            return None
        except _Failed:
            return _failed(run_id)
        response = TextStream(_bytes(first, texts))
    response.headers.update({"X-Run-Id": run_id} | _UNTRUSTED)
    return response


class _Failed(Exception):
    """The run ended without a result before any of its text was sent."""


async def _events(firing: Firing, owner: Principal, output: PublicOutput) -> AsyncGenerator[SseEvent, None]:
    """Yield `started`, `text`, `again` (discard the text), `waiting`, and at the end `done`, `failed` or `stopped`."""
    number, parts = 0, output.pieces()
    try:
        async for part in parts:
            number += 1
            kind, data = part.kind, dict[str, JsonValue]()
            if part.kind == "ended" and part.run is not None:
                yield SseEvent(str(number), *await _end(firing, owner, part.run))
            else:
                yield SseEvent(str(number), kind, {"text": part.text} if kind == "text" else data)
    finally:
        await parts.aclose()


async def _end(firing: Firing, owner: Principal, run: RunOut) -> tuple[str, dict[str, JsonValue]]:
    if run.status != "completed":
        return ("stopped" if run.status == "cancelled" else "failed"), {"run_id": run.id}
    return "done", {"run_id": run.id, "text": await runs.complete_text(firing.engine, owner, run)}


async def _texts(firing: Firing, owner: Principal, output: PublicOutput) -> AsyncGenerator[str, None]:
    """Yield the text of a run; text that cannot be retracted is followed by the complete result. Raises `_Failed`."""
    sent, stale, parts = "", False, output.pieces()
    try:
        async for part in parts:
            if part.kind == "text" and not stale:
                sent += part.text
                yield part.text
            elif part.kind == "again":
                stale = True
            elif part.kind == "ended" and part.run is not None:
                yield await _rest(firing, owner, part, sent)
    finally:
        await parts.aclose()


async def _rest(firing: Firing, owner: Principal, part: OutputPart, sent: str) -> str:
    kind, data = await _end(firing, owner, part.run)  # type: ignore[arg-type]
    if kind == "done":
        return rest_of(str(data["text"]), sent)
    if not sent:
        raise _Failed
    return f"\n\n[The run {data['run_id']} ended without a result; this text is not complete.]\n"


async def _bytes(first: str, texts: AsyncGenerator[str, None]) -> AsyncGenerator[bytes, None]:
    try:
        yield first.encode()
        async for text in texts:
            yield text.encode()
    finally:
        await texts.aclose()


def _failed(run_id: str, status: int = Unavailable.status, reason: str = "") -> Response:
    error: HeadgateError = Unavailable(
        reason or "The flow has not returned a result.", remedy="Ask the owner of the address."
    )
    problem = error.problem() | {"status": status}
    return JSONResponse(problem, status, {"X-Run-Id": run_id}, "application/problem+json")


def _document(run: RunOut, text: str) -> dict[str, Any]:
    """Return what the expressions of a response select from."""
    outputs = (run.output or {}).get("outputs", {}).values()
    payload = next((output for output in reversed(outputs) if output["text"] is not None), None)
    entry = {} if payload is None else payload["outputs"][payload["main"]]
    if entry.get("type") in {PortType.DATA, PortType.TABLE} and "value" in entry:
        return {"text": text, "data": entry["value"], "run_id": run.id}
    try:
        data: JsonValue = orjson.loads(text)
    except orjson.JSONDecodeError:
        data = None
    return {"text": text, "data": data, "run_id": run.id}
