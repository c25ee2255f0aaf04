"""Answered calls of one attempt at a step: stored as soon as they are answered, reused by later attempts.

A call is identified by the SHA-256 of its request: for a model the messages, tools, model and parameters, for a tool
its name, its arguments and the conversation that asked for it. The n-th call with a request reuses the n-th stored
answer to that request. As each request of a conversation contains all earlier messages, the first difference ends the
reuse for the rest of that conversation. Answers are encrypted with the installation's key.
"""

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Protocol

import orjson
from pydantic import JsonValue, SecretStr

from headgate.features.models.errors import ModelSkipped
from headgate.features.runs.answered_calls import AnsweredCall, StoredCall
from headgate.features.runs.ports.flows import Sealer
from headgate.features.runs.steps.payments import ModelPayment, StepPayments
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.transitions import Claim, RunKey, clock
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.secret_values import without_secrets
from headgate.foundation.webhooks import delivery_key
from headgate.sdk import Model
from headgate.sdk.calls import CallRequest, CallResult, messages_as_sent

Asking = Callable[[], AbstractAsyncContextManager[None]]
"""Makes what is held around each call of a model."""

REJECTED = "rejected"
"""Kind of the row that invalidates the last answer to a request, because the step failed on it."""
LONGEST_NAME = 255
_SCOPE: ContextVar[str] = ContextVar("headgate_call", default="")
"""The call in progress: the scope of its idempotency keys."""
log = get_logger(__name__)


