"""Components that run other flows: once, and until a condition holds."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from math import inf
from typing import Any, ClassVar, Literal, cast

import orjson
from pydantic import JsonValue, PrivateAttr

from headgate.components.clock import LONGEST_HOURS, SPARSER, current_time
from headgate.components.data.selecting import LONGEST_EXPRESSION
from headgate.components.isolated.calls import select_field
from headgate.components.typed_values import as_answer, declared, declared_types, of_result, typed_fields, typed_outputs
from headgate.graph.repeat import MOST_ROUNDS
from headgate.graph.template import FieldKind, FieldTemplate, OutputTemplate
from headgate.graph.value_names import FLOW_STEP_INPUTS, FLOW_STEP_OUTPUTS, LOOP_STEP_OUTPUTS
from headgate.sdk import NOT_TAKEN, Component, ComponentError, Data, File, Message, NotTaken, Text, field, output
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import data_of, describe, text_of
from headgate.sdk.flows import FlowInput, FlowResult, FlowTarget

_ANSWERS_HELP = "Answers to the flow's form as an object: field to value, which may be {{step.field}}."


class NamesFlow(Component):
    """The fields of a component that runs a published flow."""

    flow: str | dict[str, JsonValue] = field(
        label="Flow",
        help="Name or id of a published flow that you may run.",
        kind=FieldKind.FLOW,
        port=False,
        interpolate=False,
    )
    version: int | None = field(
        default=None,
        label="Version",
        help="Version of the flow; leave empty to use the one that is published when this flow is frozen.",
        port=False,
        ge=1,
    )


class HasMembers(NamesFlow):
    """Has an output for each member of the flow's result that its node declares."""

    reserved: ClassVar[frozenset[str]] = FLOW_STEP_OUTPUTS
    """Names that these outputs cannot have."""

    outputs: dict[str, str] = declared_types(
        label="Outputs", help="Members of the flow's result that get an output here, each with its type."
    )

    @classmethod
    def extra_outputs(cls, params: Mapping[str, JsonValue]) -> tuple[OutputTemplate, ...]:
        """Return one output per member of the result that the node declares."""
        return typed_outputs(declared(params.get("outputs"), cls.reserved))

    async def produce_extra(self, name: str) -> Any:  # noqa: ANN401 - any port value
        """Return a member of the result."""
        type_ = declared(cast("JsonValue", self.outputs), self.reserved)[name]
        return of_result(await self.result(), name, type_, subject=type(self).__name__)

    @abstractmethod
    async def result(self) -> Data:
        """Return the result."""


class RunFlow(HasMembers):
    """Runs another published flow and returns its result. The run is separate, with its own steps and evidence."""

    label = "Run a flow"
    category = "logic"
    icon = "workflow"
    effect = True
    keywords = (
        "subflow", "sub-flow", "sub-workflow", "call", "execute workflow", "child", "nested", "invoke", "function",
        "reuse", "another flow",
    )  # fmt: skip

    text: str | Message = field(
        default="", label="Text", help="Text that the flow is started with.", main=True, tool_mode=True
    )
    answers: Data = field(
        default_factory=dict, label="Answers", help=_ANSWERS_HELP, kind=FieldKind.JSON, tool_mode=True
    )
    files: list[File] = field(
        default_factory=list, label="Files", help="Files that the flow is started with.", many=True
    )
    inputs: dict[str, str] = declared_types(
        label="Inputs",
        help="Form fields that get an input here, each with its type: Text, Data, Table, Message or File.",
    )
    _result: FlowResult | None = PrivateAttr(default=None)
    _values: dict[str, Any] = PrivateAttr(default_factory=dict)

    @classmethod
    def extra_fields(cls, params: Mapping[str, JsonValue]) -> tuple[FieldTemplate, ...]:
        """Return one input per form field that the node declares."""
        return typed_fields(declared(params.get("inputs"), FLOW_STEP_INPUTS))

    def receive_extra(self, values: Mapping[str, Any]) -> None:
        """Receive the values of the form fields."""
        self._values = dict(values)

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


