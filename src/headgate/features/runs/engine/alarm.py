"""Wakes waiting steps when they are due, whichever process suspended them."""

import asyncio
from collections.abc import Awaitable, Callable

from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import clock
from headgate.features.runs.waiting import WokenRun

WAKE_SECONDS = 0.5
"""How often the database is asked whether a step is due."""
MOST_WOKEN = 200
"""Steps that are woken in one transaction."""
MOST_QUEUED = 1000
"""Woken runs that wait for a slot in a process before it leaves the others to later, or to other processes."""


async def wake_due(
    store: RunStore,
    proceed: Callable[[WokenRun], Awaitable[None]],
    room: Callable[[], int] = lambda: MOST_QUEUED,
) -> int:
    """Wake all steps that are due, as far as there is room, and continue their runs. Returns how many runs.

    Args:
        store: The rows.
        proceed: Continues a run of which steps were woken.
        room: How many more runs this process may take now.
    """
    count = 0
    due = await store.next_due()
    while due is not None and due <= clock() and room() > 0:
        woken = await store.wake(clock(), min(MOST_WOKEN, room()))
        for run in woken:
            await proceed(run)
        count += len(woken)
        if not woken:  # another process wakes them
            break
        due = await store.next_due()
        await asyncio.sleep(0)
    return count
