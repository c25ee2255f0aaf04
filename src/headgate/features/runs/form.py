"""Validates answers to a form: that which starts a run, and that of an approval.

A form is a closed type: unknown fields are rejected, and each field type has exactly one reader.
"""

import datetime as dt
import math
import mimetypes
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import JsonValue

from headgate.features.runs.errors import InputInvalid
from headgate.graph.contracts import violations
from headgate.graph.json_values import LARGEST_INTEGER, SMALLEST_INTEGER
from headgate.graph.model import FILE_FIELD_TYPES, FormField, FormFieldType
from headgate.graph.names import did_you_mean, listed
from headgate.sdk.values import File

FileOf = Callable[[str], str]
"""Returns the id of the file that a reference in an answer names. Raises for an unknown reference."""


def by_id(reference: str) -> str:
    """Return the reference as the id. Access is checked where the file is read."""
    return reference


def check_form(
    form: Sequence[FormField], answers: Mapping[str, JsonValue], *, file_of: FileOf = by_id
) -> dict[str, JsonValue]:
    """Return the answers in the form's types, without empty ones. Raises `InputInvalid` naming the field.

    Args:
        form: The fields.
        answers: Field id to answer.
        file_of: Resolves a file reference to an id: an id for users of the API, a sealed token for visitors.
    """
    fields = {field.id: field for field in form}
    for name in answers:
        if name not in fields:
            raise InputInvalid(
                f"The form has no field '{name}'{did_you_mean(name, fields) or '.'}",
                remedy=f"Its fields are: {listed(fields)}." if fields else "There is no form; send no answers.",
            )
    checked: dict[str, JsonValue] = {}
    for field in form:
        answer = answers.get(field.id)
        if answer is not None and (field.type == "json" or answer not in ("", [])):
            checked[field.id] = READERS[field.type](field, answer, file_of)
            _check_bounds(field, checked[field.id])
        elif field.required:
            remedy = "Give the id of an uploaded file." if field.type in FILE_FIELD_TYPES else "Answer this field."
            raise InputInvalid(f"The form field '{field.id}' requires an answer.", remedy=remedy)
        if field.type == "checkbox" and field.required and not checked[field.id]:
            raise InputInvalid(f"The form field '{field.id}' must be checked.", remedy="Answer true.")
    return checked


def _check_bounds(field: FormField, answer: JsonValue) -> None:
    """Raise `InputInvalid` for a number, a length or a count of choices outside the bounds of the field."""
    size = len(answer) if isinstance(answer, str | list) else answer
    if not isinstance(size, int | float):
        return
    unit = "" if field.type == "number" else " choices" if field.type == "multiselect" else " characters"
    if field.min is not None and size < field.min:
        raise _wrong(field, f"at least {field.min:g}{unit}")
    if field.max is not None and size > field.max:
        raise _wrong(field, f"at most {field.max:g}{unit}")


def check_files(form: Sequence[FormField], answers: Mapping[str, JsonValue], files: Sequence[File]) -> None:
    """Raise `InputInvalid` naming the field whose file is not of the type that the field declares."""
    files_by_id = {file.id: file for file in files}
    for field in form:
        for file_id in file_ids_in([field], answers):
            file = files_by_id.get(file_id)
            if file is not None and field.type != "file" and not _is_of(file, field.type):
                raise InputInvalid(
                    f"The form field '{field.id}' takes a file of type {field.type}, and '{file.name}' is "
                    f"{_media_type(file) or 'of an unknown type'}.",
                    remedy=f"Choose a file of type {field.type}.",
                )


def _is_of(file: File, media_type: str) -> bool:
    """Whether a file contract of that type accepts the file."""
    described: dict[str, JsonValue] = {"id": file.id, "name": file.name, "media_type": _media_type(file)}
    return not violations({**described, "size": file.size}, {"type": media_type})


def _media_type(file: File) -> str:
    """Return the media type of the upload; guessed from its name when unknown."""
    if file.media_type not in {"", "application/octet-stream"}:
        return file.media_type
    return mimetypes.guess_type(file.name)[0] or file.media_type


def file_ids_in(form: Sequence[FormField], answers: Mapping[str, JsonValue]) -> list[str]:
    """Return the ids of files in the answers to file fields."""
    ids: list[str] = []
    for field in form:
        answer = answers.get(field.id)
        if field.type in FILE_FIELD_TYPES and answer is not None:
            ids += [str(file_id) for file_id in (answer if isinstance(answer, list) else [answer])]
    return ids


def _text(field: FormField, answer: JsonValue, _file_of: FileOf) -> str:
    if not isinstance(answer, str):
        raise _wrong(field, "a text")
    return answer


def _choice(field: FormField, answer: JsonValue, file_of: FileOf) -> str:
    text = _text(field, answer, file_of)
    if text not in field.options:
        raise InputInvalid(
            f"The form field '{field.id}' has no option '{text}'{did_you_mean(text, field.options) or '.'}",
            remedy=f"Its options are: {listed(field.options)}.",
        )
    return text


def _choices(field: FormField, answer: JsonValue, file_of: FileOf) -> JsonValue:
    chosen = [_choice(field, item, file_of) for item in (answer if isinstance(answer, list) else [answer])]
    return [option for option in field.options if option in chosen]


def _checkbox(field: FormField, answer: JsonValue, _file_of: FileOf) -> bool:
    flag = {"true": True, "false": False}.get(answer) if isinstance(answer, str) else answer
    if not isinstance(flag, bool):
        raise _wrong(field, "true or false")
    return flag


def _date(field: FormField, answer: JsonValue, file_of: FileOf) -> str:
    try:
        return dt.date.fromisoformat(_text(field, answer, file_of)).isoformat()
    except ValueError:
        raise _wrong(field, "a date such as 2026-12-31") from None


def _files(field: FormField, answer: JsonValue, file_of: FileOf) -> JsonValue:
    references = answer if isinstance(answer, list) else [answer]
    texts = [reference for reference in references if isinstance(reference, str)]
    if len(texts) < len(references):
        raise _wrong(field, "the id of an uploaded file")
    ids: list[JsonValue] = [file_of(text) for text in texts]
    return ids if isinstance(answer, list) else ids[0]


def _number(field: FormField, answer: JsonValue, _file_of: FileOf) -> int | float:
    if isinstance(answer, str):
        try:
            answer = int(answer) if answer.strip().lstrip("+-").isdigit() else float(answer)
        except ValueError:
            raise _wrong(field, "a number") from None
    if isinstance(answer, bool) or not isinstance(answer, int | float) or not math.isfinite(answer):
        raise _wrong(field, "a number")
    if isinstance(answer, int) and not SMALLEST_INTEGER <= answer <= LARGEST_INTEGER:
        raise _wrong(field, "a number of at most 64 bits")
    return answer


def _wrong(field: FormField, expected: str) -> InputInvalid:
    return InputInvalid(f"The form field '{field.id}' must be {expected}.", remedy="Correct the answer.")


def _json(_field: FormField, answer: JsonValue, _file_of: FileOf) -> JsonValue:
    return answer


READERS: Mapping[FormFieldType, Callable[[FormField, Any, FileOf], JsonValue]] = MappingProxyType(
    {
        "text": _text,
        "long_text": _text,
        "number": _number,
        "select": _choice,
        "multiselect": _choices,
        "checkbox": _checkbox,
        "date": _date,
        "json": _json,
        "image": _files,
        "audio": _files,
        "document": _files,
        "file": _files,
    }
)
"""Reader of the answers of each field type."""