class Loop(HasMembers):
    """Runs a published flow again and again, each time with its last result, until a condition holds.

    With a pause it polls: the flow reads any data, and between two rounds the run waits without a worker.
    """

    label = "Loop"
    category = "logic"
    icon = "refresh-cw"
    effect = True
    keywords = (
        "repeat", "until", "while", "do while", "again", "iterate", "retry until", "refine", "review", "improve",
        "converge", "rounds", "subflow", "poll", "wait until", "check again", "interval", "watch",
    )  # fmt: skip
    reserved = LOOP_STEP_OUTPUTS

    value: str | Data = field(label="Value", help="What the first round starts with.", main=True)
    value_field: str = field(
        default="",
        label="Form field of the value",
        help="Field of the flow's form that gets the whole value. Empty: members of it answer fields of their name.",
        port=False,
        interpolate=False,
        max_length=64,
        advanced=True,
    )
    next_value: str = field(
        default="",
        label="Value of the next round",
        help="Member of the result that starts the next round. Empty: the result.",
        port=False,
        interpolate=False,
        max_length=64,
        advanced=True,
    )
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
    pause_seconds: float = field(
        default=0.0,
        label="Pause between rounds",
        help="Seconds without a worker; after a long time at least a hundredth of it. 0: no pause.",
        port=False,
        ge=0,
        le=86_400,
    )
    timeout_hours: float = field(
        default=0.0,
        label="Timeout in hours",
        help="No round begins after it: this is a limit like the number of rounds; 0: none.",
        port=False,
        ge=0,
        le=LONGEST_HOURS,
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

    @output(help="The last result, when the condition holds.", branch=True)
    async def reached(self) -> Data | NotTaken:
        """Return the result or `NOT_TAKEN`."""
        result, _, holds = await self._run()
        return result.value if holds else NOT_TAKEN

    @output(help="The last result, when the condition does not hold at the limit.", branch=True)
    async def timeout(self) -> Data | NotTaken:
        """Return the result or `NOT_TAKEN`."""
        result, _, holds = await self._run()
        return NOT_TAKEN if holds else result.value

    async def _run(self) -> tuple[FlowResult, int, bool]:
        if self._outcome is None:
            self._outcome = await self._repeat(target_of("Loop", self.flow))
        return self._outcome

    async def _repeat(self, target: FlowTarget) -> tuple[FlowResult, int, bool]:
        """Continue with the last round that was started: the condition did not hold after those before it."""
        number = max(await self.ctx.flows.started() - 1, 0)
        inputs = self._input(target, data_of(self.value))
        began = await self._moment("began", current_time().timestamp())
        while True:
            result = await self.ctx.flows.run(target, inputs, iteration=number)
            holds = bool(await select_field(self.ctx, _fields_of(result), self.until, subject="Loop"))
            due = None if holds or number + 1 == self.most else await self._next_round(number, began)
            if not holds and due is None and self.at_limit == "fail":
                raise ComponentError(
                    f"Loop: the condition does not hold after {number + 1} rounds.",
                    remedy="Allow more rounds or time, or change the condition.",
                    field="most",
                )
            if due is None:
                return result, number + 1, holds
            if self.pause_seconds:
                await self.ctx.sleep(due - current_time().timestamp(), restartable=True)
            number, inputs = number + 1, self._input(target, self._value_after(result.value))

    def _value_after(self, value: JsonValue) -> JsonValue:
        """Return what the next round starts with. Raises `ComponentError` for a result without the named member."""
        if not self.next_value:
            return value
        if not isinstance(value, dict) or self.next_value not in value:
            raise ComponentError(
                f"Loop: the result of the round has no member '{self.next_value}'.",
                remedy=f"Name a member of it: {', '.join(value)}." if isinstance(value, dict) else "Leave it empty.",
                field="next_value",
            )
        return value[self.next_value]

    async def _next_round(self, number: int, began: float) -> float | None:
        """Return when the round after one begins, in seconds since 1970; None after the timeout."""
        now = current_time().timestamp()
        deadline = began + self.timeout_hours * 3600 if self.timeout_hours else inf
        pause = max(self.pause_seconds, (now - began) * SPARSER) if self.pause_seconds else 0.0
        moment = await self._moment(number, min(now + pause, deadline) if now < deadline else 0.0)
        return moment or None

    async def _moment(self, name: str | int, moment: float) -> float:
        """Return the moment that the first attempt gives; without pause and timeout none is stored."""

        async def given() -> JsonValue:
            return moment

        if not self.pause_seconds and not self.timeout_hours:
            return moment
        stored = (await self.ctx.once(CallRequest.of("value", "Loop", {"moment": name}), given)).value
        return float(stored) if isinstance(stored, int | float) else moment

    def _input(self, target: FlowTarget, value: JsonValue) -> FlowInput:
        if self.value_field:
            require_field("Loop", "value_field", self.value_field, target)
            return FlowInput(text_of(value), {self.value_field: value})
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
    names = [flow.get(member) for member in ("fields", "file_fields")]
    fields, file_fields = [tuple(map(str, listed)) if isinstance(listed, list) else () for listed in names]
    version = cast("int", flow.get("version"))
    return FlowTarget(str(flow["flow_id"]), version, str(flow.get("name", "")), fields, file_fields)


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


def require_field(component: str, setting: str, name: str, target: FlowTarget) -> None:
    """Raise `ComponentError` for a field that the form of the flow does not have; empty names none."""
    if name and name not in target.fields:
        raise ComponentError(
            f"{component}: the form of '{target.name}' has no field '{name}'.",
            remedy=f"Fields of its form: {', '.join(target.fields) or 'none'}.",
            field=setting,
        )
