"""What a server asks during a call of its tool: questions for users (elicitation of MCP) and for a model (sampling).

A call whose question has no answer yet ends with what the asking raised, such as that the step waits; it is made again
with the answer. The flat schemas of MCP become form fields: texts, numbers, yes or no, one or several of a list.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    TextContent,
)
from pydantic import JsonValue

from headgate.features.mcptools.descriptions import clean
from headgate.features.mcptools.errors import McpSamplingRefused
from headgate.features.mcptools.sampling import Answers, ModelRequest, Sampling
from headgate.graph.model import FormField
from headgate.graph.names import clipped

MOST_FIELDS = 20
MOST_MESSAGES = 100
LONGEST_MESSAGE = 2000
LONGEST_PROMPT = 50_000
"""Characters of all messages of a request for a model."""
_LONGEST_LABEL = 300
_MOST_STOPS = 16
_NO_ANSWER = -32000
_REFUSED = -1
"""Code of a rejected request for a model (MCP, "Sampling", error handling)."""
_TYPES = {"string": "text", "number": "number", "integer": "number", "boolean": "checkbox"}


@dataclass(slots=True)
class InProgress:
    """A call of a tool that is in progress."""

    answers: Answers
    scope: asyncio.Timeout | None = None
    """Its time limit."""
    raised: Exception | None = None
    refused: McpSamplingRefused | None = None
    requests: int = 0
    """For a model, so far."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One question at a time: an unanswered one cancels its siblings, and a model that is paid must not be one."""

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the time limit while a model is asked."""
        deadline = None if self.scope is None else self.scope.when()
        if self.scope is None or deadline is None:
            yield
            return
        now = asyncio.get_running_loop().time
        left = deadline - now()
        self._end_at(None)
        try:
            yield
        finally:
            self._end_at(now() + left)

    def end(self) -> None:
        """End the call, whatever its server does."""
        self._end_at(asyncio.get_running_loop().time())

    def _end_at(self, time: float | None) -> None:
        if self.scope is not None:
            with suppress(RuntimeError):  # it is over
                self.scope.reschedule(time)


class Questions:
    """The questions of one session.

    Args:
        server: Name of the server, for errors.
        sampling: The model that answers its requests; None for none.
        scrub: Returns a text of the server without the secrets that were sent to it.
    """

    def __init__(self, server: str, sampling: Sampling | None, scrub: Callable[[str], str]) -> None:
        self._server = server
        self._sampling = sampling
        self._scrub = scrub
        self._active: list[InProgress] = []
        self._current: ContextVar[InProgress | None] = ContextVar("mcp_call", default=None)

    @contextmanager
    def during(self, answers: Answers | None) -> Iterator[InProgress | None]:
        """Answer the questions of a call with `answers`, and raise what they raised. None: all are declined."""
        if answers is None:
            yield None
            return
        call = InProgress(answers)
        self._active.append(call)
        token = self._current.set(call)
        try:
            yield call
        except Exception:
            problem = call.raised or call.refused
            if problem is not None:
                raise problem from None
            raise
        finally:
            self._current.reset(token)
            self._active.remove(call)
        if call.raised is not None:
            raise call.raised

    def _asking(self) -> InProgress | None:
        """Return the call that asks.

        Before 2026-07-28 questions arrive outside of the call: of several calls it is not known which one asks.
        """
        return self._current.get() or (self._active[0] if len(self._active) == 1 else None)

    async def answer(
        self,
        context: Any,  # noqa: ANN401, ARG002 - as the library calls it
        params: ElicitRequestFormParams | ElicitRequestURLParams,
    ) -> ElicitResult | ErrorData:
        """Answer a question of the server. One that no call or no form fits is declined."""
        call = self._asking()
        if call is None or not isinstance(params, ElicitRequestFormParams):
            return ElicitResult(action="decline")
        names, fields = form_of(params.requested_schema)
        if fields is None:
            return ElicitResult(action="decline")
        async with call.turn:
            if call.raised is not None:
                return _again()
            try:
                answers = await call.answers.ask(clipped(self._scrub(clean(params.message)), LONGEST_MESSAGE), fields)
            except Exception as error:  # noqa: BLE001 - raised again by the call
                call.raised = error
                return _again()
        if answers is None:
            return ElicitResult(action="decline")
        content = {names[key]: _typed(value, params.requested_schema, names[key]) for key, value in answers.items()}
        return ElicitResult(action="accept", content=content)

    async def sample(
        self,
        context: Any,  # noqa: ANN401, ARG002 - as the library calls it
        params: CreateMessageRequestParams,
    ) -> CreateMessageResult | ErrorData:
        """Have the model of the server's settings answer a request. One outside of a call is refused."""
        call = self._asking()
        if call is None:
            return ErrorData(code=_REFUSED, message="A model is asked only during a call of a tool, one at a time.")
        async with call.turn:
            if call.raised is not None:
                return _again()
            try:
                request = self._request(call, params)
                with call.paused():
                    reply = await call.answers.sample(request)
            except McpSamplingRefused as error:
                call.refused = error
                return ErrorData(code=_REFUSED, message=error.detail)
            except Exception as error:  # noqa: BLE001 - raised again by the call
                call.raised = error
                return _again()
        content = TextContent(type="text", text=reply.text)
        return CreateMessageResult(role="assistant", content=content, model=reply.model, stop_reason=reply.stop_reason)

    def _request(self, call: InProgress, params: CreateMessageRequestParams) -> ModelRequest:
        """Return a request as a model may get it. Raises `McpSamplingRefused`."""
        most = 0 if self._sampling is None else self._sampling.max_requests
        call.requests += 1
        if call.requests > most:
            call.end()
            raise McpSamplingRefused(
                f"The MCP server '{self._server}' asks a model more than {most} times during one call.",
                remedy="Raise the number of requests in its settings, if you trust it.",
            )
        if params.tools or params.tool_choice:
            raise self._unsupported("offers tools to the model")
        if params.include_context not in (None, "none"):
            raise self._unsupported("asks for context of other servers or of the flow")
        if params.max_tokens < 1 or not 0 < len(params.messages) <= MOST_MESSAGES:
            raise self._unsupported(f"asks without messages, with more than {MOST_MESSAGES}, or for no tokens")
        blocks = [(message.role, block) for message in params.messages for block in message.content_as_list]
        texts = [(role, block.text) for role, block in blocks if isinstance(block, TextContent)]
        if len(texts) < len(blocks) or not texts:
            raise self._unsupported("sends the model something that is not text, such as an image")
        stop = tuple(text for text in params.stop_sequences or () if text)
        size = len(params.system_prompt or "") + sum(len(text) for _, text in texts) + sum(map(len, stop))
        if size > LONGEST_PROMPT or len(texts) > MOST_MESSAGES or len(stop) > _MOST_STOPS:
            raise self._unsupported(f"sends the model {size:,} characters; {LONGEST_PROMPT:,} is the most")
        messages = tuple((role, self._scrub(clean(text))) for role, text in texts)
        return ModelRequest(messages, params.max_tokens, self._scrub(clean(params.system_prompt or "")), stop)

    def _unsupported(self, problem: str) -> McpSamplingRefused:
        return McpSamplingRefused(f"The MCP server '{self._server}' {problem}. The model was not called.")


