"""Whether an answer fits what a session waits for."""

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
        raise not_waiting(f"The session does not wait for an answer: it is {row.status.replace('_', ' ')}.")
    if answer.interrupt_id is not None and answer.interrupt_id != row.interrupt["id"]:
        raise not_waiting("The session waits for another answer than this.")
    if answer.response.type != row.interrupt["type"]:
        raise not_waiting(f"The session waits for a {row.interrupt['type']}, not a {answer.response.type}.")


def not_waiting(detail: str) -> HeadgateError:
    """The error for an answer that fits nothing."""
    return NotWaiting(detail, remedy="Read the session to see what it waits for now.")


def is_same_answer(row: SessionRow, answer: Resume, response: dict[str, Any]) -> bool:
    """Whether this answer was given before: a click that was made twice, a call that was repeated."""
    return answer.interrupt_id is not None and row.options.get("answered") == named(answer.interrupt_id, response)


def named(interrupt_id: str, response: dict[str, Any]) -> str:
    """An answer in short."""
    return f"{interrupt_id}:{digest(portable(response))}"
