"""How late the event loop of the server is."""

import asyncio
from collections import deque

INTERVAL_SECONDS = 0.25
REMEMBERED_SECONDS = 10.0


class LoopLag:
    """Measures by how much a timer is late, and remembers the worst of the last ten seconds."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._late: deque[tuple[float, float]] = deque()
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to measure."""
        self._due = self._loop.time() + INTERVAL_SECONDS
        self._timer = self._loop.call_at(self._due, self._measure)

    def stop(self) -> None:
        """Measure no more."""
        if self._timer is not None:
            self._timer.cancel()

    def worst(self) -> float:
        """Seconds."""
        oldest = self._loop.time() - REMEMBERED_SECONDS
        while self._late and self._late[0][0] < oldest:
            self._late.popleft()
        return max((late for _, late in self._late), default=0.0)

    def _measure(self) -> None:
        now = self._loop.time()
        self._late.append((now, max(0.0, now - self._due)))
        self.worst()
        self.start()
