"""Answered calls of one attempt at a step: stored as soon as they are answered, reused by the next attempt.

A call is identified by the SHA-256 of its request: for a model the messages, tools, model and parameters, for a tool
its name, its arguments and the conversation that asked for it. The n-th call with a request reuses the n-th stored
answer to that request. As each request of a conversation contains all earlier messages, the first difference ends the
reuse for the rest of that conversation. Answers are encrypted with the installation's key.
"""

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

import orjson
from pydantic import JsonValue, SecretStr

from headgate.features.runs.answered_calls import AnsweredCall, StoredCall
from headgate.features.runs.ports import Sealer
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.transitions import Claim, RunKey, clock
from headgate.foundation.log import get_logger
from headgate.foundation.webhooks import delivery_key
from headgate.sdk import Model
from headgate.sdk.calls import Answer, Asked

REJECTED = "rejected"
"""Kind of the row that withdraws the last answer to a request: the step failed on it, so it is asked for again."""
LONGEST_NAME = 255
_SCOPE: ContextVar[str] = ContextVar("headgate_call", default="")
"""The call that is being made, for the keys of the requests it makes."""
log = get_logger(__name__)


class CallBook(Protocol):
    """Where answered calls are stored: a `RunStore`."""

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call of a running step. False when the attempt is not the step's any more."""
        ...

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """The answered calls of all attempts at a step, in order."""
        ...


class StepCalls:
    """The answered calls of one attempt.

    Args:
        book: Where they are stored.
        sealer: Encrypts answers.
        key: The run.
        claim: The step and the attempt.
        recorder: Counts what earlier attempts paid, and shows what is reused.
        longest: Most bytes of an answer that are stored.
    """

    def __init__(
        self, book: CallBook, sealer: Sealer, key: RunKey, claim: Claim, *, recorder: Recorder, longest: int
    ) -> None:
        self._book = book
        self._sealer = sealer
        self._key = key
        self._claim = claim
        self._recorder = recorder
        self._longest = longest
        self._seq = 0
        self._stored: dict[str, deque[StoredCall]] = {}
        self._numbers: defaultdict[str, int] = defaultdict(int)
        self._last: Asked | None = None
        """The model call that was answered last, while no other call was made after it."""

    async def open(self) -> None:
        """Read what earlier attempts had answered. Tokens that no record counts yet are counted by this attempt."""
        if self._claim.attempt == 1:
            return
        for call in await self._book.calls_of(self._key, self._claim.step_id):
            if call.kind == REJECTED:
                answers = self._stored.get(call.digest)
                if answers:
                    answers.pop()
                continue
            self._stored.setdefault(call.digest, deque()).append(call)
            if call.kind == "model" and not call.counted:
                self._recorder.carried(call.tokens_input, call.tokens_output)

    async def recall(self, asked: Asked) -> Answer | None:
        """The stored answer to a request, used up by this; None when it has to be made."""
        self._last = None
        answers = self._stored.get(asked.digest)
        if not answers:
            return None
        call = answers.popleft()
        value: JsonValue = orjson.loads(self._sealer.decrypt(call.answer).get_secret_value())
        self._note(asked, call)
        return Answer(value, replayed=True)

    async def keep(
        self, asked: Asked, value: JsonValue, *, tokens: tuple[int | None, int | None] = (None, None)
    ) -> Answer:
        """Store the answer to a request."""
        content = orjson.dumps(value)
        if len(content) > self._longest:
            log.warning("an answer is too long to be stored", run_id=self._key.run_id, name=asked.name)
            self._recorder.line(
                f"The answer of {asked.name} has {len(content)} bytes, more than are stored: if the step is attempted"
                " again, the call is made again.",
                {},
                clock(),
            )
        else:
            await self._write(asked, asked.kind, content, tokens)
        self._last = asked if asked.kind == "model" else None
        return Answer(value)

    def of_model(self, model: Model) -> "ModelCalls":
        """The calls of one model."""
        return ModelCalls(self, self._recorder, model)

    async def reject(self) -> None:
        """The step failed on what a model answered last: the next attempt asks for it again."""
        if self._last is not None:
            await self._write(self._last, REJECTED, b"null", (None, None))

    async def once(self, asked: Asked, call: Callable[[], Awaitable[JsonValue]]) -> Answer:
        """The stored answer, or else that of `call`, stored."""
        with self._inside(asked.digest):
            return await self.recall(asked) or await self.keep(asked, await call())

    def idempotency_key(self) -> str:
        """A key for the next request that changes something outside: the same in every attempt of this run."""
        scope = _SCOPE.get()
        number = self._next(f"key {scope}")
        place = f"{scope}:{number}" if scope or number else ""
        return delivery_key(self._key.run_id, f"{self._claim.step_id}:request:{place}")

    @contextmanager
    def _inside(self, digest: str) -> Iterator[None]:
        """Requests made by a call get keys of their own, whichever calls before it are reused."""
        token = _SCOPE.set(f"{digest}:{self._next(digest)}")
        try:
            yield
        finally:
            _SCOPE.reset(token)

    def _next(self, what: str) -> int:
        self._numbers[what] += 1
        return self._numbers[what] - 1

    async def _write(self, asked: Asked, kind: str, content: bytes, tokens: tuple[int | None, int | None]) -> None:
        self._seq += 1
        call = AnsweredCall(
            step_id=self._claim.step_id,
            attempt=self._claim.attempt,
            seq=self._seq,
            kind=kind,
            name=asked.name[:LONGEST_NAME],
            digest=asked.digest,
            answer=self._sealer.encrypt(SecretStr(content.decode())),
            tokens_input=tokens[0],
            tokens_output=tokens[1],
            at=clock(),
        )
        await self._book.keep_call(self._key, call)

    def _note(self, asked: Asked, call: StoredCall) -> None:
        """Show in the evidence that the call was not made again."""
        if call.kind == "model":
            self._last = asked
            self._recorder.replayed(call.tokens_input, call.tokens_output)
        if call.kind != "value":
            said = f"Replayed: {call.name} had answered in attempt {call.attempt}. The call was not made again."
            self._recorder.line(said, {}, clock())


class ModelCalls:
    """The answered calls of one model: what is reused is shown with the model's name."""

    def __init__(self, calls: StepCalls, recorder: Recorder, model: Model) -> None:
        self._calls = calls
        self._recorder = recorder
        self._model = model

    async def recall(self, asked: Asked) -> Answer | None:
        """The stored answer to a request; None when the call has to be made."""
        answer = await self._calls.recall(asked)
        if answer is not None:
            self._recorder.asked(self._model)
        return answer

    async def keep(
        self, asked: Asked, value: JsonValue, *, tokens: tuple[int | None, int | None] = (None, None)
    ) -> Answer:
        """Store the answer to a request."""
        return await self._calls.keep(asked, value, tokens=tokens)
