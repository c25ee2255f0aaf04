"""Test cases of a flow: an input, and expectations of the output. Checked without a model."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from headgate.foundation.names import Name
from headgate.graph.expressions import re2
from headgate.graph.json_schema import schema_faults, schema_violations
from headgate.graph.json_values import PlainObject, PlainText, parse_json

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

    @property
    def is_empty(self) -> bool:
        """Return whether only the existence of an output is expected."""
        return not (self.contains or self.excludes or self.matches or self.json_schema) and self.equals is None


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


def misses(expected: Expectation, answer: str) -> list[str]:
    """Return unmet expectations of an output, one line each, to be read after "the answer"; empty when all are met."""
    text = answer.encode(errors="replace").decode().strip()
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
    return lines


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
