"""The component that calls a tool for every item of a list, or fills a template: the simple form of ForEach."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import JsonValue, PrivateAttr

from headgate.components.items import ListItems, PerItem, filled_template, listed_items, with_fields
from headgate.foundation.errors import Cancelled, HeadgateError
from headgate.graph.names import did_you_mean, listed
from headgate.graph.template import FieldKind
from headgate.sdk import ComponentError, Data, Tool, field, output
from headgate.sdk.coerce import text_of
from headgate.sdk.flows import FlowResult
from headgate.sdk.tools import Place, ToolRefused, call_tool


class Map(PerItem, ListItems):
    """Does the same for every item of a list or row of a table: calls a component on it, or fills a template with it.

    Connect the component's `tool` output to `each`: an AI step that classifies each row, a request for each address.
    Items run side by side; results keep the order of the items. An interrupted step continues where it stopped: the
    result of each call is stored, and the call is not repeated.
    """

    label = "Map"
    category = "logic"
    icon = "repeat"
    keywords = (
        "loop", "for each", "foreach", "iterate", "each", "every", "repeat", "batch", "per item", "per row", "list",
        "parallel", "fan-out", "apply", "process all", "for all", "bulk", "concurrency",
    )  # fmt: skip

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
    attempts: int = field(
        default=1, label="Attempts per item", help="How often an item that fails is attempted in all.", ge=1, le=10
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
    _results: Sequence[FlowResult] | None = PrivateAttr(default=None)
    _listed: list[JsonValue] | None = PrivateAttr(default=None)

    @output(help="Items that failed: index, item, error and code.")
    async def errors(self) -> Data:
        """The failed items."""
        return await super().errors()

    async def ended(self) -> Sequence[FlowResult]:
        """Return the results of all items."""
        if self._results is None:
            if self.each is None and not self.item_template:
                raise ComponentError(
                    "Map: no component or template is set for the items.",
                    remedy="Connect a component's tool output to 'each', or write a template.",
                    field="each",
                )
            self._results = await self._over(self._items())
        return self._results

    def named(self, index: int) -> dict[str, JsonValue]:
        """Return the item."""
        return {"item": self._items()[index]}

    def is_shown(self, result: FlowResult) -> bool:
        """Return whether a result is one of the results: failed items can be omitted."""
        return self.on_error == "keep" or not result.error

    def shaped(self, index: int, result: FlowResult) -> JsonValue:
        """Return the result, or the error in its place, with its item where that is set."""
        value: JsonValue = {"error": result.error} if result.error else result.value
        return with_fields(self._items()[index], value) if self.with_item else value

    def _items(self) -> list[JsonValue]:
        if self._listed is None:
            self._listed = listed_items("Map", self.items)
        return self._listed

    async def _over(self, items: list[JsonValue]) -> list[FlowResult]:
        """Run the items with a limited number of workers; the first failure under `stop` ends the others."""
        results: dict[int, FlowResult] = {}
        waiting = iter(enumerate(items))
        progress = _Progress(len(items))

        async def work() -> None:
            for index, item in waiting:
                if self.each is None and index % 500 == 0:
                    await self.ctx.check_cancelled()
                results[index] = await self._one(index, item)
                for line in progress.finished():
                    await self.ctx.emit(line)
                if self.ctx.turn_over:
                    return

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.concurrency, len(items))):
                    group.create_task(work())
        except BaseExceptionGroup as group_error:
            raise _first(group_error) from None
        if len(results) < len(items):
            await self.ctx.end_turn()
        return [results[index] for index in range(len(items))]

    async def _one(self, index: int, item: JsonValue) -> FlowResult:
        """Return the result of an item. Raises under `stop` when its last attempt fails, naming the item."""
        attempt = 1
        while True:
            try:
                value = await self._attempt(index, item, attempt)
            except Cancelled:
                raise
            except HeadgateError as error:
                if attempt == self.attempts:
                    return self._failure(index, error)
                attempt += 1
            else:
                return FlowResult("", text_of(value), value)

    async def _attempt(self, index: int, item: JsonValue, attempt: int) -> JsonValue:
        """Call the tool for an item. A failure is stored like a result, except the one with which the step fails."""
        filled: JsonValue = item
        if self.item_template:
            filled = filled_template(self.item_template, index, item, subject="Map")
        if self.each is None:
            return filled
        arguments = self._arguments(self.each, filled)
        stored = attempt < self.attempts or self.on_error != "stop"
        return await call_tool(self.ctx, self.each, arguments, place=Place(f"item {index}", attempt, stored=stored))

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

    def _failure(self, index: int, error: HeadgateError) -> FlowResult:
        """Return the result of a failed item. Raises under `stop`, naming the item."""
        if self.on_error == "stop":
            raise ComponentError(
                f"Map: item {index} (counted from 0): {error.detail}", remedy=error.remedy, index=index
            ) from error
        self.ctx.log(f"Item {index} failed: {error.detail}")
        code = error.refusal if isinstance(error, ToolRefused) else error.code
        return FlowResult("", "", None, error=error.detail, code=code)


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
