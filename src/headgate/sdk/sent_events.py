"""Events that components send and wait for: a name, a correlation value and data."""

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

Deliver = Literal["one", "all"]
"""Whether an event wakes exactly one waiting step, or every one."""


@dataclass(frozen=True, slots=True)
class OutgoingEvent:
    """An event that a step sends to waiting steps of its space."""

    name: str
    correlation: str
    data: JsonValue
    deliver: Deliver = "one"
    keep_seconds: float = 86_400.0
    """How long it is kept for steps that begin to wait later."""


@dataclass(frozen=True, slots=True)
class EventQuery:
    """The event that a step waits for."""

    name: str
    correlation: str
    timeout_seconds: float | None = None
    """None: without limit."""


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """The event that a step received."""

    id: str
    name: str
    correlation: str
    data: JsonValue
    sender: str
    """Name of the user who sent it, or who started the run that sent it."""
    received_at: str
    """When Headgate received it: ISO 8601 in UTC."""
    sha256: str
    """Hash of the canonical JSON of its data."""
