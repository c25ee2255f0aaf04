"""Periodic work of a process: heartbeats and sweeps."""

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
    """Call a function periodically, first after one interval. Its errors do not end the repetition.

    Args:
        work: The function; must not stop, since the process would lose its claims or recover nothing.
        seconds: Pause between the end of one call and the start of the next.
        outage: Logs an unreachable database once.
        stopped: Ends the repetition; without it, cancellation does.
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
    """Wait for an event with a timeout; returns whether it occurred."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False
