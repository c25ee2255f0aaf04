"""Outages of a part that many calls need: one log line when it goes away, one when it is back, with counts."""

import time

from structlog.typing import FilteringBoundLogger


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
