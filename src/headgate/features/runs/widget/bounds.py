"""What visitors may ask for: how often a minute, and how many answers may be open to them at once.

Counted by network address: whoever loads the frame again is a new visitor, and a stranger can do so without end.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from fastapi import Request

from headgate.features.accounts.addresses import address_of, counted
from headgate.features.accounts.ports import Scope
from headgate.features.runs.widget.errors import TooManyOpen
from headgate.foundation.at_once import AtOnce

EVERYWHERE_TIMES = 10
"""How many times what one address has open at once is open to all."""


class OpenAnswers:
    """Results that are told, files that come and go: each holds a line, and reads from the database or the storage."""

    def __init__(self, of_one_address: int) -> None:
        self._addresses = AtOnce(of_one_address, TooManyOpen)
        self._all = AtOnce(of_one_address * EVERYWHERE_TIMES, TooManyOpen)

    def __len__(self) -> int:
        return len(self._all)

    @contextmanager
    def held(self, address: str) -> Iterator[None]:
        """One more, for as long as it lasts. Raises `TooManyOpen`."""
        with self._addresses.held(address), self._all.held(""):
            yield


async def asks(request: Request) -> None:
    """Count one more request. Raises `RateLimited`."""
    await request.app.state.throttle.allow(Scope.WIDGET_ASKED, counted(address_of(request)))


async def begins(flow_id: str, request: Request) -> None:
    """Count one more run or upload. Raises `RateLimited`."""
    throttle = request.app.state.throttle
    await throttle.allow(Scope.WIDGET_ADDRESS, f"{flow_id}/{counted(address_of(request))}")
    await throttle.allow(Scope.WIDGET_FLOW, flow_id)


async def stays_open(request: Request) -> AsyncIterator[None]:
    """Hold a place for the answer until all of it went. Raises `TooManyOpen`."""
    answers: OpenAnswers = request.app.state.widget_answers
    with answers.held(counted(address_of(request))):
        yield
