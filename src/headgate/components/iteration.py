"""Components that run a published flow for each item: the fields and outputs that they share, and lists."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from pydantic import BaseModel, JsonValue, PrivateAttr

from headgate.components.items import ListItems, PerItem, filled_template, listed_items, with_fields
from headgate.components.subflows import NamesFlow, answers_of, require_field, target_of
from headgate.components.typed_values import declared, declared_types, of_result, typed_outputs
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, OutputTemplate
from headgate.graph.value_names import EACH_STEP_OUTPUTS, REDUCED
from headgate.sdk import Data, File, Table, field
from headgate.sdk.coerce import data_of, encode, text_of
from headgate.sdk.flows import FlowInput, FlowResult, FlowTarget

_COLLECTED = {PortType.TEXT: PortType.TEXT, PortType.TABLE: PortType.TABLE}
"""Types whose values of all items are one value of the type; those of others are a list."""


class FlowPerItem(PerItem, NamesFlow):
    """Runs a published flow for each item. Items are requested one by one, when a run of theirs may start."""

    item_template: str = field(
        name="template",
        default="",
        label="Text of a run",
        help="Text made of each item: {item}, {item.name}, {index} (from 0). Empty uses the item itself.",
        kind=FieldKind.MULTILINE,
        port=False,
    )
    item_field: str = field(
        default="",
        label="Form field of the item",
        help="Field of the flow's form that gets the whole item. Empty: members of it answer fields of their name.",
        port=False,
        interpolate=False,
        max_length=64,
        advanced=True,
    )
    answers: Data = field(
        default_factory=dict,
        label="Answers",
        help="Answers to the flow's form that are the same for every item. Members of an item have precedence.",
        kind=FieldKind.JSON,
        port=False,
    )
    carry: str = field(
        default="",
        label="Form field of the result before",
        help="Field of the flow's form that gets the result of the item before: items run one after another.",
        port=False,
        interpolate=False,
        max_length=64,
        advanced=True,
    )
    initial: Data = field(
        default=None,
        label="Initial value",
        help="What that field gets for the first item.",
        kind=FieldKind.JSON,
        port=False,
        advanced=True,
    )
    parallel: int = field(default=4, label="Parallel", help="Number of runs at the same time.", ge=1, le=64)
    on_error: Literal["stop", "continue"] = field(
        default="stop",
        label="When an item fails",
        help="stop: the step fails; continue: the error is the item's result, and is listed in errors.",
    )
    outputs: dict[str, str] = declared_types(
        label="Outputs",
        help=(
            "Members of the flow's result that get an output here, each with its type: texts are joined, rows of "
            "tables appended, other values listed."
        ),
    )
    _results: Sequence[FlowResult] | None = PrivateAttr(default=None)

    @classmethod
    def extra_outputs(cls, params: Mapping[str, JsonValue]) -> tuple[OutputTemplate, ...]:
        """Return one output per member of the results that the node declares."""
        members = declared(params.get("outputs"), EACH_STEP_OUTPUTS)
        own = typed_outputs({name: _COLLECTED.get(type_, PortType.DATA) for name, type_ in members.items()})
        return own + super().extra_outputs(params)

    async def produce_extra(self, name: str) -> Any:  # noqa: ANN401 - any port value
        """Return a member of all results: of a failed item its error, where the values are listed."""
        if name == REDUCED:
            return await super().produce_extra(name)
        type_ = declared(cast("JsonValue", self.outputs), EACH_STEP_OUTPUTS)[name]
        subject, members = type(self).__name__, list[Any]()
        for index, result in enumerate(await self.ended()):
            if not result.error:
                members.append(of_result(result.value, name, type_, subject=subject))
            elif type_ not in _COLLECTED:
                members.append(self.shaped(index, result))
        if type_ is PortType.TEXT:
            return "\n\n".join(members)
        if type_ is PortType.TABLE:
            return Table.from_records([row for table in members for row in table.records()])
        return [encode(member, type_) if isinstance(member, BaseModel) else member for member in members]

    @abstractmethod
    async def item(self, index: int) -> Sequence[JsonValue] | None:
        """Return the item of a run as a list of one; None after the last one."""

    def total(self) -> int | None:
        """Return the number of items, where it is known before the last one."""
        return None

    async def ended(self) -> Sequence[FlowResult]:
        """Return the results of all runs."""
        if self._results is None:
            target = target_of(type(self).__name__, self.flow)

            async def next_input(index: int) -> FlowInput | None:
                items = await self.item(index)
                if items is None:
                    return None
                carried = {self.carry: await self._before(index)} if self.carry else {}
                return self._input(target, index, items[0], carried)

            self._results = await self.ctx.flows.run_each(
                target,
                next_input,
                parallel=1 if self.carry else self.parallel,
                stop_on_error=self.on_error == "stop",
                total=self.total(),
            )
        return self._results

    async def _before(self, index: int) -> JsonValue:
        """Return the result of the last item before one that did not fail, or the initial value."""
        for earlier in reversed(range(index)):
            result = await self.ctx.flows.ended(earlier)
            if not result.error:
                return result.value
        return data_of(self.initial)

    def _input(self, target: FlowTarget, index: int, item: JsonValue, carried: Mapping[str, JsonValue]) -> FlowInput:
        text = "" if is_file(item) else text_of(item)
        answered = {self.item_field: item} if self.item_field else item
        require_field(type(self).__name__, "item_field", self.item_field, target)
        require_field(type(self).__name__, "carry", self.carry, target)
        own, files = _members(target, answered) if isinstance(answered, dict) else ({}, ())
        if self.item_template:
            text = filled_template(self.item_template, index, item, subject=type(self).__name__)
        return FlowInput(text, {**answers_of(type(self).__name__, self.answers), **own, **carried}, files)


class ForEach(FlowPerItem, ListItems):
    """Runs a published flow for every item of a list, file, row of a table or line of a text.

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

    with_item: bool = field(
        default=False,
        label="Keep the item's fields",
        help="Each result together with its item: the row's columns, then the result's, or `result`.",
    )
    _listed: list[JsonValue] | None = PrivateAttr(default=None)

    async def item(self, index: int) -> Sequence[JsonValue] | None:
        """Return an item as a list of one."""
        return self._items()[index : index + 1] or None

    def total(self) -> int:
        """Return the number of items."""
        return len(self._items())

    def named(self, index: int) -> dict[str, JsonValue]:
        """Return the item."""
        return {"item": self._items()[index]}

    def shaped(self, index: int, result: FlowResult) -> JsonValue:
        """Return the result, with its item where that is set."""
        value = super().shaped(index, result)
        return with_fields(self._items()[index], value) if self.with_item else value

    def _items(self) -> list[JsonValue]:
        if self._listed is None:
            self._listed = listed_items("ForEach", self.items)
        return self._listed


def is_file(item: JsonValue) -> bool:
    """Return whether an item of a list is a file."""
    return isinstance(item, dict) and set(item) >= {"id", "name", "media_type"}


def _members(target: FlowTarget, item: dict[str, JsonValue]) -> tuple[dict[str, JsonValue], tuple[File, ...]]:
    """Return the answers to the flow's form that an item has, and its files. Fields for files get their ids.

    A file answers the field for files when there is one such field.
    """
    answers = {name: item[name] for name in target.fields if name in item}
    if is_file(item) and len(target.file_fields) == 1:
        answers[target.file_fields[0]] = item
    files = [File.model_validate(item)] if is_file(item) else []
    for name in target.file_fields:
        value = answers.get(name)
        listed = value if isinstance(value, list) else [value]
        if value and all(is_file(file) for file in listed):
            added = [File.model_validate(file) for file in listed]
            ids: list[JsonValue] = [file.id for file in added]
            answers[name] = ids if isinstance(value, list) else ids[0]
            files += added
    return answers, tuple(dict.fromkeys(files))
