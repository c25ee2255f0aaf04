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
from headgate.features.runs.views.speaking import Speech
from headgate.foundation.errors import HeadgateError
from headgate.foundation.sse import SseEvent

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Chunk(SseEvent):
    """A chunk; OpenAI's events have neither ids nor kinds."""

    def as_sse(self) -> bytes:
        """The chunk as a server-sent event."""
        return DONE if self.kind == "done" else b"data: " + orjson.dumps(self.data) + b"\n\n"


@dataclass(frozen=True, slots=True)
class Completion:
    """One completion as it is told."""

    run_id: str
    model: str
    include_usage: bool = False

    @property
    def id(self) -> str:
        """As OpenAI's begin."""
        return f"chatcmpl-{self.run_id}"

    def response(self, run: RunOut, text: str) -> Answer:
        """The response that is not a stream, with the complete text of the run's result."""
        message: Answer = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        told = {"id": self.id, "object": "chat.completion", "created": int(time.time()), "model": self.model}
        return {**told, "choices": [choice], "usage": usage_of(run), "system_fingerprint": None}

    async def chunks(
        self,
        speech: Speech,
        result: Callable[[RunOut], Awaitable[str]],
        cancel: Callable[[], Awaitable[object]],
    ) -> AsyncGenerator[SseEvent, None]:
        """The chunks; `result` reads the complete text. The run is cancelled when the client goes away."""
        ended = False
        pieces = speech.pieces()
        said, stale = "", False
        try:
            yield self._chunk({"role": "assistant", "content": ""})
            async for piece in pieces:
                if piece.kind == "text" and not stale:
                    said += piece.text
                    yield self._chunk({"content": piece.text})
                elif piece.kind == "again":
                    stale = True  # what was said cannot be taken back; the rest comes whole
                elif piece.run is not None:
                    ended = True
                    for chunk in await self._ending(piece.run, said, result):
                        yield chunk
        finally:
            with CancelScope(shield=True):
                await pieces.aclose()
                if not ended:
                    await cancel()

    async def _ending(self, run: RunOut, streamed: str, result: Callable[[RunOut], Awaitable[str]]) -> list[SseEvent]:
        if run.status != "completed":
            return [Chunk("", "error", failure_of(run))]
        try:
            rest = rest_of(await result(run), streamed)
        except HeadgateError as error:
            return [Chunk("", "error", error_body(error.status, str(error), code=error.code))]
        chunks: list[SseEvent] = [self._chunk({"content": rest})] if rest else []
        chunks.append(self._chunk({}, finish="stop"))
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

    def _chunk(self, delta: Answer, *, finish: str | None = None) -> SseEvent:
        choice: JsonValue = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage = {"usage": None} if self.include_usage else {}
        return Chunk("", "chunk", {**self._about(), "choices": [choice], **usage})


def rest_of(text: str, streamed: str) -> str:
    """The part of the result to send after `streamed`, so that no text is sent twice.

    The streamed text may contain more than the result: white space around it, or text before the last answer. A result
    that differs, as after a failed attempt, is sent in full as a new paragraph.
    """
    stripped = streamed.strip()
    if text.startswith(streamed):
        return text[len(streamed) :]
    if text.lstrip().startswith(stripped):
        return text.lstrip()[len(stripped) :]
    return "" if stripped.endswith(text.strip()) else f"\n\n{text}"


def failure_of(run: RunOut) -> Answer:
    """How a run that gave no result is told."""
    if run.status == "cancelled":
        return error_body(500, f"The run {run.id} was stopped.", code="run_cancelled")
    said = run.error.message if run.error is not None else f"it is still {run.status}"
    code = run.error.code if run.error is not None else "run_unfinished"
    return error_body(500, f"The run {run.id} failed: {said}", code=code)
