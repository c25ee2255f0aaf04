"""The lag of the server's event loop."""

import asyncio
from collections import deque

INTERVAL_SECONDS = 0.25
WINDOW_SECONDS = 10.0


class LoopLag:
    """Measures how late a timer fires, and keeps the maximum of the last ten seconds."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._late: deque[tuple[float, float]] = deque()
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start measuring."""
        self._due = self._loop.time() + INTERVAL_SECONDS
        self._timer = self._loop.call_at(self._due, self._measure)

    def stop(self) -> None:
        """Stop measuring."""
        if self._timer is not None:
            self._timer.cancel()

    def worst(self) -> float:
        """The maximum lag of the last ten seconds, in seconds."""
        oldest = self._loop.time() - WINDOW_SECONDS
        while self._late and self._late[0][0] < oldest:
            self._late.popleft()
        return max((late for _, late in self._late), default=0.0)

    def _measure(self) -> None:
        now = self._loop.time()
        self._late.append((now, max(0.0, now - self._due)))
        self.worst()
        self.start()
