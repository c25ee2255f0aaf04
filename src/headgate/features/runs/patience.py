"""Repeats what reads and writes runs while the database is down, for about a minute."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from headgate.features.runs.answered_calls import AnsweredCall, StoredCall
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import RunKey
from headgate.foundation.errors import Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

T = TypeVar("T")
PAUSES_SECONDS = (0.05, 0.2, 0.5, 1, 2, 4, 8, 8, 8, 8, 8, 8)
"""Waits between tries. The schedule is long because a result may have been paid for."""
log = get_logger(__name__)
_OUTAGE = Outage(log, "database")
"""Shared by all runs of this process: one line when the database goes down and one when it is back."""


async def patiently(transition: Callable[[], Awaitable[T]]) -> T:
    """Make a transition, or what a step stores once, again while the database is down: both are idempotent."""
    for pause in PAUSES_SECONDS:
        try:
            result = await transition()
        except Unavailable as error:
            _OUTAGE.failed(error.detail)
        else:
            _OUTAGE.answered()
            return result
        await asyncio.sleep(pause)
    return await transition()


class PatientBook:
    """Store of answered calls that retries while the database is down: answers are paid for."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call."""
        return await patiently(lambda: self._store.keep_call(key, call))

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """Return the answered calls of a step."""
        return await patiently(lambda: self._store.calls_of(key, step_id))