class CallBook(Protocol):
    """The store of answered calls: a `RunStore`."""

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call of a running step. False when another attempt at the step has replaced this one."""

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """The answered calls of all attempts at a step, in order."""


class StepCalls:
    """The answered calls of one attempt.

    Args:
        book: Stores the calls.
        sealer: Encrypts answers.
        key: The run.
        claim: The step and the attempt.
        recorder: Counts the tokens of earlier attempts and records which calls are reused.
        max_bytes: Largest answer that is stored, in bytes.
    """

    def __init__(
        self, book: CallBook, sealer: Sealer, key: RunKey, claim: Claim, *, recorder: Recorder, max_bytes: int
    ) -> None:
        self._book = book
        self._sealer = sealer
        self._key = key
        self._claim = claim
        self._recorder = recorder
        self._longest = max_bytes
        self._seq = 0
        self._stored: dict[str, deque[StoredCall]] = {}
        self._numbers: defaultdict[str, int] = defaultdict(int)
        self._last: CallRequest | None = None
        """The last answered model call; None once another call was made after it."""

    async def open(self) -> None:
        """Read the answered calls of earlier attempts. Tokens that no attempt has recorded count for this attempt."""
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
                self._recorder.add_unrecorded_tokens(call.tokens_input, call.tokens_output)

    async def recall(self, request: CallRequest) -> CallResult | None:
        """Take the next stored answer to a request; None when the call has to be made."""
        self._last = None
        answers = self._stored.get(request.digest)
        if not answers:
            return None
        call = answers.popleft()
        value = self._opened(call)
        self._note(request, call)
        return CallResult(value, replayed=True)

    async def keep(
        self, request: CallRequest, value: JsonValue, *, tokens: tuple[int | None, int | None] = (None, None)
    ) -> CallResult:
        """Store the answer to a request, without the secrets of the run: an attempt that reuses it reads none."""
        value = without_secrets(value)
        content = orjson.dumps(value)
        if len(content) > self._longest:
            log.warning("an answer is too large to store", run_id=self._key.run_id, name=request.name)
            self._recorder.line(
                f"The answer of {request.name} is too large to store ({len(content)} bytes): another "
                "attempt repeats the call.",
                {},
                clock(),
            )
        else:
            await self._write(request, request.kind, content, tokens)
        self._last = request if request.kind == "model" else None
        return CallResult(value)

    def of_model(
        self, model: Model, payments: StepPayments | None = None, asking: Asking = nullcontext
    ) -> "ModelCalls":
        """Return the calls of one model, which are charged to the budgets of the run; `asking` is held around each."""
        return ModelCalls(self, self._recorder, model, payments, asking)

    async def reject(self) -> None:
        """Invalidate the last model answer, on which the step failed: the next attempt repeats that call."""
        if self._last is not None:
            await self._write(self._last, REJECTED, b"null", (None, None))

    def use(self) -> None:
        """Keep the last model answer even when the step fails: it was used, and asking again would pay again."""
        self._last = None

    async def once(self, request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
        """Return the stored answer to a request, or make `call` and store its answer. Raises what `call` raises."""
        with self._inside(request):
            return await self.recall(request) or await self.keep(request, await call())

    @property
    def replaying(self) -> bool:
        """Whether stored answers are left that this attempt has not reused."""
        return any(self._stored.values())

    async def recall_note(self, request: CallRequest) -> JsonValue:
        """A stored note about a request; None where there is none."""
        stored = self._stored.get(request.digest)
        return self._opened(stored.popleft()) if stored else None

    async def keep_note(self, request: CallRequest, value: JsonValue) -> None:
        """Store a note about a request. It is no answer: the last answer stays the last one."""
        await self._write(request, request.kind, orjson.dumps(without_secrets(value)), (None, None))

    def idempotency_key(self) -> str:
        """Return the `Idempotency-Key` of the next request with side effects: the same in every attempt of this run."""
        scope = _SCOPE.get()
        number = self._next(f"key {scope}")
        position = f"{scope}:{number}" if scope or number else ""
        return delivery_key(self._key.run_id, f"{self._claim.step_id}:request:{position}")

    @property
    def in_call(self) -> bool:
        """Whether a call is being made, such as that of a tool."""
        return bool(_SCOPE.get())

    @property
    def scope(self) -> str:
        """The call being made, the same in each attempt; empty outside of one."""
        return _SCOPE.get()

    @contextmanager
    def _inside(self, request: CallRequest) -> Iterator[None]:
        """Scope idempotency keys to a call, so that they do not depend on which earlier calls are reused."""
        scope = f"{_SCOPE.get()}/{request.scope}" if request.scope else f"{request.digest}:{self._next(request.digest)}"
        self._numbers.pop(f"key {scope}", None)  # another attempt at the same item has the same keys
        token = _SCOPE.set(scope)
        try:
            yield
        finally:
            _SCOPE.reset(token)

    def _next(self, name: str) -> int:
        self._numbers[name] += 1
        return self._numbers[name] - 1

    def _opened(self, call: StoredCall) -> JsonValue:
        value: JsonValue = orjson.loads(self._sealer.decrypt(call.answer).get_secret_value())
        return value

    async def _write(
        self, request: CallRequest, kind: str, content: bytes, tokens: tuple[int | None, int | None]
    ) -> None:
        self._seq += 1
        call = AnsweredCall(
            step_id=self._claim.step_id,
            attempt=self._claim.attempt,
            seq=self._seq,
            kind=kind,
            name=request.name[:LONGEST_NAME],
            digest=request.digest,
            answer=self._sealer.encrypt(SecretStr(content.decode())),
            tokens_input=tokens[0],
            tokens_output=tokens[1],
            at=clock(),
        )
        await self._book.keep_call(self._key, call)

    def _note(self, request: CallRequest, call: StoredCall) -> None:
        """Record in the evidence that the call was not repeated."""
        if call.kind == "model":
            self._last = request
            self._recorder.replayed(call.tokens_input, call.tokens_output)
        if call.kind != "value":
            message = f"Replayed: {call.name} answered in attempt {call.attempt}. The call was not repeated."
            self._recorder.line(message, {}, clock())


class ModelCalls:
    """The answered calls of one model; reused calls are recorded under the model's name."""

    def __init__(
        self, calls: StepCalls, recorder: Recorder, model: Model, payments: StepPayments | None, asking: Asking
    ) -> None:
        self.asking = asking
        self._calls = calls
        self._recorder = recorder
        self._model = model
        self._payments = payments

    async def pay(self, prompt_tokens: int) -> ModelPayment | None:
        """Charge a call that is about to be made. Raises `BudgetExceeded`, `PriceUnknown`."""
        return None if self._payments is None else await self._payments.pay(self._model, prompt_tokens)

    async def recall(self, request: CallRequest) -> CallResult | None:
        """Return the stored answer to a request; None when the call has to be made."""
        result = await self._calls.recall(request)
        if result is not None:
            self._recorder.used_model(self._model)
        return result

    async def keep(
        self, request: CallRequest, value: JsonValue, *, tokens: tuple[int | None, int | None] = (None, None)
    ) -> CallResult:
        """Store the answer to a request."""
        return await self._calls.keep(request, value, tokens=tokens)


class ModelMisses:
    """Models of a chain that did not answer in earlier attempts, where another one did."""

    def __init__(self, calls: StepCalls) -> None:
        self._calls = calls

    @property
    def replaying(self) -> bool:
        """Whether answers of earlier attempts are left."""
        return self._calls.replaying

    async def recall(self, model: Model, messages: Sequence[Any]) -> HeadgateError | None:
        """Why the model did not answer these messages; None when that is not stored."""
        note = await self._calls.recall_note(_miss(model, messages))
        return ModelSkipped(str(note)) if note is not None else None

    async def keep(self, model: Model, messages: Sequence[Any], error: HeadgateError) -> None:
        """Store why the model did not answer these messages."""
        await self._calls.keep_note(_miss(model, messages), error.detail)


def _miss(model: Model, messages: Sequence[Any]) -> CallRequest:
    content = {"params": model.params, "messages": messages_as_sent(messages)}
    return CallRequest.of("value", f"no answer of {model}", content)
