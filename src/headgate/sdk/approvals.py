"""What a step asks users to approve, and their answer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import orjson
from pydantic import JsonValue, ValidationError

from headgate.graph.model import FILE_FIELD_TYPES, FormField

Outcome = Literal["approve", "reject", "timeout"]
NOTICE_KINDS = ("smtp", "notification")
"""Kinds of connections that send notices of approvals."""
MOST_QUESTIONS = 20
_NO_WORD = re.compile(r"\W+")


def form_fields(items: Sequence[object]) -> tuple[FormField, ...]:
    """Return the form of an approval. A text is the question of a text field. Raises `ValueError` with the reason."""
    if len(items) > MOST_QUESTIONS:
        raise ValueError(f"{len(items)} fields; {MOST_QUESTIONS} is the most.")
    fields: list[FormField] = []
    for item in items:
        values = {"id": _free_id(item, fields), "label": item} if isinstance(item, str) else item
        try:
            fields.append(FormField.model_validate(values))
        except ValidationError as error:
            raise ValueError("; ".join(_problems(error))) from None
    _check_fields(fields)
    return tuple(fields)


def _check_fields(fields: Sequence[FormField]) -> None:
    ids = [member.id for member in fields]
    for member in fields:
        if ids.count(member.id) > 1:
            raise ValueError(f"two fields have the id '{member.id}'.")
        if member.type in FILE_FIELD_TYPES or member.private:
            what = "is private" if member.private else f"has the type {member.type}"
            raise ValueError(f"field '{member.id}' {what}, which only the form that starts a run can have.")


def _problems(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        place = ".".join(str(part) for part in problem["loc"])
        yield f"{place}: {problem['msg']}" if place else problem["msg"].removeprefix("Value error, ")


def _free_id(label: str, taken: Sequence[FormField]) -> str:
    words = _NO_WORD.sub("_", label.lower()).strip("_")[:60]
    stem = words if words and not words[0].isdigit() else f"field_{words}"[:60].rstrip("_")
    ids = {member.id for member in taken}
    names = (stem if number == 1 else f"{stem}_{number}" for number in range(1, len(ids) + 2))
    return next(name for name in names if name not in ids)


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """What users decide on."""

    question: str
    value: JsonValue
    """What will be sent or done, as shown to them."""
    assignees: tuple[str, ...] = ()
    """Email addresses of users and `role:NAME` of the space; empty: every user who may start the flow."""
    needed: int = 1
    """How many users must approve. One rejection is enough."""
    not_starter: bool = False
    """Whether the user who started the run may not decide."""
    questions: tuple[FormField, ...] = ()
    """Form that the user who decides answers."""
    editable: tuple[str, ...] = ()
    """Members of the value that may be changed; `*` is all of them, and a text as a whole."""
    timeout_seconds: float | None = None
    """None: without limit."""
    reminder_seconds: tuple[float, ...] = ()
    """When notices remind of it, after the request."""
    escalation_seconds: float | None = None
    """After how long those of `escalation` may decide too; None: never."""
    escalation: tuple[str, ...] = ()
    """Like `assignees`."""
    notify_url: str = ""
    """Where notices are sent; empty: the address of the space, if it has one."""
    notify_connection: str = ""
    """Name of the connection that sends notices by mail or chat; empty: that of the space, if it has one."""
    notify_language: str = ""
    """Language of notices by mail and chat: en or sv; empty: that of the space, if it has one."""
    tool: str = ""
    """The tool whose call is asked for; empty for other questions. `value` then holds its arguments."""


@dataclass(frozen=True, slots=True)
class ApprovalAnswer:
    """The outcome of an approval."""

    outcome: Outcome
    comment: str = ""
    answers: Mapping[str, JsonValue] = field(default_factory=dict)
    """Id of a form field to its answer."""
    edits: Mapping[str, JsonValue] = field(default_factory=dict)
    """Changed members of the value; `*` is the changed text."""
    decided_by: tuple[str, ...] = ()
    """Names of the users who decided."""


def parse_edit(before: JsonValue, text: str) -> JsonValue:
    """Return a changed member with the type that it had before. Raises `ValueError` with the reason."""
    if before is None or isinstance(before, str):
        return text
    is_scalar = isinstance(before, bool | int | float)
    if not is_scalar:
        raise ValueError("lists and objects cannot be changed here.")
    try:
        value: JsonValue = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    is_flag = isinstance(before, bool)
    fits = isinstance(value, bool) == is_flag and isinstance(value, int | float)
    if not fits:
        raise ValueError("must be true or false." if is_flag else "must be a number, for example 12 or 12.5.")
    return value
