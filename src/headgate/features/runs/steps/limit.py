"""The time limit of a step, paused while the step only waits."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class TimeLimit:
    """Cancels the block in its `scope` after this many seconds, pauses excluded."""

    def __init__(self, seconds: float | None = None) -> None:
        self.scope = asyncio.timeout(seconds)
        self._waits = 0
        self._remaining: float | None = None
        self._seconds = seconds

    @property
    def half_over(self) -> bool:
        """Whether half of the time has passed; not during a pause."""
        deadline = self.scope.when()
        if deadline is None or self._seconds is None:
            return False
        return deadline - asyncio.get_running_loop().time() < self._seconds / 2

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause the limit. With several concurrent waits it continues when the last one ends."""
        self._waits += 1
        if self._waits == 1:
            self._pause()
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits and self._remaining is not None and not self.scope.expired():
                self.scope.reschedule(asyncio.get_running_loop().time() + self._remaining)

    def _pause(self) -> None:
        deadline = self.scope.when()
        self._remaining = None if deadline is None else deadline - asyncio.get_running_loop().time()
        if self._remaining is not None and not self.scope.expired():
            self.scope.reschedule(None)
