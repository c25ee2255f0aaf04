"""Limits of concurrent requests, in total and per host, shared fairly by tenant, space and user.

Waiting for a slot does not count as request time.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headgate.foundation.fair_places import FairPlaces, current_share

PER_HOST = 100
IN_ALL = 256


@dataclass(slots=True)
class _Host:
    gate: FairPlaces
    users: int = 0


class RequestSlots:
    """Slots for concurrent requests. Those of a user are assigned in order of arrival.

    Args:
        in_all: Maximum of concurrent requests.
        per_host: Maximum per host, so that a slow server does not use all slots.
    """

    def __init__(self, in_all: int = IN_ALL, per_host: int = PER_HOST) -> None:
        self.in_all = in_all
        self._per_host = per_host
        self._gate = FairPlaces(in_all)
        self._hosts: dict[str, _Host] = {}

    @asynccontextmanager
    async def slot(self, host: str) -> AsyncIterator[None]:
        """Wait for a slot and hold it until the block ends."""
        state = self._hosts.setdefault(host, _Host(FairPlaces(self._per_host)))
        state.users += 1
        try:
            share = current_share()
            async with (
                state.gate.held(share),
                self._gate.held(share),
            ):  # a request that waits for its host holds no slot of the total
                yield
        finally:
            state.users -= 1
            if not state.users:
                self._hosts.pop(host, None)
