"""Components that run other flows: once, for each item of a list, and until a condition holds."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal, cast

import orjson
from pydantic import JsonValue, PrivateAttr

from headgate.components.data.selecting import LONGEST_EXPRESSION
from headgate.components.isolated.calls import select_field
from headgate.components.mapping import MOST_ITEMS, filled_template
from headgate.components.typed_values import SCHEMA, as_answer, declared, of_result, typed_fields, typed_outputs
from headgate.graph.template import FieldKind, FieldTemplate, OutputTemplate
from headgate.graph.value_names import FLOW_STEP_INPUTS, FLOW_STEP_OUTPUTS
from headgate.sdk import Component, ComponentError, Data, File, Message, Table, Text, field, output
from headgate.sdk.coerce import data_of, describe, text_of
from headgate.sdk.flows import FlowInput, FlowResult, FlowTarget

MOST_ROUNDS = 1000
_FLOW_HELP = "Name or id of a published flow that you may run."
_VERSION_HELP = "Version of the flow; leave empty to use the one that is published when this flow is frozen."
_ANSWERS_HELP = "Answers to the flow's form as an object: field to value, which may be {{step.field}}."


class RunFlow(Component):
    """Runs another published flow and returns its result. The run is separate, with its own steps and evidence."""

    label = "Run a flow"
    category = "logic"
    icon = "workflow"
    effect = True
    keywords = (
        "subflow", "sub-flow", "sub-workflow", "call", "execute workflow", "child", "nested", "invoke", "function",
        "reuse", "another flow",
    )  # fmt: skip

    flow: str | dict[str, JsonValue] = field(
        label="Flow", help=_FLOW_HELP, kind=FieldKind.FLOW, port=False, interpolate=False
    )
    version: int | None = field(default=None, label="Version", help=_VERSION_HELP, port=False, ge=1)
    text: str | Message = field(
        default="", label="Text", help="Text that the flow is started with.", main=True, tool_mode=True
    )
    answers: Data = field(
        default_factory=dict, label="Answers", help=_ANSWERS_HELP, kind=FieldKind.JSON, tool_mode=True
    )
    files: list[File] = field(
        default_factory=list, label="Files", help="Files that the flow is started with.", many=True
    )
    inputs: dict[str, str] = field(
        default_factory=dict,
        label="Inputs",
        help="Form fields that get an input here, each with its type: Text, Data, Table, Message or File.",
        kind=FieldKind.JSON,
        port=False,
        interpolate=False,
        advanced=True,
        schema=SCHEMA,
    )
    outputs: dict[str, str] = field(
        default_factory=dict,
        label="Outputs",
        help="Members of the flow's result that get an output here, each with its type.",
        kind=FieldKind.JSON,
        port=False,
        interpolate=False,
        advanced=True,
        schema=SCHEMA,
    )
    _result: FlowResult | None = PrivateAttr(default=None)
    _values: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def extra_fields(cls, params: Mapping[str, JsonValue]) -> tuple[FieldTemplate, ...]:
        """Return one input per form field that the node declares."""
        return typed_fields(declared(params.get("inputs"), FLOW_STEP_INPUTS))

    @classmethod
    def extra_outputs(cls, params: Mapping[str, JsonValue]) -> tuple[OutputTemplate, ...]:
        """Return one output per member of the result that the node declares."""
        return typed_outputs(declared(params.get("outputs"), FLOW_STEP_OUTPUTS))

    def receive_extra(self, values: Mapping[str, Any]) -> None:
        """Receive the values of the form fields."""
        self._values = dict(values)

    async def produce_extra(self, name: str) -> Any:  # noqa: ANN401 - any port value
        """Return a member of the result."""
        type_ = declared(cast("JsonValue", self.outputs), FLOW_STEP_OUTPUTS)[name]
        return of_result((await self._run()).value, name, type_, subject="RunFlow")

    @output(label="Result", help="The main output of the flow's last step.")
    async def result(self) -> Data:
        """The result as data."""
        return (await self._run()).value

    @output(name="text", label="Text", help="The result as text.")
    async def as_text(self) -> Text:
        """The result as text."""
        return (await self._run()).text

    @output(label="Run", help="Id of the run.")
    async def run_id(self) -> Text:
        """The run."""
        return (await self._run()).run_id

    async def _run(self) -> FlowResult:
        if self._result is None:
            message = self.text if isinstance(self.text, Message) else Message(role="user", text=self.text)
            answers, files = answers_of("RunFlow", self.answers), [*message.files, *self.files]
            for name, value in self._values.items():
                answers[name], added = as_answer(value)
                files += added
            inputs = FlowInput(message.text, answers, tuple(dict.fromkeys(files)))
            self._result = await self.ctx.flows.run(target_of("RunFlow", self.flow), inputs)
        return self._result


class ForEach(Component):
    """Runs a published flow for every item of a list, row of a table or line of a text.

    Several runs are active at a time; results keep the order of the items. An interrupted step continues where it
    stopped: items that are done are not run again.
    """

    label = "For each"
    category = "logic"
    icon = "repeat"
    effect = True
    keywords = (
        "loop", "foreach", "iterate", "each item", "every row", "batch", "bulk", "parallel", "per item", "per row",
        "lines", "subflow", "collect", "nightly", "process all",
    )  # fmt: skip

    items: Data | Table | str = field(
        label="Items", help="A list, a table whose rows are the items, or text whose lines are.", main=True
    )
    flow: str | dict[str, JsonValue] = field(
        label="Flow", help=_FLOW_HELP, kind=FieldKind.FLOW, port=False, interpolate=False
    )
    version: int | None = field(default=None, label="Version", help=_VERSION_HELP, port=False, ge=1)
    item_template: str = field(
        name="template",
        default="",
        label="Text of a run",
        help="Text made of each item: {item}, {item.name}, {index} (from 0). Empty uses the item itself.",
        kind=FieldKind.MULTILINE,
        port=False,
    )
    answers: Data = field(
        default_factory=dict,
        label="Answers",
        help="Answers to the flow's form that are the same for every item. Members of an item have precedence.",
        kind=FieldKind.JSON,
        port=False,
    )
    parallel: int = field(default=4, label="Parallel", help="Number of runs at the same time.", ge=1, le=64)
    on_error: Literal["stop", "continue"] = field(
        default="stop",
        label="When an item fails",
        help="stop: the step fails; continue: the error is the item's result, and is listed in errors.",
    )
    with_item: bool = field(
        default=False,
        label="Keep the item's fields",
        help="Each result together with its item: the row's columns, then the result's, or `result`.",
    )
    _results: list[FlowResult] | None = PrivateAttr(default=None)
    _items: list[JsonValue] = PrivateAttr(default_factory=list)

    @output(help="The results in the order of the items, a list.")
    async def results(self) -> Data:
        """One result per item."""
        return [self._with_item(item, result) for item, result in await self._run()]

    @output(help="One row per item: the result's fields, or a column `result`.")
    async def table(self) -> Table:
        """The results as rows."""
        results = [self._with_item(item, result) for item, result in await self._run()]
        rows: list[dict[str, JsonValue]] = [
            result if isinstance(result, dict) else {"result": result} for result in results
        ]
        return Table.from_records(rows)

    @output(help="Items that failed: index, item, error, code and run_id.")
    async def errors(self) -> Data:
        """The failed items."""
        return [
            {"index": index, "item": item, "error": result.error, "code": result.code, "run_id": result.run_id}
            for index, (item, result) in enumerate(await self._run())
            if result.error
        ]

    @output(help="The results as text, separated by empty lines.")
    async def text(self) -> Text:
        """The results joined."""
        return "\n\n".join(result.text for _, result in await self._run() if not result.error)

    async def _run(self) -> list[tuple[JsonValue, FlowResult]]:
        if self._results is None:
            target = target_of("ForEach", self.flow)
            self._items = self._listed()
            inputs = [self._input(target, index, item) for index, item in enumerate(self._items)]
            self._results = list(
                await self.ctx.flows.run_each(
                    target, inputs, parallel=self.parallel, stop_on_error=self.on_error == "stop"
                )
            )
        return list(zip(self._items, self._results, strict=True))

    def _listed(self) -> list[JsonValue]:
        items = data_of(self.items)
        if isinstance(items, str):
            items = [line for line in items.splitlines() if line.strip()]
        if not isinstance(items, list):
            raise ComponentError(
                f"ForEach: items is {describe(items)}, not a list.",
                remedy="Use SelectData to select a list, or SplitText to create one.",
                field="items",
            )
        if len(items) > MOST_ITEMS:
            raise ComponentError(f"ForEach: there are {len(items)} items; the limit is {MOST_ITEMS}.", field="items")
        return items

    def _input(self, target: FlowTarget, index: int, item: JsonValue) -> FlowInput:
        if is_file(item):
            return FlowInput("", answers_of("ForEach", self.answers), (File.model_validate(item),))
        text = filled_template(self.item_template, index, item) if self.item_template else text_of(item)
        own = {name: item[name] for name in target.fields if name in item} if isinstance(item, dict) else {}
        return FlowInput(text, {**answers_of("ForEach", self.answers), **own})

    def _with_item(self, item: JsonValue, result: FlowResult) -> JsonValue:
        value: JsonValue = {"error": result.error, "code": result.code} if result.error else result.value
        if not self.with_item:
            return value
        fields = item if isinstance(item, dict) else {"item": item}
        return {**fields, **(value if isinstance(value, dict) else {"result": value})}


class Loop(Component):
    """Runs a published flow again and again, each time with its last result, until a condition holds."""

    label = "Loop"
    category = "logic"
    icon = "refresh-cw"
    effect = True
    keywords = (
        "repeat", "until", "while", "do while", "again", "iterate", "retry until", "refine", "review", "improve",
        "converge", "rounds", "subflow",
    )  # fmt: skip

    value: str | Data = field(label="Value", help="What the first round starts with.", main=True)
    flow: str | dict[str, JsonValue] = field(
        label="Flow", help=_FLOW_HELP, kind=FieldKind.FLOW, port=False, interpolate=False
    )
    version: int | None = field(default=None, label="Version", help=_VERSION_HELP, port=False, ge=1)
    until: str = field(
        label="Until",
        help=(
            "JMESPath condition on the result that ends the loop, for example score >= `8`; on a number: @ >= `8`; on "
            "a text: contains(text, 'ok') or to_number(text) >= `8`."
        ),
        port=False,
        interpolate=False,
        max_length=LONGEST_EXPRESSION,
        syntax="jmespath",
    )
    most: int = field(label="At most", help="Maximum number of rounds.", port=False, ge=1, le=MOST_ROUNDS)
    at_limit: Literal["continue", "fail"] = field(
        default="continue",
        label="At the limit",
        help="continue: return the last result; fail: the step fails when the condition does not hold.",
    )
    _outcome: tuple[FlowResult, int, bool] | None = PrivateAttr(default=None)

    @output(help="The result of the last round.")
    async def result(self) -> Data:
        """The last result as data."""
        return (await self._run())[0].value

    @output(help="The result of the last round as text.")
    async def text(self) -> Text:
        """The last result as text."""
        return (await self._run())[0].text

    @output(help="Number of rounds, and whether the condition holds.")
    async def rounds(self) -> Data:
        """How the loop ended."""
        _, count, holds = await self._run()
        return {"rounds": count, "holds": holds}

    async def _run(self) -> tuple[FlowResult, int, bool]:
        if self._outcome is None:
            self._outcome = await self._repeat(target_of("Loop", self.flow))
        return self._outcome

    async def _repeat(self, target: FlowTarget) -> tuple[FlowResult, int, bool]:
        """Continue with the last round that was started: the condition did not hold after those before it."""
        number = max(await self.ctx.flows.started() - 1, 0)
        inputs = self._input(target, data_of(self.value))
        while True:
            result = await self.ctx.flows.run(target, inputs, iteration=number)
            holds = bool(await select_field(self.ctx, _fields_of(result), self.until, subject="Loop"))
            if not holds and number + 1 == self.most and self.at_limit == "fail":
                raise ComponentError(
                    f"Loop: the condition does not hold after {self.most} rounds.",
                    remedy="Allow more rounds, or change the condition.",
                    field="most",
                )
            if holds or number + 1 == self.most:
                return result, number + 1, holds
            number, inputs = number + 1, self._input(target, result.value)

    def _input(self, target: FlowTarget, value: JsonValue) -> FlowInput:
        own = {name: value[name] for name in target.fields if name in value} if isinstance(value, dict) else {}
        return FlowInput(text_of(value), own)


def _fields_of(result: FlowResult) -> JsonValue:
    """Return what a condition reads: data, JSON in a text, or an object with the text."""
    if not isinstance(result.value, str):
        return result.value
    if result.text.lstrip().startswith(("{", "[")):
        with suppress(orjson.JSONDecodeError):
            parsed: JsonValue = orjson.loads(result.text)
            return parsed
    return {"text": result.text}


def target_of(component: str, flow: str | dict[str, JsonValue]) -> FlowTarget:
    """Return the flow that a frozen node runs. Raises `ComponentError` for one that was not resolved."""
    if not isinstance(flow, dict) or "flow_id" not in flow:
        raise ComponentError(f"{component}: the flow is not resolved.", remedy="Run a version of this flow.")
    fields = flow.get("fields")
    return FlowTarget(
        str(flow["flow_id"]),
        cast("int", flow.get("version")),
        str(flow.get("name", "")),
        tuple(str(name) for name in fields) if isinstance(fields, list) else (),
    )


def answers_of(component: str, answers: Data) -> dict[str, JsonValue]:
    """Return answers as an object. Raises `ComponentError`."""
    value = data_of(answers) or {}
    if not isinstance(value, dict):
        raise ComponentError(
            f"{component}: answers is {describe(value)}, not an object.",
            remedy="Give an object: the field of the form to its answer.",
            field="answers",
        )
    return value


def is_file(item: JsonValue) -> bool:
    """Return whether an item of a list is a file."""
    return isinstance(item, dict) and set(item) >= {"id", "name", "media_type"}
