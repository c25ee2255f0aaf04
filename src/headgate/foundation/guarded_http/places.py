"""How many requests are under way at once, in all and to one host. Waiting for a place is not request time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

PER_HOST = 100
IN_ALL = 256


@dataclass(slots=True)
class _Host:
    gate: asyncio.Semaphore
    users: int = 0


class Places:
    """Places for requests, given in the order in which they were asked for.

    Args:
        in_all: Most requests under way.
        per_host: Most of them to one host: a slow server leaves places for the others.
    """

    def __init__(self, in_all: int = IN_ALL, per_host: int = PER_HOST) -> None:
        self.in_all = in_all
        self._per_host = per_host
        self._gate = asyncio.Semaphore(in_all)
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def place(self, host: str) -> AsyncIterator[None]:
        """Wait for a place, and hold it until the block ends."""
        found = self._hosts.setdefault(host, _Host(asyncio.Semaphore(self._per_host)))
        found.users += 1
        try:
            async with found.gate, self._gate:  # a request that waits for its host takes no place from others
                yield
        finally:
            found.users -= 1
            if not found.users:
                self._hosts.pop(host, None)
