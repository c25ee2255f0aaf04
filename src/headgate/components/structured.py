"""The component for structured model output."""

from typing import Any

from pydantic import JsonValue, PrivateAttr

from headgate.components.ai import composed
from headgate.components.chat import ModelStep, model_field, temperature_field, with_temperature
from headgate.components.data.schema_check import full_schema
from headgate.components.structured_answer import StructuredAnswer
from headgate.graph.template import FieldKind
from headgate.sdk import Data, Model, Table, field, output
from headgate.sdk.coerce import table_of


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
        prompt = composed(self.instructions, self.input, as_json=False, marks=self.ctx.outside("input"))
        model = with_temperature(self.model, self.temperature)
        answer = await StructuredAnswer(self.ctx, model, subject="StructuredOutput").ask(prompt, schema)
        return answer["value"] if wrapped and isinstance(answer, dict) else answer


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
