"""Starts paid work once for all requests with the same idempotency key."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import orjson
from anyio import CancelScope
from pydantic import BaseModel

from headgate.features.idempotency import repository
from headgate.features.idempotency.errors import KeyInProgress, KeyReused
from headgate.features.idempotency.keys import StartKey
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import new_id

RETRY_SECONDS = 5
"""`Retry-After` of a request whose first one is in progress."""
Result = TypeVar("Result", bound=BaseModel)
Start = Callable[[StartKey | None], Awaitable[str]]
MayRead = Callable[[str], Awaitable[object]]


class StartOnce:
    """A request that starts paid work; without a key it always does.

    Args:
        database: The database of the keys; not needed without a key.
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
        self._resource_id = new_id()
        self.key = key
        self.replayed = False
        self.answer: dict[str, Any] = {}
        """The part of the first response that the resource does not contain; set when it is repeated."""

    async def begin(self, start: Start, *, may_read: MayRead) -> str:
        """Start the work, unless an earlier request with this key did. Returns the id of the resource.

        Args:
            start: Starts the work and inserts the key in the same transaction; returns the id.
            may_read: Raises unless the caller has read access; called when another user sent the first request.

        Raises `KeyReused`, or what `start` raises.
        """
        row = await self._find()
        if row is None:
            try:
                return await start(self.key)
            except HeadgateError:
                # A concurrent request with this key may be the reason: its key, or its work, is the conflict.
                row = await self._find()
                if row is None:
                    raise
        await self._check(row, may_read)
        self._replay(row)
        return str(row.resource_id)

    async def hold(self, seconds: float) -> dict[str, Any] | None:
        """Reserve the key for work without a row that takes at most this many seconds.

        Returns the stored result when the work is done, otherwise None. Raises `KeyReused`, `KeyInProgress`.
        """
        if self.key is None:
            return None
        at = _now()
        async with self._database.writing() as session:
            if await repository.hold(session, self.key, self._resource_id, at, at + int(seconds * 1_000_000)):
                return None
        row = await self._find()
        if row is None:  # released since the insert
            raise KeyInProgress(1)
        await self._check(row, _refuse)
        if row.answer is None:
            raise KeyInProgress(RETRY_SECONDS)
        self._replay(row)
        return self.answer

    async def settle(self, answer: Any) -> None:  # noqa: ANN401 - JSON
        """Store the result of reserved work."""
        if self.key is not None:
            async with self._database.writing() as session:
                await repository.settle(session, self.key, self._resource_id, orjson.dumps(answer).decode())

    @asynccontextmanager
    async def released_on_error(self) -> AsyncIterator[None]:
        """Delete the reservation when the block raises or is cancelled."""
        try:
            yield
        except BaseException:
            with CancelScope(shield=True):
                await self.release()
            raise

    async def perform(self, seconds: float, work: Callable[[], Awaitable[Result]], result: type[Result]) -> Result:
        """Do work of at most so many seconds, or return the stored result of an earlier request with this key.

        Raises `KeyReused`, `KeyInProgress`, or what `work` raises; then the same request starts it again.
        """
        stored = await self.hold(seconds)
        if stored is not None:
            return result.model_validate(stored)
        async with self.released_on_error():
            performed = await work()
            await self.settle(performed.model_dump(mode="json"))
        return performed

    async def release(self) -> None:
        """Delete the reservation of work that ended without a result; no effect after `settle`."""
        if self.key is not None:
            async with self._database.writing() as session:
                await repository.release(session, self.key, self._resource_id)

    @property
    def _database(self) -> Database:
        if self._rows is None:
            raise ValueError("idempotency keys require a database")
        return self._rows

    async def _find(self) -> Any:  # noqa: ANN401 - a row
        if self.key is None:
            return None
        async with self._database.reading() as session:
            return await repository.find(session, self.key, _now())

    async def _check(self, row: Any, may_read: MayRead) -> None:  # noqa: ANN401 - a row
        if self.key is None or row.digest != self.key.digest:
            raise KeyReused
        if row.user_id != self.key.user_id:
            try:
                await may_read(str(row.resource_id))
            except HeadgateError:
                raise KeyReused from None

    def _replay(self, row: Any) -> None:  # noqa: ANN401 - a row
        self.replayed = True
        self.answer = orjson.loads(row.answer) if row.answer is not None else {}
        self._on_replay()


async def _refuse(_resource_id: str) -> None:
    """Reject access by other users: the result of reserved work is visible to its user only."""
    raise KeyReused


def _now() -> int:
    return time.time_ns() // 1000
