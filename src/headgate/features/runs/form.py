"""Answers to a flow's form, checked before a run starts."""

import math
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from headgate.features.runs.errors import InputInvalid
from headgate.graph.model import FormField
from headgate.graph.names import did_you_mean, listed

_FILES = frozenset({"image", "audio", "document", "file"})


def check_form(form: Sequence[FormField], answers: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The answers in the form's types; an empty answer is left out. Raises `InputInvalid` naming the field."""
    known = {field.id: field for field in form}
    for name in answers:
        if name not in known:
            raise InputInvalid(
                f"The form has no field '{name}'{did_you_mean(name, known) or '.'}",
                remedy=f"Its fields are: {listed(known)}." if known else "This flow has no form; send text.",
            )
    found: dict[str, JsonValue] = {}
    for field in form:
        answer = answers.get(field.id)
        if answer not in (None, "", []):
            found[field.id] = _checked(field, answer)
        elif field.required:
            raise InputInvalid(f"The form field '{field.id}' needs an answer.", remedy="Fill it in.")
    return found


def file_ids_in(form: Sequence[FormField], answers: Mapping[str, JsonValue]) -> list[str]:
    """Ids of the files that the answers to file fields name."""
    found: list[str] = []
    for field in form:
        answer = answers.get(field.id)
        if field.type in _FILES and answer is not None:
            found += [str(one) for one in (answer if isinstance(answer, list) else [answer])]
    return found


def _checked(field: FormField, answer: JsonValue) -> JsonValue:
    if field.type == "number":
        return _number(field, answer)
    if field.type in _FILES:
        ids = answer if isinstance(answer, list) else [answer]
        if not all(isinstance(one, str) for one in ids):
            raise _wrong(field, "the id of an uploaded file")
        return answer
    if not isinstance(answer, str):
        raise _wrong(field, "a text")
    if field.type == "select" and answer not in field.options:
        raise InputInvalid(
            f"The form field '{field.id}' has no option '{answer}'{did_you_mean(answer, field.options) or '.'}",
            remedy=f"Its options are: {listed(field.options)}.",
        )
    return answer


def _number(field: FormField, answer: JsonValue) -> int | float:
    if isinstance(answer, str):
        try:
            answer = int(answer) if answer.strip().lstrip("+-").isdigit() else float(answer)
        except ValueError:
            raise _wrong(field, "a number") from None
    if isinstance(answer, bool) or not isinstance(answer, int | float) or not math.isfinite(answer):
        raise _wrong(field, "a number")
    return answer


def _wrong(field: FormField, wanted: str) -> InputInvalid:
    return InputInvalid(f"The form field '{field.id}' must be {wanted}.", remedy="Correct the answer.")
