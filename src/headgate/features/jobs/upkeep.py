"""Work that a process repeats for as long as it lives: its heartbeats and its sweeps."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

log = get_logger(__name__)


async def repeat(
    work: Callable[[], Awaitable[object]], seconds: float, outage: Outage, *, stopped: asyncio.Event | None = None
) -> None:
    """Do something every so many seconds, the first time after the first pause. No error of it ends the repetition.

    Args:
        work: Is done; or else a process would lose every claim that it has, or recover nothing any more.
        seconds: Between the end of one time and the beginning of the next.
        outage: Logs that the database is away, once.
        stopped: Ends it; without one it continues until it is cancelled.
    """
    stopped = stopped or asyncio.Event()
    while not await waited(stopped, seconds):
        try:
            await work()
            outage.answered()
        except HeadgateError as error:
            outage.failed(error.detail)
        except Exception:
            log.exception("upkeep failed")


async def waited(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, at most so many seconds; whether it came."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False
