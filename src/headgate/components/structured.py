"""The component for structured model output."""

import json
from typing import Any

from pydantic import JsonValue, PrivateAttr

from headgate.components.ai import composed
from headgate.components.chat import (
    ModelStep,
    answering,
    as_evidence,
    conversation,
    cut_off,
    failed,
    model_field,
    record_answer_usage,
    temperature_field,
    with_temperature,
)
from headgate.components.isolated.calls import find_schema_problems
from headgate.components.json_text import parse_json
from headgate.components.schema_check import full_schema
from headgate.foundation.errors import HeadgateError
from headgate.graph.names import clipped, listed
from headgate.graph.template import FieldKind
from headgate.sdk import ComponentError, Data, Model, Table, field, output
from headgate.sdk.answers import is_cut
from headgate.sdk.coerce import table_of

_TRIES = 2
_REFUSING = frozenset({400, 404, 422, 501})
"""Status codes of servers that do not support JSON schemas for output."""
_REFUSING_CODES = frozenset({"model_request_refused", "broken_model_answer"})
"""Headgate's error codes for the same."""


class StructuredOutput(ModelStep):
    """Extracts data of a given shape from a text with a model; the answer is checked against the schema."""

    label = "Structured output"
    category = "ai"
    icon = "table-properties"
    keywords = (
        "extract", "extraction", "json", "schema", "fields", "parse", "entities", "structured", "form", "records",
        "invoice", "classify", "typed", "llm", "table", "json schema", "information extraction",
    )  # fmt: skip

    model: Model = model_field()
    input: str | Data = field(
        label="Input",
        help="The text or data to extract from.",
        main=True,
        tool_mode=True,
        schema={"type": "string"},
    )
    schema_: Any = field(
        name="schema",
        label="Schema",
        help='JSON Schema of the answer, or its short form: {"name": "string", "price": "number?"}.',
        kind=FieldKind.JSON,
        port=False,
        interpolate=False,
        schema={"type": "object"},
    )
    instructions: str = field(
        default="Extract the data from the input. Use null or omit what is missing; invent nothing.",
        label="Instructions",
        help="What to extract, and how.",
        kind=FieldKind.MULTILINE,
        port=False,
    )
    temperature: float | None = temperature_field()
    _value: JsonValue = PrivateAttr(default=None)
    _done: bool = PrivateAttr(default=False)

    @output(help="The answer, as defined by the schema.")
    async def data(self) -> Data:
        """Return the validated output; the model is called once per step."""
        if not self._done:
            self._value = await self._asked()
            self._done = True
        return self._value

    @output(help="The answer's list of objects as rows; a single object is one row.")
    async def table(self) -> Table:
        """Return the output as a table."""
        return table_of(rows_in(await self.data()))

    async def _asked(self) -> JsonValue:
        target_schema = full_schema(self.schema_, subject="StructuredOutput")
        # providers accept only objects; a list or a plain value is wrapped in one
        wrapped = target_schema.get("type") != "object"
        schema: dict[str, JsonValue] = target_schema
        if wrapped:
            schema = {"type": "object", "properties": {"value": target_schema}, "required": ["value"]}
        model = with_temperature(self.model, self.temperature)
        chat = await self.ctx.chat_model(model)
        prompt = composed(self.instructions, self.input, as_json=False, marks=self.ctx.outside("input"))
        native = await self._native(chat, model, prompt, schema)
        faults = (
            await find_schema_problems(self.ctx, native, schema) if native is not None else ["$: there is no answer"]
        )
        if faults:
            native = await self._prompted(chat, model, prompt, schema)
        return native["value"] if wrapped and isinstance(native, dict) else native

    async def _native(self, chat: Any, model: Model, prompt: str, schema: dict[str, JsonValue]) -> JsonValue:  # noqa: ANN401
        """Return the provider's own structured output; null when it has none or returned none."""
        await self.ctx.check_cancelled()
        try:
            asking = chat.with_structured_output({**schema, "title": "answer"}, method="json_schema", include_raw=True)
            self.ctx.record_prompt(as_evidence("", prompt, ()))
            result = await asking.ainvoke(await conversation(self.ctx, self.model, "", prompt, ()))
        except (NotImplementedError, ValueError, TypeError):
            return None
        except Exception as error:
            if not refuses_schemas(error):
                raise failed(model, error) from error
            return None
        model = answering(chat, model)
        record_answer_usage(self.ctx, model, result["raw"])
        if is_cut(result["raw"]):
            raise cut_off(model, str(result["raw"].text))
        parsed: JsonValue = result["parsed"]
        return parsed

    async def _prompted(self, chat: Any, model: Model, prompt: str, schema: dict[str, JsonValue]) -> JsonValue:  # noqa: ANN401
        """Request JSON by prompt, validate, and retry once. Raises `ComponentError` with the last faults."""
        shape = json.dumps(schema, ensure_ascii=False)
        question = f"{prompt}\n\nAnswer with JSON only, no other words, after this JSON Schema:\n{shape}"
        faults: list[str] = []
        last = ""
        for _ in range(_TRIES):
            text = question
            if faults:
                text += f"\n\nYour last answer was:\n{clipped(last, 2000)}\nIt was wrong: {listed(faults)}. Correct it."
            await self.ctx.check_cancelled()
            self.ctx.record_prompt(as_evidence("", text, ()))
            try:
                response = await chat.ainvoke(await conversation(self.ctx, self.model, "", text, ()))
            except Exception as error:
                raise failed(model, error) from error
            model = answering(chat, model)
            record_answer_usage(self.ctx, model, response)
            last = str(response.text)
            if is_cut(response):
                raise cut_off(model, last)
            try:
                value = parse_json(last, subject="StructuredOutput")
            except ComponentError as error:
                faults = [error.detail]
                continue
            faults = await find_schema_problems(self.ctx, value, schema)
            if not faults:
                return value
        raise ComponentError(
            f"StructuredOutput: the answer of {model} does not match the schema: {listed(faults)}. Its "
            f"answer: {clipped(last, 200)}",
            remedy="Simplify the schema, describe its fields, or choose a stronger model.",
            answer=clipped(last, 2000),
        )


def refuses_schemas(error: BaseException) -> bool:
    """Return whether a server rejected JSON schemas, rather than being down or rejecting the key."""
    current: BaseException | None = error
    while current is not None:
        if getattr(current, "status_code", None) in _REFUSING:
            return True
        if isinstance(current, HeadgateError) and current.code in _REFUSING_CODES:
            return True
        current = current.__cause__ or current.__context__
    return False


def rows_in(value: JsonValue) -> JsonValue:
    """Return the list of objects in an output: itself, its only list of objects, or the object as the only row."""
    if not isinstance(value, dict):
        return value
    lists = [
        item
        for item in value.values()
        if isinstance(item, list) and item and all(isinstance(row, dict) for row in item)
    ]
    return lists[0] if len(lists) == 1 else [value]
