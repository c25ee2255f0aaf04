"""The component that processes every item of a list."""

import asyncio
import re
from collections.abc import Iterator
from typing import Literal

from pydantic import JsonValue, PrivateAttr

from headgate.components.data.selecting import select
from headgate.foundation.errors import Cancelled, HeadgateError
from headgate.graph.names import did_you_mean, listed
from headgate.graph.template import FieldKind
from headgate.sdk import Component, ComponentError, Data, Table, Text, Tool, field, output
from headgate.sdk.coerce import data_of, describe, text_of
from headgate.sdk.tools import call_tool

MOST_ITEMS = 10_000
_PLACEHOLDER = re.compile(r"(?<!\{)\{(index|item)((?:\.[A-Za-z_]\w{0,63}|\[\d{1,6}\]){0,10})\}(?!\})")


class Map(Component):
    """Does the same for every item of a list or row of a table: calls a component on it, or fills a template with it.

    Connect the component's `tool` output to `each`: an AI step that classifies each row, a request for each address.
    Items run side by side; results keep the order of the items.
    """

    label = "Map"
    category = "logic"
    icon = "repeat"
    keywords = (
        "loop", "for each", "foreach", "iterate", "each", "every", "repeat", "batch", "per item", "per row", "list",
        "parallel", "fan-out", "apply", "process all", "for all", "bulk", "concurrency",
    )  # fmt: skip

    items: Data | Table = field(label="Items", help="A list, or a table whose rows are the items.", main=True)
    each: Tool | None = field(
        default=None, label="Do", help="How to process each item: connect the tool output of a component."
    )
    argument: str = field(
        default="",
        label="Argument",
        help=(
            "The component's field that receives the item; empty uses its first one, or all fields named "
            "by an object's keys."
        ),
        port=False,
    )
    item_template: str = field(
        name="template",
        default="",
        label="Template",
        help="Text made of each item: {item}, {item.name}, {index} (from 0). Empty uses the item itself.",
        kind=FieldKind.MULTILINE,
        port=False,
    )
    concurrency: int = field(
        default=4, label="Concurrency", help=("Number of items processed at the same time."), ge=1, le=32
    )
    on_error: Literal["stop", "skip", "keep"] = field(
        default="stop",
        label="When an item fails",
        help="stop: the step fails; skip: omit the item; keep: replace the item with {'error': ...}.",
    )
    with_item: bool = field(
        default=False,
        label="Keep the item's fields",
        help="Each result together with its item: the row's columns, then the result's, or `result`.",
    )
    _results: list[JsonValue] | None = PrivateAttr(default=None)

    @output(help="The results in the order of the items, a list.")
    async def results(self) -> Data:
        """Return one result per item; fewer when failing items are skipped."""
        return await self._run()

    @output(help="One row per item: the result's fields, or a column `result`.")
    async def table(self) -> Table:
        """Return the results as rows."""
        results = await self._run()
        records = [result for result in results if isinstance(result, dict)]
        if len(records) == len(results):
            return Table.from_records(records)
        return Table(columns=["result"], rows=[[result] for result in results])

    @output(help="The results as text, separated by empty lines.")
    async def text(self) -> Text:
        """Return the results joined."""
        return "\n\n".join(text_of(result) for result in await self._run())

    async def _run(self) -> list[JsonValue]:
        if self._results is None:
            self._results = await self._over(self._listed())
        return self._results

    def _listed(self) -> list[JsonValue]:
        if self.each is None and not self.item_template:
            raise ComponentError(
                "Map: no component or template is set for the items.",
                remedy="Connect a component's tool output to 'each', or write a template.",
                field="each",
            )
        items = data_of(self.items)
        if not isinstance(items, list):
            raise ComponentError(
                f"Map: items is {describe(items)}, not a list.",
                remedy="Use SelectData to select a list, or SplitText to create one.",
                field="items",
            )
        if len(items) > MOST_ITEMS:
            raise ComponentError(f"Map: there are {len(items)} items; the limit is {MOST_ITEMS}.", field="items")
        return items

    async def _over(self, items: list[JsonValue]) -> list[JsonValue]:
        """Run the items with a limited number of workers; the first failure under `stop` ends the others."""
        results: list[JsonValue] = [None] * len(items)
        failed: set[int] = set()
        waiting = iter(enumerate(items))
        progress = _Progress(len(items))

        async def work() -> None:
            for index, item in waiting:
                if self.each is not None or index % 500 == 0:
                    await self.ctx.check_cancelled()
                try:
                    results[index] = self._with_item(item, await self._one(index, item))
                except Cancelled:
                    raise
                except HeadgateError as error:
                    results[index] = self._with_item(item, self._failure(index, error))
                    failed.add(index)
                for line in progress.finished():
                    await self.ctx.emit(line)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(items))):
                    group.create_task(work())
        except BaseExceptionGroup as group_error:
            raise _first(group_error) from None
        return [result for index, result in enumerate(results) if self.on_error == "keep" or index not in failed]

    async def _one(self, index: int, item: JsonValue) -> JsonValue:
        filled: JsonValue = filled_template(self.item_template, index, item) if self.item_template else item
        if self.each is None:
            return filled
        arguments = self._arguments(self.each, filled)
        return await call_tool(self.ctx, self.each, arguments)

    def _with_item(self, item: JsonValue, result: JsonValue) -> JsonValue:
        if not self.with_item:
            return result
        fields = item if isinstance(item, dict) else {"item": item}
        return {**fields, **(result if isinstance(result, dict) else {"result": result})}

    def _arguments(self, tool: Tool, item: JsonValue) -> dict[str, JsonValue]:
        """The item as the tool's arguments: under `argument`, else by its keys, else under the first argument."""
        found = tool.parameters.get("properties")
        properties = found if isinstance(found, dict) else {}
        name = self.argument
        if not name and isinstance(item, dict) and set(item) & set(properties):
            return {key: value for key, value in item.items() if key in properties}
        required = tool.parameters.get("required")
        name = name or next((str(key) for key in (required if isinstance(required, list) else [])), "")
        name = name or next(iter(properties), "")
        if name not in properties:
            hint = did_you_mean(name, properties)
            raise ComponentError(
                f"Map: {tool.name} has no argument '{name}'{hint}",
                remedy=f"It has: {listed(properties)}.",
                field="argument",
            )
        schema = properties[name]
        as_text = isinstance(schema, dict) and schema.get("type") == "string" and not isinstance(item, str)
        return {name: text_of(item) if as_text else item}

    def _failure(self, index: int, error: HeadgateError) -> JsonValue:
        """Return the result of a failed item. Raises under `stop`, naming the item."""
        if self.on_error == "stop":
            raise ComponentError(
                f"Map: item {index} (counted from 0): {error.detail}", remedy=error.remedy, index=index
            ) from error
        self.ctx.log(f"Item {index} failed: {error.detail}")
        return {"error": error.detail}


def filled_template(template: str, index: int, item: JsonValue) -> str:
    """Return the template with `{item}`, `{item.path[0]}` and `{index}` filled; missing values become empty."""

    def value(match: re.Match[str]) -> str:
        if match[1] == "index":
            return str(index) if not match[2] else match[0]
        path = match[2].lstrip(".")
        result = select(path, item, subject="Map", location="template") if path else item
        return "" if result is None else text_of(result)

    return _PLACEHOLDER.sub(value, template)


class _Progress:
    """Logs the progress of a Map, in at most about twenty lines."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._every = max(1, total // 20)

    def finished(self) -> Iterator[str]:
        """Count a finished item; log a line when it is due."""
        self._done += 1
        if self._done % self._every == 0 or self._done == self._total:
            yield f"{self._done} of {self._total}\n"


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first single error inside a group."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
