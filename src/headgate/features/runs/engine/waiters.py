"""Waiters in this process for the end of a run."""

import asyncio
from contextlib import suppress


class Waiters:
    """Futures by run id; runs without waiters take no memory."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    async def wait(self, run_id: str, seconds: float | None) -> None:
        """Wait until the run is woken or the timeout in seconds; None: no timeout."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(run_id, [])
        waiting.append(waiter)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(waiter, seconds)
        finally:
            waiting.remove(waiter)
            if not waiting and self._waiting.get(run_id) is waiting:
                del self._waiting[run_id]

    def wake(self, run_id: str) -> None:
        """Wake all waiters of a run."""
        for waiter in self._waiting.pop(run_id, ()):
            if not waiter.done():
                waiter.set_result(None)

    def wake_all(self) -> None:
        """Wake all waiters."""
        for run_id in list(self._waiting):
            self.wake(run_id)
