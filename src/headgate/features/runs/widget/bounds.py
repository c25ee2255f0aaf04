"""Limits for visitors: requests per minute, and concurrent open responses.

Counted by network address: reloading the frame creates a new visitor, which anyone can do without limit.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from fastapi import Request

from headgate.features.accounts.addresses import address_of, counted
from headgate.features.accounts.ports import Scope
from headgate.features.runs.widget.errors import TooManyOpen
from headgate.foundation.at_once import AtOnce

EVERYWHERE_TIMES = 10
"""How many times the limit of one address is open to all addresses together."""


class OpenAnswers:
    """Open streams and downloads: each holds a connection, and reads from the database or the storage."""

    def __init__(self, of_one_address: int) -> None:
        self._addresses = AtOnce(of_one_address, TooManyOpen)
        self._all = AtOnce(of_one_address * EVERYWHERE_TIMES, TooManyOpen)

    def __len__(self) -> int:
        return len(self._all)

    @contextmanager
    def held(self, address: str) -> Iterator[None]:
        """Count one more while it lasts. Raises `TooManyOpen`."""
        with self._addresses.held(address), self._all.held(""):
            yield


async def asks(request: Request) -> None:
    """Count one more request. Raises `RateLimited`."""
    await request.app.state.throttle.allow(Scope.WIDGET_ASKED, counted(address_of(request)))


async def begins(flow_id: str, request: Request) -> None:
    """Count one more run or upload. Raises `RateLimited`."""
    await counted_start(request, flow_id)


async def rates(flow_id: str, request: Request) -> None:
    """Count one more rating, apart from runs and uploads. Raises `RateLimited`."""
    await counted_start(request, f"{flow_id}/rated")


async def counted_start(request: Request, subject: str) -> None:
    """Count one more run, upload or rating of a widget or a form, by its id. Raises `RateLimited`."""
    throttle = request.app.state.throttle
    await throttle.allow(Scope.WIDGET_ADDRESS, f"{subject}/{counted(address_of(request))}")
    await throttle.allow(Scope.WIDGET_FLOW, subject)


async def stays_open(request: Request) -> AsyncIterator[None]:
    """Hold a slot for the response until it is sent completely. Raises `TooManyOpen`."""
    open_answers: OpenAnswers = request.app.state.widget_answers
    with open_answers.held(counted(address_of(request))):
        yield
