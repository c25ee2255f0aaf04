"""The component that lets a model select one of several branches."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Self, cast

import orjson
from pydantic import BeforeValidator, JsonValue, PrivateAttr, model_validator

from headgate.components.ai import composed
from headgate.components.chat import ModelStep, model_field, temperature_field, with_temperature
from headgate.components.structured_answer import StructuredAnswer, UnfitAnswer
from headgate.components.switch import OTHERWISE, output_names
from headgate.graph.names import clipped, free_name
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, OutputTemplate
from headgate.sdk import NOT_TAKEN, ComponentError, Data, Model, NotTaken, Table, field
from headgate.sdk.coerce import data_of

FEWEST_LABELS = 2
MOST_LABELS = 50
LONGEST_NAME = 60
LONGEST_DESCRIPTION = 500
DECISION = "decision"


@dataclass(frozen=True, slots=True)
class Label:
    """A label that a model may choose, and when it should."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the model answered, and the output that follows from it."""

    output: str
    label: str | None
    confidence: float


def label_lines(value: object) -> object:
    """Return labels written as text: as JSON, or one per line; a single line without descriptions may use commas."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(value)
    lines = value.splitlines()
    parts = value.split(",") if len(lines) == 1 and ":" not in value else lines
    return [part.strip() for part in parts if part.strip()]


def read_labels(value: object) -> tuple[Label, ...]:
    """Return the labels of `name` or `name: description` texts. Raises `ComponentError` for invalid ones."""
    items = label_lines(value)
    if not isinstance(items, list):
        raise _invalid('Labels are a list such as ["refund: asks for money back", "other question"].')
    labels = tuple(_label(item) for item in items)
    if not FEWEST_LABELS <= len(labels) <= MOST_LABELS:
        raise _invalid(f"It has {len(labels)} labels; {FEWEST_LABELS} to {MOST_LABELS} are possible.")
    names = [label.name.casefold() for label in labels]
    twice = next((label for label in labels if names.count(label.name.casefold()) > 1), None)
    if twice is not None:
        raise _invalid(f"The label '{twice.name}' is there more than once.")
    return labels


class Classify(ModelStep):
    """A model chooses one of several labels for a value; the value continues unchanged on the output of that label.

    `otherwise` is taken when the model names no label or is not confident enough. To compare without a model, use
    Switch.
    """

    label = "Classify"
    category = "ai"
    icon = "waypoints"
    keywords = (
        "classify", "classification", "classifier", "route", "router", "routing", "triage", "categorise", "categorize",
        "category", "label", "labels", "sort", "sort mails", "intent", "topic", "sentiment", "branch", "decide",
        "dispatch", "confidence", "department", "kind",
    )  # fmt: skip

    model: Model = model_field()
    value: str | Data | Table = field(label="Value", help="The value to classify and pass on.", main=True)
    labels: Annotated[list[str], BeforeValidator(label_lines)] = field(
        label="Labels",
        help="One output per label, each as label: when it applies. For example, refund: asks for money back.",
        port=False,
        interpolate=False,
        schema={
            "type": "array",
            "items": {"type": "string"},
            "minItems": FEWEST_LABELS,
            "maxItems": MOST_LABELS,
        },
    )
    instructions: str = field(
        default="",
        label="Instructions",
        help="What to base the choice on, beyond the descriptions of the labels.",
        kind=FieldKind.MULTILINE,
        port=False,
        max_length=20_000,
    )
    min_confidence: float = field(
        default=0.5,
        label="Minimum confidence",
        help="0 to 1, as the model estimates it; below it the value continues on otherwise.",
        ge=0,
        le=1,
    )
    temperature: float | None = temperature_field()
    _labels: tuple[Label, ...] = PrivateAttr(default=())
    _choice: Choice | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _check(self) -> Self:
        self._labels = read_labels(self.labels)
        return self

    @classmethod
    def extra_outputs(cls, params: Mapping[str, JsonValue]) -> tuple[OutputTemplate, ...]:
        """Return one branch per label, then `otherwise` and the decision."""
        labels = _valid_labels(params.get("labels"))
        branches = [
            OutputTemplate(
                name=name,
                type=PortType.DATA,
                label=clipped(label.name),
                help=f"The value, when it is {clipped(label.name)}.",
                branch=True,
            )
            for label, name in zip(labels, label_outputs(labels), strict=True)
        ]
        otherwise = OutputTemplate(
            name=OTHERWISE,
            type=PortType.DATA,
            label="Otherwise",
            help="The value, when no label fits or the confidence is too low.",
            branch=True,
        )
        decision = OutputTemplate(
            name=DECISION,
            type=PortType.DATA,
            label="Decision",
            help="label, confidence and the output taken.",
        )
        return (*branches, otherwise, decision)

    async def produce_extra(self, name: str) -> Data | NotTaken:
        """Return the value on the selected branch, `NOT_TAKEN` on the others; the model is called once per step."""
        if self._choice is None:
            self._choice = await self._choose()
        if name == DECISION:
            choice = self._choice
            return {"label": choice.label, "confidence": choice.confidence, "output": choice.output}
        return data_of(self.value) if name == self._choice.output else NOT_TAKEN

    async def _choose(self) -> Choice:
        model = with_temperature(self.model, self.temperature)
        none = free_name("none_of_these", [label.name for label in self._labels])
        prompt = composed(self._question(none), self.value, as_json=False, marks=self.ctx.outside("value"))
        answering = StructuredAnswer(self.ctx, model, subject="Classify")
        try:
            answer = await answering.ask(prompt, _schema(self._labels, none))
        except UnfitAnswer as error:
            if not isinstance(error.value, dict) or not isinstance(error.value.get("label"), str):
                raise
            self.ctx.log(f"The model named a label that does not exist: {clipped(str(error.value['label']), 100)}.")
            return Choice(OTHERWISE, None, 0.0)
        choice = self._choice_of(cast("dict[str, JsonValue]", answer))
        self.ctx.log("Classified.", label=choice.label, confidence=choice.confidence, output=choice.output)
        return choice

    def _choice_of(self, answer: Mapping[str, JsonValue]) -> Choice:
        """Return the choice of a validated answer."""
        confidence = float(cast("float", answer["confidence"]))
        outputs = dict(zip((label.name for label in self._labels), label_outputs(self._labels), strict=True))
        name = str(answer["label"])
        if name not in outputs:
            return Choice(OTHERWISE, None, confidence)
        return Choice(outputs[name] if confidence >= self.min_confidence else OTHERWISE, name, confidence)

    def _question(self, none: str) -> str:
        lines = [
            f"- {label.name}: {label.description}" if label.description else f"- {label.name}" for label in self._labels
        ]
        parts = [
            "Choose the one label that describes the input best.",
            "Labels:\n" + "\n".join(lines),
            f"Answer {none} when no label fits. confidence is your certainty from 0 (a guess) to 1 (certain).",
            self.instructions.strip(),
        ]
        return "\n\n".join(part for part in parts if part)


def label_outputs(labels: Sequence[Label]) -> list[str]:
    """Return the output name of each label: `Refund request` is `refund_request`."""
    return output_names([label.name for label in labels], reserved=(DECISION,))


def _schema(labels: Sequence[Label], none: str) -> dict[str, JsonValue]:
    names: list[JsonValue] = [*(label.name for label in labels), none]
    return {
        "type": "object",
        "properties": {
            "label": {"type": "string", "enum": names},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["label", "confidence"],
        "additionalProperties": False,
    }


def _label(item: object) -> Label:
    if not isinstance(item, str):
        raise _invalid("Each label is a text: its name, or its name, a colon and when it applies.")
    name, _, description = (part.strip() for part in item.partition(":"))
    if not name:
        raise _invalid("A label has no name.")
    if len(name) > LONGEST_NAME:
        raise _invalid(f"The label '{clipped(name)}' has more than {LONGEST_NAME} characters.")
    if len(description) > LONGEST_DESCRIPTION:
        raise _invalid(f"The description of '{name}' has more than {LONGEST_DESCRIPTION} characters.")
    return Label(name, description)


def _valid_labels(value: object) -> tuple[Label, ...]:
    """Return what is valid of a node's labels, whatever their type: the canvas shows outputs while they are written."""
    items = label_lines(value)
    labels: dict[str, Label] = {}
    for item in items if isinstance(items, list) else ():
        with suppress(ComponentError):
            label = _label(item)
            labels.setdefault(label.name.casefold(), label)
    return tuple(labels.values())[:MOST_LABELS]


def _invalid(detail: str) -> ComponentError:
    return ComponentError(
        f"Classify: {detail}",
        remedy=f"Give {FEWEST_LABELS} to {MOST_LABELS} different labels, each as name: when it applies.",
        field="labels",
    )
