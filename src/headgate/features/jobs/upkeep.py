"""Periodic work of a process: heartbeats and sweeps."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Any

from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

CANCEL_AGAIN_SECONDS = 5.0
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


async def end(tasks: Collection["asyncio.Task[Any]"]) -> None:
    """Cancel tasks and wait until all have ended.

    Before Python 3.12 `asyncio.wait_for`, which drivers use, may lose a cancellation: it is repeated after a while.
    """
    open_tasks = set(tasks)
    while open_tasks:
        for task in open_tasks:
            task.cancel()
        _, open_tasks = await asyncio.wait(open_tasks, timeout=CANCEL_AGAIN_SECONDS)
    await asyncio.gather(*tasks, return_exceptions=True)  # their errors were logged: nobody else asks for them
