"""Wakes waiting steps when they are due, and ends runs at their deadline, whichever process started them."""

import asyncio
from collections.abc import Awaitable, Callable

from headgate.features.runs.errors import DEADLINE_EXCEEDED
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import RunKey, clock
from headgate.features.runs.waiting import WokenRun

WAKE_SECONDS = 0.5
"""How often the database is asked whether a step is due."""
MOST_WOKEN = 200
"""Steps that are woken in one transaction."""
MOST_QUEUED = 1000
"""Woken runs that wait for a slot in a process before it leaves the others to later, or to other processes."""


async def end_overdue(store: RunStore) -> list[RunKey]:
    """Fail the runs that are past their deadline; of several processes one fails each. Returns their keys."""
    now = clock()
    ended = []
    for run in await store.overdue(now, MOST_WOKEN):
        message = f"The run did not end within its deadline of {run.deadline_after / 1_000_000:g} seconds."
        if await store.end(run.key, DEADLINE_EXCEEDED, message, now, overdue=True):
            ended.append(run.key)
    return ended


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
