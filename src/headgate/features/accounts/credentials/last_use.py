"""When a key or session was used last: written beside the request, at most once a minute, and never in its way."""

import asyncio

from sqlalchemy import text

from headgate.features.accounts.credentials.found import Found, Kind
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

EVERY_MICROSECONDS = 60_000_000
_CLOSE_SECONDS = 5.0
_WRITE = {
    Kind.KEY: text(
        "UPDATE api_keys SET last_used_at = :at, last_used_address = :address"
        " WHERE id = :id AND (last_used_at IS NULL OR last_used_at < :at)"
    ),
    Kind.SESSION: text(
        "UPDATE user_sessions SET last_seen_at = :at, address = coalesce(:address, address)"
        " WHERE id = :id AND last_seen_at < :at"
    ),
}
log = get_logger(__name__)


class LastUse:
    """Writes last uses. Lives on one event loop.

    Args:
        database: Where keys and sessions are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writing: dict[str, asyncio.Task[None]] = {}

    def note(self, found: Found, address: str | None, at: int) -> None:
        """It is used now, in microseconds since 1970; nothing is done when that was written within the minute."""
        if found.seen_at is not None and at - found.seen_at < EVERY_MICROSECONDS:
            return
        if found.id not in self._writing:
            self._writing[found.id] = asyncio.create_task(self._write(found, address, at))

    async def close(self) -> None:
        """Let what is being written be written, for a moment."""
        tasks = tuple(self._writing.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _write(self, found: Found, address: str | None, at: int) -> None:
        try:
            async with self._database.writing() as session:
                await session.execute(_WRITE[found.kind], {"at": at, "address": address, "id": found.id})
        except HeadgateError as error:
            log.warning("last use not written", kind=found.kind.value, id=found.id, reason=str(error))
        finally:
            self._writing.pop(found.id, None)
