"""Deletes sessions that are long over, and checkpoints of sessions that are not there any more.

What belongs to a space goes with it by the database's own rules; checkpoints are not in that database (ADR 15).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from headgate.agents.codev.sessions import repository
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.agents.codev.tables import SessionRow
from headgate.features.access.principal import system_principal
from headgate.features.audit.recorder import record
from headgate.features.files.storage import Storage
from headgate.features.maintenance.outcome import Outcome
from headgate.features.maintenance.service import Job
from headgate.foundation.database import Database, now
from headgate.foundation.settings import RetentionSettings, Settings

BATCH = 100
_NAME_CHARS = 200


def expiry_of(settings: Settings) -> Job:
    """The job, for an installation."""

    async def execute(
        database: Database, _storage: Storage, retention: RetentionSettings, *, dry: bool = False
    ) -> Outcome:
        outcome, checkpoints = Outcome(), Checkpoints(settings, database)
        try:
            await _delete_expired(database, checkpoints, retention, outcome, dry=dry)
            await _delete_leftovers(database, checkpoints, outcome, dry=dry)
        finally:
            await checkpoints.close()
        return outcome

    return Job(
        execute,
        (
            "Deletes sessions of the development agent older than HEADGATE_RETENTION__SESSION_DAYS, and data "
            "of sessions whose space was deleted."
        ),
    )


async def _delete_expired(
    database: Database, checkpoints: Checkpoints, retention: RetentionSettings, outcome: Outcome, *, dry: bool
) -> None:
    """Delete an expired session, unless it is running or was just answered.

    The row is deleted first, so that nobody can begin to work on it; checkpoints that cannot be deleted now are
    forgotten by the next job.
    """
    only = repository.expired(_ago(retention.session_days), _ago(retention.waiting_session_days))
    after = ""
    while True:
        async with database.reading() as session:
            rows = await repository.find_expired(session, only, after=after, limit=BATCH)
        if not rows:
            return
        after = rows[-1].id
        for row in rows:
            if dry or await _deleted(database, row, only):
                outcome.count(row.tenant_id, sessions=1)
            if not dry:
                await checkpoints.forget(row.id)


async def _deleted(database: Database, row: SessionRow, only: Any) -> bool:  # noqa: ANN401 - a condition
    async with database.writing() as session:
        if not await repository.delete_session(session, row.id, only, SessionRow.worker_id.is_(None)):
            return False
        await record(
            session,
            system_principal(row.tenant_id),
            "codev_session.expired",
            id=row.id,
            name=row.requirement[:_NAME_CHARS],
            space_id=row.space_id,
        )
    return True


async def _delete_leftovers(database: Database, checkpoints: Checkpoints, outcome: Outcome, *, dry: bool) -> None:
    """Delete leftovers of deleted sessions. A session has its row before its first checkpoint."""
    after = ""
    while session_ids := await checkpoints.sessions(after=after, limit=BATCH):
        after = session_ids[-1]
        for session_id in await _deleted_sessions(database, session_ids):
            outcome.sessions += 1
            if not dry:
                await checkpoints.forget(session_id)


async def _deleted_sessions(database: Database, session_ids: Sequence[str]) -> list[str]:
    async with database.reading() as session:
        known = await repository.known_among(session, session_ids)
    return [session_id for session_id in session_ids if session_id not in known]


def _ago(days: int | None) -> datetime | None:
    return now() - timedelta(days=days) if days is not None else None