def _again() -> ErrorData:
    return ErrorData(code=_NO_ANSWER, message="There is no answer yet; the call will be made again.")


def form_of(schema: Mapping[str, Any]) -> tuple[dict[str, str], tuple[FormField, ...] | None]:
    """Return the names of the schema's properties by field id, and the fields; None when no form fits the schema."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or len(properties) > MOST_FIELDS:
        return {}, None
    required = schema.get("required")
    names: dict[str, str] = {}
    fields: list[FormField] = []
    for number, (name, described) in enumerate(properties.items(), start=1):
        try:
            field = _field(f"field_{number}", str(name), described)
        except (AttributeError, KeyError, TypeError, ValueError):
            return {}, None
        names[field.id] = str(name)
        needed = isinstance(required, list) and name in required and field.type != "checkbox"
        fields.append(field.model_copy(update={"required": needed}))
    return names, tuple(fields)


def _field(key: str, name: str, described: Mapping[str, Any]) -> FormField:
    """Return the field of a property. Raises as `form_of` catches when there is none."""
    title, help_text = (clean(str(described.get(member) or "")) for member in ("title", "description"))
    label = clipped(": ".join(part for part in (title or clean(name), help_text) if part), _LONGEST_LABEL)
    kind = described.get("type")
    if kind == "array":
        options = _options(described["items"]) if isinstance(described.get("items"), Mapping) else ()
        return FormField(id=key, label=label, type="multiselect", options=options)
    options = _options(described)
    if options:
        return FormField(id=key, label=label, type="select", options=options)
    bounds = {"min": described.get("minimum"), "max": described.get("maximum")} if kind != "boolean" else {}
    if kind == "string":
        bounds = {"min": described.get("minLength"), "max": described.get("maxLength")}
    return FormField.model_validate({"id": key, "label": label, "type": _TYPES[str(kind)], **bounds})


def _options(described: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the values of an enumeration; empty when it is none."""
    values = described.get("enum")
    if not isinstance(values, list):
        choices = described.get("oneOf") or described.get("anyOf") or []
        values = [choice["const"] for choice in choices]
    return tuple(str(value) for value in values)


def _typed(value: JsonValue, schema: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - a value of the schema
    """Return an answer with the type of its property."""
    is_integer = schema["properties"][name].get("type") == "integer"
    return int(value) if is_integer and isinstance(value, float) and value.is_integer() else value
