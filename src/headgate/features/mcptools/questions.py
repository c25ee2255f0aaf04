"""Questions that a server asks during a call of its tool (elicitation of MCP), as forms that users answer.

A call whose question has no answer yet ends with what the asking raised, such as that the step waits; it is made again
with the answer. The flat schemas of MCP become form fields: texts, numbers, yes or no, one or several of a list.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mcp_types import ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult, ErrorData
from pydantic import JsonValue

from headgate.features.mcptools.descriptions import clean
from headgate.graph.model import FormField
from headgate.graph.names import clipped

MOST_FIELDS = 20
LONGEST_MESSAGE = 2000
_LONGEST_LABEL = 300
_NO_ANSWER = -32000
_TYPES = {"string": "text", "number": "number", "integer": "number", "boolean": "checkbox"}

Ask = Callable[[str, Sequence[FormField]], Awaitable[Mapping[str, JsonValue] | None]]
"""Returns the answers by id of the field; None when users declined. Raises until they have decided."""


@dataclass(slots=True)
class _Call:
    """A call of a tool that is in progress."""

    ask: Ask
    raised: Exception | None = None


class Questions:
    """The questions of one session."""

    def __init__(self) -> None:
        self._active: list[_Call] = []
        self._current: ContextVar[_Call | None] = ContextVar("mcp_call", default=None)

    @contextmanager
    def during(self, ask: Ask | None) -> Iterator[None]:
        """Ask the questions of a call with `ask`, and raise what it raised. None: they are declined."""
        if ask is None:
            yield
            return
        call = _Call(ask)
        self._active.append(call)
        token = self._current.set(call)
        try:
            yield
        except Exception:
            if call.raised is not None:
                raise call.raised from None
            raise
        finally:
            self._current.reset(token)
            self._active.remove(call)
        if call.raised is not None:
            raise call.raised

    async def answer(
        self,
        context: Any,  # noqa: ANN401, ARG002 - as the library calls it
        params: ElicitRequestFormParams | ElicitRequestURLParams,
    ) -> ElicitResult | ErrorData:
        """Answer a question of the server. One that no call or no form fits is declined."""
        # Before 2026-07-28 questions arrive outside of the call: of several calls it is not known which one asks.
        call = self._current.get() or (self._active[0] if len(self._active) == 1 else None)
        if call is None or not isinstance(params, ElicitRequestFormParams):
            return ElicitResult(action="decline")
        names, fields = form_of(params.requested_schema)
        if fields is None:
            return ElicitResult(action="decline")
        try:
            answers = await call.ask(clipped(clean(params.message), LONGEST_MESSAGE), fields)
        except Exception as error:  # noqa: BLE001 - raised again by the call
            call.raised = error
            return ErrorData(code=_NO_ANSWER, message="Nobody has answered yet; the call will be made again.")
        if answers is None:
            return ElicitResult(action="decline")
        content = {names[key]: _typed(value, params.requested_schema, names[key]) for key, value in answers.items()}
        return ElicitResult(action="accept", content=content)


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
