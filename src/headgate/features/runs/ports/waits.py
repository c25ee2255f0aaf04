"""Ports for what a step waits for: approvals and events."""

from dataclasses import dataclass
from typing import Protocol

from headgate.features.runs.ports.origin import Origin
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest
from headgate.sdk.sent_events import EventQuery, OutgoingEvent, ReceivedEvent


@dataclass(frozen=True, slots=True)
class Pending:
    """An approval without a decision, or a wait without an event."""

    until: int | None
    """When it times out: microseconds in UTC. None: never."""


class Approvals(Protocol):
    """Decisions of users that steps ask for."""

    async def ask(
        self, origin: Origin, request: ApprovalRequest, *, scope: str = "", classification: int | None = None
    ) -> ApprovalAnswer | Pending:
        """Store the request of a step, or return what was decided on it. Raises `Invalid` for an unknown assignee.

        `scope` is the tool call of the step that asks, the same in each attempt; empty where the step itself asks.
        `classification` is that of what is shown; None without classifications.
        """


@dataclass(frozen=True, slots=True)
class EventReceipt:
    """The event that a step received, and what is known of its data."""

    event: ReceivedEvent
    classification: int | None
    """Classification of the data, where a step sent it and classifications were enabled."""
    outside: tuple[str, ...]
    """Marks of the untrusted content in the data."""


class SentEvents(Protocol):
    """Events that steps send and wait for."""

    async def send(
        self, origin: Origin, event: OutgoingEvent, *, key: str, classification: int | None, outside: tuple[str, ...]
    ) -> str:
        """Send an event once, whichever attempt at the step calls this, and return its id.

        Args:
            origin: The step.
            event: The event.
            key: The same in every attempt at the step.
            classification: Classification of the data; None when classifications are disabled.
            outside: Marks of the untrusted content in the data.

        Raises:
            Invalid: The name or the correlation value is not valid.
            TooLarge: The data is too large.
            RateLimited: The space keeps too many events.
        """

    async def wait(self, origin: Origin, query: EventQuery) -> EventReceipt | Pending | None:
        """Return the event of a step; `Pending` while there is none, None when the time is over. Raises `Invalid`."""
