"""A completion as a stream of chunks, in OpenAI's exact form."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass

import orjson
from anyio import CancelScope
from pydantic import JsonValue

from headgate.features.runs.completions.answering import error_body
from headgate.features.runs.completions.schemas import Answer
from headgate.features.runs.completions.service import usage_of
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.views.public_output import PublicOutput
from headgate.foundation.errors import HeadgateError
from headgate.foundation.sse import SseEvent

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Chunk(SseEvent):
    """A chunk; OpenAI's events have neither ids nor types."""

    def as_sse(self) -> bytes:
        """The chunk as a server-sent event."""
        return DONE if self.kind == "done" else b"data: " + orjson.dumps(self.data) + b"\n\n"


@dataclass(frozen=True, slots=True)
class Completion:
    """One completion, as a response or a stream."""

    run_id: str
    model: str
    include_usage: bool = False

    @property
    def id(self) -> str:
        """The id, with OpenAI's prefix."""
        return f"chatcmpl-{self.run_id}"

    def response(self, run: RunOut, text: str) -> Answer:
        """Return the non-streamed response with the complete text of the run's result."""
        message: Answer = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        members = {"id": self.id, "object": "chat.completion", "created": int(time.time()), "model": self.model}
        about = {"headgate": _state(run)} if run.status == "waiting" else {}
        return {**members, "choices": [choice], "usage": usage_of(run), "system_fingerprint": None, **about}

    async def chunks(
        self,
        public_output: PublicOutput,
        result: Callable[[RunOut], Awaitable[str]],
        cancel: Callable[[], Awaitable[object]],
    ) -> AsyncGenerator[SseEvent, None]:
        """Yield the chunks; `result` reads the complete text. The run is cancelled when the client disconnects."""
        sent_end = False
        parts = public_output.pieces()
        streamed, stale = "", False
        try:
            yield self._chunk({"role": "assistant", "content": ""})
            async for part in parts:
                if part.kind == "text" and not stale:
                    streamed += part.text
                    yield self._chunk({"content": part.text})
                elif part.kind == "again":
                    stale = True  # streamed text cannot be retracted; the remainder is sent complete
                elif part.run is not None:  # it has ended, or waits for an approval and is not cancelled
                    sent_end = True
                    for chunk in await self._ending(part.run, streamed, result):
                        yield chunk
                    return
        finally:
            with CancelScope(shield=True):
                await parts.aclose()
                if not sent_end:
                    await cancel()

    async def _ending(self, run: RunOut, streamed: str, result: Callable[[RunOut], Awaitable[str]]) -> list[SseEvent]:
        if run.status not in {"completed", "waiting"}:
            return [Chunk("", "error", failure_of(run))]
        try:
            remainder = rest_of(waiting_text(run) if run.status == "waiting" else await result(run), streamed)
        except HeadgateError as error:
            return [Chunk("", "error", error_body(error.status, str(error), code=error.code))]
        chunks: list[SseEvent] = [self._chunk({"content": remainder})] if remainder else []
        end = self._chunk({}, finish="stop")
        if run.status == "waiting":
            end.data["headgate"] = _state(run)
        chunks.append(end)
        if self.include_usage:
            chunks.append(Chunk("", "chunk", {**self._about(), "choices": [], "usage": usage_of(run)}))
        return [*chunks, Chunk("", "done", {})]

    def _about(self) -> Answer:
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": self.model,
            "system_fingerprint": None,
        }

    def _chunk(self, delta: Answer, *, finish: str | None = None) -> Chunk:
        choice: JsonValue = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage = {"usage": None} if self.include_usage else {}
        return Chunk("", "chunk", {**self._about(), "choices": [choice], **usage})


def rest_of(text: str, streamed: str) -> str:
    """Return the part of the result to send after `streamed`, so that no text is sent twice.

    The streamed text may contain more than the result: white space around it, or text before the last answer. A result
    that differs, as after a failed attempt, is sent in full as a new paragraph.
    """
    stripped = streamed.strip()
    if text.startswith(streamed):
        return text[len(streamed) :]
    if text.lstrip().startswith(stripped):
        return text.lstrip()[len(stripped) :]
    return "" if stripped.endswith(text.strip()) else f"\n\n{text}"


def waiting_text(run: RunOut) -> str:
    """Return the answer for a run that waits for an approval or an event."""
    if run.waits_for is not None and run.waits_for.reason == "event":
        return f"Waiting for an event. Run {run.id} continues when it arrives; its result is stored with the run."
    return (
        f"Waiting for approval. Run {run.id} continues when a user has approved or rejected it in the inbox of "
        "Headgate; its result is stored with the run."
    )


def _state(run: RunOut) -> Answer:
    reason = "approval" if run.waits_for is None else run.waits_for.reason
    return {"run_id": run.id, "status": "waiting", "waits_for": reason}


def failure_of(run: RunOut) -> Answer:
    """Return the error of a run without a result."""
    if run.status == "cancelled":
        return error_body(500, f"The run {run.id} was cancelled.", code="run_cancelled")
    message = run.error.message if run.error is not None else f"it is still {run.status}"
    code = run.error.code if run.error is not None else "run_unfinished"
    return error_body(500, f"The run {run.id} failed: {message}", code=code)
