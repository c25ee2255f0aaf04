"""When a session was last used: written aside, so that no request waits for it and reads stay reads."""

import asyncio
from datetime import datetime, timedelta

from headgate.features.accounts.sessions import repository
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

log = get_logger(__name__)
EVERY = timedelta(minutes=1)


class Sightings:
    """Writes a session's last use, at most once a minute."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def see(self, session_id: str, *, tenant_id: str, last_seen_at: datetime) -> None:
        """A session was used. Returns at once."""
        at = now()
        if at - last_seen_at < EVERY or session_id in self._tasks:
            return
        task = asyncio.create_task(self._write(session_id, tenant_id, at))
        self._tasks[session_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(session_id, None))

    async def close(self) -> None:
        """Wait until what is being written is written."""
        await asyncio.gather(*self._tasks.values())

    async def _write(self, session_id: str, tenant_id: str, at: datetime) -> None:
        try:
            async with self._database.writing() as session:
                await repository.see_session(session, session_id, tenant_id=tenant_id, at=at)
        except HeadgateError as error:  # the next request tries again
            log.debug("the last use of a session was not written", reason=error.detail)
