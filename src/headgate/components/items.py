"""What steps that process every item of a list share: the list, the text of an item, and the outputs."""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from headgate.components.data.selecting import select
from headgate.components.reducing import Reduction, reduce, reduced_type
from headgate.graph.template import OutputTemplate
from headgate.graph.value_names import REDUCED
from headgate.sdk import Component, ComponentError, Data, Table, Text, field, output
from headgate.sdk.coerce import data_of, describe, text_of
from headgate.sdk.flows import FlowResult

MOST_ITEMS = 10_000
_PLACEHOLDER = re.compile(r"(?<!\{)\{(index|item)((?:\.[A-Za-z_]\w{0,63}|\[\d{1,6}\]){0,10})\}(?!\})")


class ListItems(Component):
    """The field of a list, which comes before the others."""

    items: Data | Table | str = field(
        label="Items",
        help="A list, also of files, a table whose rows are the items, or text whose lines are.",
        main=True,
    )


class PerItem(Component):
    """Has one result for each item: a value, or the error of a failed item."""

    reduce: Reduction = field(
        default="none",
        label="Reduce",
        help="Adds the output reduced, without failed items. join: lines; merge: objects; rows: rows of tables.",
        port=False,
        advanced=True,
    )
    reduce_of: str = field(
        default="",
        label="Value to reduce",
        help="Member of each result, for example order.total.",
        port=False,
        interpolate=False,
        max_length=200,
        advanced=True,
    )

    @classmethod
    def extra_outputs(cls, params: Mapping[str, JsonValue]) -> tuple[OutputTemplate, ...]:
        """Return the output of the reduction, with its type."""
        type_ = reduced_type(params.get("reduce"))
        return () if type_ is None else (OutputTemplate(name=REDUCED, type=type_, label="Reduced"),)

    async def produce_extra(self, name: str) -> Any:  # noqa: ANN401, ARG002 - any port value
        """Return the reduced value."""
        values = {index: result.value for index, result in enumerate(await self.ended()) if not result.error}
        return reduce(values, self.reduce, self.reduce_of, subject=type(self).__name__)

    @output(help="The results in the order of the items, a list.")
    async def results(self) -> Data:
        """One result per item."""
        return await self._shaped()

    @output(help="One row per item: the result's fields, or a column `result`.")
    async def table(self) -> Table:
        """The results as rows."""
        return Table.from_records([row if isinstance(row, dict) else {"result": row} for row in await self._shaped()])

    @output(help="Items that failed: index, item, error, code, run_id and step.")
    async def errors(self) -> Data:
        """The failed items."""
        return [
            {"index": index, **self.named(index), "error": result.error, "code": result.code}
            | ({"run_id": result.run_id} if result.run_id else {})
            | ({"step": result.step} if result.step else {})
            for index, result in enumerate(await self.ended())
            if result.error
        ]

    @output(help="The results as text, separated by empty lines.")
    async def text(self) -> Text:
        """The results joined."""
        return "\n\n".join(result.text for result in await self.ended() if not result.error)

    @abstractmethod
    async def ended(self) -> Sequence[FlowResult]:
        """Return the results of all items."""

    @abstractmethod
    def named(self, index: int) -> dict[str, JsonValue]:
        """Return the members that identify an item in a list of errors."""

    def is_shown(self, result: FlowResult) -> bool:  # noqa: ARG002 - for components that omit some
        """Return whether a result is one of the results."""
        return True

    def shaped(self, index: int, result: FlowResult) -> JsonValue:  # noqa: ARG002 - for components that add the item
        """Return the result of one item, or its error."""
        return {"error": result.error, "code": result.code} if result.error else result.value

    async def _shaped(self) -> list[JsonValue]:
        results = enumerate(await self.ended())
        return [self.shaped(index, result) for index, result in results if self.is_shown(result)]


def listed_items(component: str, value: Data | Table | str) -> list[JsonValue]:
    """Return the items of a list, the rows of a table, or the lines of a text. Raises `ComponentError`."""
    items = data_of(value)
    if isinstance(items, str):
        items = [line for line in items.splitlines() if line.strip()]
    if not isinstance(items, list):
        raise ComponentError(
            f"{component}: items is {describe(items)}, not a list.",
            remedy="Use SelectData to select a list, or SplitText to create one.",
            field="items",
        )
    if len(items) > MOST_ITEMS:
        raise ComponentError(f"{component}: there are {len(items)} items; the limit is {MOST_ITEMS}.", field="items")
    return items


def with_fields(item: JsonValue, result: JsonValue) -> JsonValue:
    """Return a result together with its item: the item's fields, then those of the result, or `result`."""
    fields = item if isinstance(item, dict) else {"item": item}
    return {**fields, **(result if isinstance(result, dict) else {"result": result})}


def filled_template(template: str, index: int, item: JsonValue, *, subject: str) -> str:
    """Return the template with `{item}`, `{item.path[0]}` and `{index}` filled; missing values become empty."""

    def value(match: re.Match[str]) -> str:
        if match[1] == "index":
            return str(index) if not match[2] else match[0]
        path = match[2].lstrip(".")
        result = select(path, item, subject=subject, location="template") if path else item
        return "" if result is None else text_of(result)

    return _PLACEHOLDER.sub(value, template)
