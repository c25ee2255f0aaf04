"""Last use of keys and sessions: written in the background, at most once a minute."""

import asyncio

from sqlalchemy import text

from headgate.features.accounts.credentials.credential import Credential, Kind
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
    """Writes last uses. Bound to one event loop.

    Args:
        database: The database of keys and sessions.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writing: dict[str, asyncio.Task[None]] = {}

    def note(self, credential: Credential, address: str | None, at: int) -> None:
        """Record a use, in microseconds since 1970; does nothing when one was written within the minute."""
        if credential.seen_at is not None and at - credential.seen_at < EVERY_MICROSECONDS:
            return
        if credential.id not in self._writing:
            self._writing[credential.id] = asyncio.create_task(self._write(credential, address, at))

    async def close(self) -> None:
        """Wait briefly for pending writes."""
        tasks = tuple(self._writing.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _write(self, credential: Credential, address: str | None, at: int) -> None:
        try:
            async with self._database.writing() as session:
                await session.execute(_WRITE[credential.kind], {"at": at, "address": address, "id": credential.id})
        except HeadgateError as error:
            log.warning("last use not recorded", kind=credential.kind.value, id=credential.id, reason=str(error))
        finally:
            self._writing.pop(credential.id, None)
