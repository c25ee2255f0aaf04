"""Test cases of a flow: an input, and expectations of the output. Checked by rule, unless a case names a model."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from headgate.foundation.names import Name
from headgate.graph.expressions import re2
from headgate.graph.json_schema import schema_faults, schema_violations
from headgate.graph.json_values import PlainObject, PlainText, parse_json
from headgate.graph.statements import NO_ANSWER, UNSUPPORTED, difference

MOST_CASES = 50
_SHOWN = 200
FileId = Annotated[PlainText, Field(min_length=1, max_length=36)]
_Sought = Annotated[PlainText, Field(min_length=1, max_length=20_000)]


class Expectation(BaseModel):
    """Expectations of a flow's output text. All set expectations must hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    contains: list[_Sought] = Field(
        default_factory=list, max_length=20, description=("Texts that the answer contains, ignoring case.")
    )
    excludes: list[_Sought] = Field(
        default_factory=list, max_length=20, description=("Texts that the answer does not contain.")
    )
    equals: PlainText | None = Field(
        default=None, max_length=100_000, description="The complete answer, ignoring white space at its ends."
    )
    matches: PlainText | None = Field(
        default=None, max_length=1000, description=("An RE2 expression that matches somewhere in the answer.")
    )
    json_schema: PlainObject | None = Field(
        default=None,
        description=("JSON Schema, in the subset that contracts support, that the answer satisfies as JSON."),
    )
    reference: PlainText | None = Field(
        default=None,
        min_length=1,
        max_length=20_000,
        description=(
            "A correct answer. The answer has all of its numbers and at least half of its words; with `judge_model`,"
            " the model decides whether it states the same."
        ),
    )
    documents: list[_Sought] = Field(
        default_factory=list,
        max_length=20,
        description="Names of documents of knowledge bases of which the run received a passage each.",
    )
    supported: bool = Field(
        default=False,
        description=(
            "Whether passages must support the answer: no sentence of it is marked as unsupported. A flow whose answer"
            " `AnswerFromKnowledge` did not check fails: that is not checkable."
        ),
    )
    criterion: PlainText | None = Field(
        default=None, min_length=1, max_length=2_000, description="What `judge_model` judges the answer by."
    )
    judge_model: str = Field(
        default="",
        max_length=250,
        pattern=r"^([^\s/\x00][^/\x00]*/[^\s\x00][^\x00]*)?$",
        description="Chat model that judges the answer by `reference` and `criterion`, as `provider/name`.",
    )

    @field_validator("matches")
    @classmethod
    def _can_be_compiled(cls, expression: str | None) -> str | None:
        if expression is not None:
            _compiled(expression)
        return expression

    @field_validator("json_schema")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, JsonValue] | None) -> dict[str, JsonValue] | None:
        fault = next(schema_faults(schema), None) if schema is not None else None
        if fault is not None:
            raise ValueError(str(fault))
        return schema

    @model_validator(mode="after")
    def _has_a_judge(self) -> Self:
        if self.criterion is not None and not self.judge_model:
            raise ValueError("a criterion needs a judge_model, which judges the answer by it")
        if self.judge_model and self.criterion is None and self.reference is None:
            raise ValueError("a judge_model needs a reference or a criterion to judge the answer by")
        return self

    @property
    def needs_evidence(self) -> bool:
        """Return whether it takes more than the text of the answer: what the run read, or a model."""
        return bool(self.documents or self.judge_model or self.supported)

    @property
    def is_empty(self) -> bool:
        """Return whether only the existence of an output is expected."""
        by_text = self.contains or self.excludes or self.matches or self.json_schema or self.reference
        return not (by_text or self.documents or self.supported or self.criterion) and self.equals is None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run returned: its answer, and what expectations need to know of it."""

    answer: str
    documents: Collection[str] = ()
    """Names of the documents that it received passages of."""
    checked: bool = True
    """Whether a step compared the sentences of an answer with the passages that they cite."""
    objection: str = ""
    """Why the model of the case judged the answer as wrong; empty: it did not."""


class TestCase(BaseModel):
    """One input, and the expected output."""

    __test__ = False
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name = Field(max_length=100)
    text: PlainText = Field(default="", max_length=100_000, description="The text input.")
    form: PlainObject = Field(default_factory=dict, description="Answers to the flow's form, by field id.")
    file_ids: list[FileId] = Field(
        default_factory=list, max_length=20, description="Ids of uploaded files, in addition to the text."
    )
    expect: Expectation = Expectation()


def misses(expected: Expectation, outcome: Outcome) -> list[str]:
    """Return unmet expectations of an output, one line each, to be read after "the answer"; empty when all are met."""
    text = outcome.answer.encode(errors="replace").decode().strip()
    folded = text.casefold()
    lines = [f"does not contain {_clipped(text)}" for text in expected.contains if text.casefold() not in folded]
    lines += [f"contains {_clipped(text)}" for text in expected.excludes if text.casefold() in folded]
    if expected.equals is not None and text != expected.equals.strip():
        lines.append(f"is not {_clipped(expected.equals.strip())}")
    if expected.matches is not None and _compiled(expected.matches).search(text) is None:
        lines.append(f"does not match {_clipped(expected.matches)}")
    if expected.json_schema is not None:
        lines += _against(expected.json_schema, text)
    if expected.is_empty and not text:
        lines.append("is empty")
    return lines + _grounding_misses(expected, text, outcome)


def _grounding_misses(expected: Expectation, text: str, outcome: Outcome) -> list[str]:
    """Return unmet expectations of what the answer states, and of what it is based on."""
    lines = [
        f"is based on no passage of {_clipped(name)}" for name in expected.documents if name not in outcome.documents
    ]
    if expected.supported and not outcome.checked:
        lines.append("is not checkable for support: no step AnswerFromKnowledge of the flow wrote it")
    elif expected.supported and (not text or NO_ANSWER in text):
        lines.append("is not supported by any passage")
    elif expected.supported and UNSUPPORTED in text:
        lines.append("has sentences that no passage supports")
    if expected.reference is not None and not expected.judge_model:
        lacking = difference(expected.reference, text)
        lines += [f"lacks {lacking} of the reference answer"] if lacking else []
    return [*lines, f"was judged as wrong: {outcome.objection}"] if outcome.objection else lines


def _clipped(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _compiled(expression: str) -> Any:  # noqa: ANN401 - re2 has no types
    module = re2()
    options = module.Options()
    options.log_errors = False
    try:
        return module.compile(expression, options)
    except module.error as error:
        raise ValueError(f"not a valid expression: {error}") from None


def _against(schema: dict[str, JsonValue], answer: str) -> list[str]:
    try:
        value = parse_json(answer)
    except ValueError:
        return ["is not JSON"]
    return [f"does not satisfy its schema: {violation}" for violation in schema_violations(value, schema)]
