"""Checks whether an answer matches what a session waits for."""

from typing import Any

from headgate.agents.codev.errors import NotWaiting
from headgate.agents.codev.schemas import Resume
from headgate.agents.codev.sessions.repository import PENDING
from headgate.agents.codev.tables import SessionRow
from headgate.foundation.canonical import digest, portable
from headgate.foundation.errors import HeadgateError


def check_waiting(row: SessionRow, answer: Resume) -> None:
    """Raise `NotWaiting` unless the session waits for this answer."""
    if row.status != PENDING or not row.interrupt:
        raise not_waiting(f"The session is not waiting for an answer: it is {row.status.replace('_', ' ')}.")
    if answer.interrupt_id is not None and answer.interrupt_id != row.interrupt["id"]:
        raise not_waiting("The session is waiting for the answer to another interrupt.")
    if answer.response.type != row.interrupt["type"]:
        raise not_waiting(f"The session is waiting for a {row.interrupt['type']}, not a {answer.response.type}.")


def not_waiting(detail: str) -> HeadgateError:
    """Return the error for an answer that does not match."""
    return NotWaiting(detail, remedy="Read the session to see what it is waiting for.")


def is_same_answer(row: SessionRow, answer: Resume, response: dict[str, Any]) -> bool:
    """Whether this answer was given before: a double click or a repeated call."""
    return answer.interrupt_id is not None and row.options.get("answered") == named(answer.interrupt_id, response)


def named(interrupt_id: str, response: dict[str, Any]) -> str:
    """Return an answer in short form."""
    return f"{interrupt_id}:{digest(portable(response))}"
