"""How long a step may work. While it only waits, its time stands still."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class TimeLimit:
    """Ends the block that it is the `scope` of after some seconds of work."""

    def __init__(self, seconds: float | None = None) -> None:
        self.scope = asyncio.timeout(seconds)
        self._waits = 0
        self._left: float | None = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the time stand still. Of several waits side by side the last to end lets it go on."""
        self._waits += 1
        if self._waits == 1:
            self._pause()
        try:
            yield
        finally:
            self._waits -= 1
            if not self._waits and self._left is not None and not self.scope.expired():
                self.scope.reschedule(asyncio.get_running_loop().time() + self._left)

    def _pause(self) -> None:
        deadline = self.scope.when()
        self._left = None if deadline is None else deadline - asyncio.get_running_loop().time()
        if self._left is not None and not self.scope.expired():
            self.scope.reschedule(None)
