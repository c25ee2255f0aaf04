"""Transitions of runs while the database is away: they are made again until it is back, or for about a minute."""

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
"""Waits between tries: a paid result is not given up lightly."""
log = get_logger(__name__)
_OUTAGE = Outage(log, "database")
"""Of all runs of this process: one line when the database goes away and one when it is back."""


async def patiently(transition: Callable[[], Awaitable[T]]) -> T:
    """Make a transition, again and again while the database is away. None can be made twice."""
    for pause in PAUSES_SECONDS:
        try:
            made = await transition()
        except Unavailable as error:
            _OUTAGE.failed(error.detail)
        else:
            _OUTAGE.answered()
            return made
        await asyncio.sleep(pause)
    return await transition()


class PatientBook:
    """Answered calls in a store that may be away for a while: an answer is paid for and not given up lightly."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call."""
        return await patiently(lambda: self._store.keep_call(key, call))

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """The answered calls of a step."""
        return await patiently(lambda: self._store.calls_of(key, step_id))
