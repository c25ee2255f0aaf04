"""Outages of a part that many calls need: one log line when it goes away, one when it is back, with counts."""

import logging
import time
from collections.abc import Callable, Iterator

from structlog.typing import FilteringBoundLogger

_LOST = {"OSError", "OperationalError", "RedisError"}
"""Names of errors that say that a connection was lost."""


class Outage:
    """Whether one part answers, as one caller sees it.

    Args:
        log: Where the two lines go.
        part: The part's name in them, such as `broker`.
    """

    def __init__(self, log: FilteringBoundLogger, part: str) -> None:
        self._log = log
        self._part = part
        self._since = 0.0
        self._failures = 0

    def failed(self, error: object) -> None:
        """A call failed because the part is away. Only the first one of an outage is logged."""
        self._failures += 1
        if self._failures == 1:
            self._since = time.monotonic()
            self._log.warning(f"{self._part} is away", problem=str(error))

    def answered(self) -> None:
        """A call succeeded: the outage, if there was one, is over."""
        if self._failures:
            seconds = round(time.monotonic() - self._since, 1)
            self._log.warning(f"{self._part} is back", failed_calls=self._failures, seconds=seconds)
            self._failures = 0


class Repeats(logging.Filter):
    """Condenses what a library logs again and again: one line of a kind a minute, with the number of those left out.

    Lines of one kind come from one place of a program: the values in their text do not matter. A lost connection is no
    fault of the program: it is logged without its trace.

    Args:
        seconds: How long further lines of a kind are left out.
        now: The clock, in seconds.
    """

    def __init__(self, seconds: float = 60.0, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds = seconds
        self._now = now
        self._kinds: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is logged."""
        if record.exc_info and any(_is_lost_connection(one) for one in _chain(record.exc_info[1])):
            record.exc_info = record.exc_text = None
        kind, now = (record.name, str(record.msg)), self._now()
        since, left_out = self._kinds.get(kind, (-self._seconds, 0))
        if now - since < self._seconds:
            self._kinds[kind] = since, left_out + 1
            return False
        self._kinds[kind] = now, 0
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out} more like it were left out)", ()
        return True


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it was raised from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_lost_connection(error: BaseException) -> bool:
    """Whether it is one of the system, of kombu, redis or psycopg, which are not imported for it."""
    return not _LOST.isdisjoint(kind.__name__ for kind in type(error).__mro__)
