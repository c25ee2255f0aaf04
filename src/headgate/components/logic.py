"""Branching components: a condition, and merging of branches."""

from collections.abc import Mapping
from typing import Literal

from pydantic import JsonValue, PrivateAttr

from headgate.components.conditions import Operator
from headgate.components.data.selecting import LONGEST_EXPRESSION
from headgate.components.isolated.calls import condition_holds, select_field
from headgate.components.wording import unescaped
from headgate.graph.template import Template
from headgate.sdk import NOT_TAKEN, Component, Data, NotTaken, Table, Text, field, output
from headgate.sdk.coerce import data_of, text_of


class If(Component):
    """Sends a value one of two ways: `true` when the condition holds, else `false`. The value itself passes through."""

    label = "If"
    category = "logic"
    icon = "git-fork"
    keywords = (
        "condition", "conditional", "branch", "decide", "decision", "when", "whether", "else", "otherwise", "check",
        "test", "compare", "route", "gate", "filter", "rule", "only if", "threshold", "depending",
    )  # fmt: skip

    value: str | Data | Table = field(label="Value", help="The value to check and pass on.", main=True)
    field_path: str = field(
        default="",
        name="field",
        label="Field",
        help="JMESPath to the part to compare, for example order.total or length(@); empty compares the whole value.",
        port=False,
        max_length=LONGEST_EXPRESSION,
        syntax="jmespath",
    )
    operator: Operator = field(
        default="contains",
        label="Condition",
        help="How to compare; greater and less compare numbers, and lists by their length.",
    )
    compare: str = field(
        default="", label="Compare with", help="Text, number or RE2 pattern to compare with.", port=False
    )
    ignore_case: bool = field(default=True, label="Ignore case", help="Ignore upper and lower case.")
    _answer: bool | None = PrivateAttr(default=None)

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:
        """Return a template in which the comparison value is a pattern when the condition is `matches`."""
        template = super().template(params)
        if (params or {}).get("operator") != "matches":
            return template
        fields = [
            field.model_copy(update={"syntax": "re2"}) if field.name == "compare" else field
            for field in template.fields
        ]
        return template.model_copy(update={"fields": tuple(fields)})

    @output(help="The value, when the condition holds.", branch=True)
    async def true(self) -> Data | NotTaken:
        """Return the value or `NOT_TAKEN`."""
        return data_of(self.value) if await self._holds() else NOT_TAKEN

    @output(help="The value, when the condition does not hold.", branch=True)
    async def false(self) -> Data | NotTaken:
        """Return the value or `NOT_TAKEN`."""
        return NOT_TAKEN if await self._holds() else data_of(self.value)

    async def _holds(self) -> bool:
        if self._answer is None:
            target = await select_field(self.ctx, data_of(self.value), self.field_path, subject="If")
            self._answer = await condition_holds(
                self.ctx, target, self.operator, self.compare, ignore_case=self.ignore_case
            )
        return self._answer


class Merge(Component):
    """Brings several ways together: the first value that came, all of them as a list, or their texts joined."""

    label = "Merge"
    category = "logic"
    icon = "git-merge"
    keywords = (
        "join", "fan-in", "combine", "together", "collect", "union", "converge", "first", "any", "all", "branches",
        "after if", "wait for", "gather", "coalesce", "rejoin",
    )  # fmt: skip

    values: list[str | Data | Table] = field(
        label="Values",
        help="Values of the branches that were taken, in the order of the connections.",
        main=True,
        many=True,
    )
    mode: Literal["first", "all", "text"] = field(
        default="first", label="Give", help="first: the first value; all: a list of the values; text: joined text."
    )
    separator: str = field(
        default="\n\n",
        label="Between texts",
        help="For text: separator; \\n is a line break.",
        port=False,
    )

    @output(help="The first value, the list of values, or the joined text.")
    def value(self) -> Data:
        """Return the merged value."""
        if self.mode == "text":
            return self.text()
        if self.mode == "all":
            return [data_of(value) for value in self.values]
        return data_of(self.values[0]) if self.values else None

    @output(help="The same as text.")
    def text(self) -> Text:
        """Return the merged text: of the first value, or of all joined."""
        selected = self.values[:1] if self.mode == "first" else self.values
        return unescaped(self.separator).join(text_of(value) for value in selected)
