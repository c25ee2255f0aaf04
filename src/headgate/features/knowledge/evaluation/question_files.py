"""Files of questions: CSV, a JSON list, or a JSON object on each line. Pure."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from headgate.features.knowledge.evaluation.schemas import LONGEST_ANSWER, MOST_EXPECTED, MOST_QUESTIONS
from headgate.features.knowledge.metadata.values import Conditions
from headgate.features.knowledge.metadata.written import conditions_of
from headgate.foundation.errors import Invalid
from headgate.graph.json_values import PlainText, parse_json

COLUMNS = ("question", "documents", "quote", "answer", "filters")
_REMEDY = (
    "Write CSV with the columns question, documents (names, separated by `;`), quote, answer and filters (such as"
    ' `year>=2024;team=sales`); or {"question": "...", "documents": ["name"]} on each line.'
)


class QuestionLine(BaseModel):
    """A question of a file."""

    model_config = ConfigDict(extra="forbid")

    question: PlainText = Field(min_length=1)
    documents: list[PlainText] = Field(min_length=1, max_length=MOST_EXPECTED)
    quote: PlainText = ""
    answer: PlainText = Field(default="", max_length=LONGEST_ANSWER)
    filters: Conditions = []


def read_questions(content: str) -> Sequence[QuestionLine]:
    """Return the questions of a file. Raises `Invalid` with the line that is wrong."""
    text = content.removeprefix("\ufeff").strip()
    entries = _json_entries(text) if text[:1] in {"[", "{"} else _csv_entries(text)
    lines: list[QuestionLine] = []
    for place, entry in entries:
        if len(lines) == MOST_QUESTIONS:
            raise Invalid(f"The file has more than {MOST_QUESTIONS} questions.", remedy="Remove some.")
        try:
            lines.append(QuestionLine.model_validate(entry))
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            member = ".".join(str(part) for part in fault["loc"])
            raise Invalid(f"{place} is no question: {member}: {fault['msg']}.", remedy=_REMEDY) from error
    if not lines:
        raise Invalid("The file has no questions.", remedy=_REMEDY)
    return lines


def _json_entries(text: str) -> Iterator[tuple[str, Any]]:
    if text.startswith("["):
        for number, entry in enumerate(_parsed(text, "The file"), start=1):
            yield f"Question {number}", entry
        return
    for number, line in enumerate(text.split("\n"), start=1):  # texts may have other line separators
        if line.strip():
            yield f"Line {number}", _parsed(line, f"Line {number}")


def _parsed(text: str, place: str) -> Any:  # noqa: ANN401 - JSON
    try:
        return parse_json(text)
    except ValueError as error:
        raise Invalid(f"{place} is not JSON: {error}.", remedy=_REMEDY) from error


def _csv_entries(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    delimiter = ";" if text.partition("\n")[0].count(";") > text.partition("\n")[0].count(",") else ","
    reader = csv.DictReader(io.StringIO(text, newline=None), delimiter=delimiter, restkey="")
    try:
        names = [(name or "").strip().casefold() for name in reader.fieldnames or ()]
        if not {"question", "documents"} <= set(names) or not set(names) <= set(COLUMNS):
            raise Invalid("The first line does not name the columns of a file of questions.", remedy=_REMEDY)
        reader.fieldnames = names
        for row in reader:
            entry: dict[str, Any] = {name: value or "" for name, value in row.items()}
            entry["documents"] = _separated(entry["documents"])
            if "filters" in entry:
                entry["filters"] = conditions_of(_separated(entry["filters"]))
            yield f"Line {reader.line_num}", entry
    except csv.Error as error:
        raise Invalid(f"Line {reader.line_num} is not CSV: {error}.", remedy=_REMEDY) from error


def _separated(value: Any) -> list[str]:  # noqa: ANN401 - a cell
    parts = value.replace("\n", ";").split(";") if isinstance(value, str) else []
    return [part.strip() for part in parts if part.strip()]
