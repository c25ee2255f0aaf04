"""What a step asks users to approve, and their answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import orjson
from pydantic import JsonValue

Outcome = Literal["approve", "reject", "timeout"]
NOTICE_KINDS = ("smtp", "notification")
"""Kinds of connections that send notices of approvals."""


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
    questions: tuple[str, ...] = ()
    """Further questions, which the user who decides answers in text."""
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
    answers: Mapping[str, str] = field(default_factory=dict)
    """Question to answer."""
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
