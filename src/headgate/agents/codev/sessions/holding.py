"""Has a session that rests to itself for a while: nobody works on it, answers, deletes it or takes its writes back."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from headgate.agents.codev.errors import SessionAtWork, SessionNotFound
from headgate.agents.codev.sessions import repository
from headgate.agents.codev.sessions.repository import IN_PROGRESS, PENDING
from headgate.agents.codev.tables import SessionRow
from headgate.foundation.database import Database, now
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import new_id
from headgate.foundation.log import get_logger

LEASE = timedelta(seconds=30)
"""How long it is held for a process that died; one that lives asks for more."""
_HELD = "held"
log = get_logger(__name__)


def is_at_work(row: SessionRow) -> bool:
    """Whether a process works on it or still ends a write of it, or somebody has it to themselves."""
    leased = row.lease_until is not None and row.lease_until > now()
    if row.status == PENDING:  # a lease is then mostly that of a notice
        return leased and (row.leased_by or "").startswith(_HELD)
    return row.status == IN_PROGRESS or leased


def check_rests(row: SessionRow) -> None:
    """Raise `SessionAtWork` unless the session rests."""
    if is_at_work(row):
        raise SessionAtWork("The session is being worked on.", remedy="Stop it first, or wait until it rests.")


@asynccontextmanager
async def held(
    database: Database,
    session_id: str,
    lease: timedelta = LEASE,
    *only: Any,  # noqa: ANN401 - conditions
) -> AsyncIterator[None]:
    """Have a session to oneself, however long it takes, where `only` holds of it.

    Raises `SessionAtWork`, also where it is not as it has to be any more, and `SessionNotFound`.
    """
    owner = f"{_HELD}-{new_id()[-12:]}"
    async with database.writing() as session:
        found = await session.get(SessionRow, session_id, with_for_update=True, populate_existing=True)
        if found is None:
            raise SessionNotFound(session_id)
        check_rests(found)
        if await repository.change(session, session_id, *only, leased_by=owner, lease_until=now() + lease) is None:
            raise SessionAtWork("The session was worked on meanwhile.", remedy="Read it again.")
    keeping = asyncio.create_task(_keep(database, session_id, owner, lease))
    try:
        yield
    finally:
        keeping.cancel()
        await asyncio.wait([keeping])
        async with database.writing() as session:
            await repository.let_go(session, session_id, owner=owner)


async def _keep(database: Database, session_id: str, owner: str, lease: timedelta) -> None:
    """Keep the lease until cancelled."""
    kept = True
    while kept:
        await asyncio.sleep(lease.total_seconds() / 3)
        try:
            async with database.writing() as session:
                kept = await repository.keep(session, session_id, owner=owner, until=now() + lease)
        except HeadgateError as error:
            log.warning("lease of a session not kept", session_id=session_id, problem=error.detail)
