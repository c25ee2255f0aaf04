"""Starts paid work once for all requests with the same idempotency key."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from headgate.features.idempotency import repository
from headgate.features.idempotency.errors import KeyInProgress, KeyReused
from headgate.features.idempotency.keys import StartKey
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import new_id

RETRY_SECONDS = 5
"""When to ask again for a result that is not there yet."""
Start = Callable[[StartKey | None], Awaitable[str]]
MayRead = Callable[[str], Awaitable[object]]


class StartOnce:
    """One request that starts paid work; without a key it starts it every time.

    Args:
        database: Where keys are; not needed without a key.
        key: The request's key.
        on_replay: Called when the response repeats an earlier one.
    """

    def __init__(
        self,
        database: Database | None = None,
        key: StartKey | None = None,
        on_replay: Callable[[], None] = lambda: None,
    ) -> None:
        self._rows = database
        self._on_replay = on_replay
        self._held = new_id()
        self.key = key
        self.replayed = False
        self.answer: dict[str, Any] = {}
        """What the first response said beyond the resource, where this one repeats it."""

    async def begin(self, start: Start, *, may_read: MayRead) -> str:
        """The id of what was started: by this request, or by the first one with its key.

        Args:
            start: Starts the work and inserts the key in the same transaction; returns the id.
            may_read: Raises unless the caller has read access; asked where another user made the first request.

        Raises `KeyReused`, or what `start` raises.
        """
        found = await self._find()
        if found is None:
            try:
                return await start(self.key)
            except HeadgateError:
                # The first request may have come between: its key is in use, or its work is what stands in the way.
                found = await self._find()
                if found is None:
                    raise
        await self._check(found, may_read)
        self._replay(found)
        return str(found.resource_id)

    async def hold(self, seconds: float) -> dict[str, Any] | None:
        """Reserve the key for work that has no row of its own and takes so many seconds at most.

        The stored result where there is one: the work is done. Raises `KeyReused`, `KeyInProgress`.
        """
        if self.key is None:
            return None
        at = _now()
        async with self._database.writing() as session:
            if await repository.hold(session, self.key, self._held, at, at + int(seconds * 1_000_000)):
                return None
        found = await self._find()
        if found is None:  # released between the two
            raise KeyInProgress(1)
        await self._check(found, _nobody)
        if found.answer is None:
            raise KeyInProgress(RETRY_SECONDS)
        self._replay(found)
        return self.answer

    async def settle(self, answer: Any) -> None:  # noqa: ANN401 - JSON
        """Store the result of held work."""
        if self.key is not None:
            async with self._database.writing() as session:
                await repository.settle(session, self.key, self._held, orjson.dumps(answer).decode())

    async def release(self) -> None:
        """Give the key back where held work ended without a result; once it is settled, nothing happens."""
        if self.key is not None:
            async with self._database.writing() as session:
                await repository.release(session, self.key, self._held)

    @property
    def _database(self) -> Database:
        if self._rows is None:
            raise ValueError("a key needs a database")
        return self._rows

    async def _find(self) -> Any:  # noqa: ANN401 - a row
        if self.key is None:
            return None
        async with self._database.reading() as session:
            return await repository.find(session, self.key, _now())

    async def _check(self, found: Any, may_read: MayRead) -> None:  # noqa: ANN401 - a row
        if self.key is None or found.digest != self.key.digest:
            raise KeyReused
        if found.user_id != self.key.user_id:
            try:
                await may_read(str(found.resource_id))
            except HeadgateError:
                raise KeyReused from None

    def _replay(self, found: Any) -> None:  # noqa: ANN401 - a row
        self.replayed = True
        self.answer = orjson.loads(found.answer) if found.answer is not None else {}
        self._on_replay()


async def _nobody(_resource_id: str) -> None:
    """Held work is its user's alone."""
    raise KeyReused


def _now() -> int:
    return time.time_ns() // 1000
