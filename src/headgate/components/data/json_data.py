"""Components that parse, select and show data."""

from pydantic import JsonValue, PrivateAttr

from headgate.components.data.json_text import parse_json
from headgate.components.data.selecting import LONGEST_EXPRESSION
from headgate.components.isolated.calls import select_part
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.graph.template import FieldKind
from headgate.sdk import Component, Data, Message, Table, Text, field, output
from headgate.sdk.coerce import data_of, table_of, text_of


class ParseJSON(Component):
    """Turns a text of JSON into data; code fences around it and JSON Lines are understood."""

    label = "Parse JSON"
    category = "data"
    icon = "file-json"
    keywords = (
        "convert", "decode", "deserialize", "load", "read", "object", "array", "structure", "text to data", "string",
        "jsonl", "ndjson", "parser", "interpret", "fence",
    )  # fmt: skip

    text: str = field(label="JSON text", help="The text to parse.", main=True)
    _value: JsonValue = PrivateAttr(default=None)
    _parsed: bool = PrivateAttr(default=False)

    @output(help="The value: object, list, text, number, true, false or null.")
    async def data(self) -> Data:
        """Return the parsed value."""
        if not self._parsed:
            self._value = await run_in_flow_thread(parse_json, self.text, subject="ParseJSON")
            self._parsed = True
        return self._value

    @output(help="A list of objects as rows; an error for anything else.")
    async def table(self) -> Table:
        """Return the parsed value as a table."""
        return table_of(await self.data())


class SelectData(Component):
    """Picks a part out of data with a JMESPath expression: a field, a filtered list, renamed columns."""

    label = "Select data"
    category = "data"
    icon = "filter"
    keywords = (
        "jmespath", "jsonpath", "query", "extract", "field", "property", "path", "get", "pick", "choose", "filter",
        "project", "transform", "map", "reshape", "sort", "first", "attribute", "key",
    )  # fmt: skip

    source: Data | Table = field(
        name="data", label="Data", help="Data or a table (a list of objects) to select from.", main=True
    )
    expression: str = field(
        label="Expression",
        help="JMESPath: customer.name, items[0], items[?price > `10`].{name: name, price: price}, sort_by(@, &age).",
        kind=FieldKind.CODE,
        port=False,
        max_length=LONGEST_EXPRESSION,
        syntax="jmespath",
    )
    _value: JsonValue = PrivateAttr(default=None)
    _selected: bool = PrivateAttr(default=False)

    @output(name="data", label="Data", help="The selected value; null when nothing matches.")
    async def give_data(self) -> Data:
        """Return the selected value."""
        if not self._selected:
            source = data_of(self.source)
            self._value = await select_part(self.ctx, self.expression, source, subject="SelectData")
            self._selected = True
        return self._value

    @output(help="The same as text: a text unchanged, anything else as JSON; empty when nothing matches.")
    async def text(self) -> Text:
        """Return the selected value as text."""
        value = await self.give_data()
        return "" if value is None else text_of(value)


class MessageHistory(Component):
    """Gives the earlier messages of this chat, oldest first."""

    label = "Message history"
    category = "data"
    reads_input = True
    icon = "history"
    keywords = (
        "memory", "conversation", "chat history", "previous", "earlier", "remember", "recall", "context", "past",
        "transcript", "dialogue", "turns", "log", "messages",
    )  # fmt: skip

    limit: int = field(default=10, label="How many", help="Maximum number of messages, the latest ones.", ge=1, le=1000)

    @output(help="One line per message: `User: ...`, `Assistant: ...`.")
    def text(self) -> Text:
        """Return the messages as a transcript."""
        return "\n".join(f"{message.role.capitalize()}: {message.text}" for message in self._latest())

    @output(help="The messages: a list of objects with role, text and files.")
    def messages(self) -> Data:
        """Return the messages as data."""
        return [data_of(message) for message in self._latest()]

    def _latest(self) -> list[Message]:
        return list(self.ctx.input.history[-self.limit :])
