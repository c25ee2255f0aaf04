"""Outages of a dependency: one log line when it becomes unavailable and one with counts when it is available again."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

_LOST = {"OSError", "OperationalError", "RedisError"}
"""Class names of connection errors."""


class Outage:
    """Whether a dependency answers, as seen by one caller.

    Args:
        log: Receives the two log lines.
        part: Name of the dependency in the log, such as `broker`.
    """

    def __init__(self, log: "FilteringBoundLogger", part: str) -> None:
        self._log = log
        self._part = part
        self._since = 0.0
        self._failures = 0

    def failed(self, error: object) -> None:
        """Record a failed call. Only the first failure of an outage is logged."""
        self._failures += 1
        if self._failures == 1:
            self._since = time.monotonic()
            self._log.warning(f"{self._part} is unavailable", problem=str(error))

    def answered(self) -> None:
        """Record a successful call, which ends an outage."""
        if self._failures:
            seconds = round(time.monotonic() - self._since, 1)
            self._log.warning(f"{self._part} is available again", failed_calls=self._failures, seconds=seconds)
            self._failures = 0


class Repeats(logging.Filter):
    """Limits repeated log records to one per minute and kind, with the number of those omitted.

    The kind is the logger and the message template, without its arguments. A message is one line. Connection errors
    are logged without a traceback, also without one in the message.

    Args:
        seconds: How long further records of a kind are omitted.
        now: Monotonic clock, in seconds.
    """

    def __init__(self, seconds: float = 60.0, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds = seconds
        self._now = now
        self._kinds: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the record is logged."""
        kind, now = (record.name, str(record.msg)), self._now()
        lost_connection = record.exc_info and any(_is_lost_connection(error) for error in _chain(record.exc_info[1]))
        if lost_connection:
            record.exc_info = record.exc_text = None
        _make_one_line(record, first_only=bool(lost_connection))
        since, omitted = self._kinds.get(kind, (-self._seconds, 0))
        if now - since < self._seconds:
            self._kinds[kind] = since, omitted + 1
            return False
        self._kinds[kind] = now, 0
        if omitted:
            record.msg, record.args = f"{record.getMessage()} ({omitted} similar records omitted)", ()
        return True


def _make_one_line(record: logging.LogRecord, *, first_only: bool) -> None:
    """Put a message of several lines into one, or keep its first line only."""
    with suppress(TypeError, ValueError):  # arguments that do not fit the template are reported by the handler
        text = record.getMessage()
        if "\n" in text:
            record.msg, record.args = text.partition("\n")[0] if first_only else " ".join(text.split()), ()


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause of that, and so on."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_lost_connection(error: BaseException) -> bool:
    """Whether it is a connection error of the system, kombu, redis or psycopg; by name, to avoid importing them."""
    return not _LOST.isdisjoint(kind.__name__ for kind in type(error).__mro__)
