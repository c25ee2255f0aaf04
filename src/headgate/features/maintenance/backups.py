"""When the last backup was made, and whether that is too long ago."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.maintenance import repository
from headgate.foundation.database import now
from headgate.foundation.settings import Settings

LATE = 2
"""How many times the interval may pass before a backup is overdue."""


@dataclass(frozen=True, slots=True)
class BackupState:
    """The backups of an installation."""

    last_at: datetime | None
    """When the newest backup was made; None: never, or in an audit log that was replaced."""
    every_hours: float | None
    """Hours between scheduled backups; None: none are scheduled."""
    overdue: bool
    """Whether backups are scheduled, and none was made for twice the interval."""


async def backup_state(session: AsyncSession, settings: Settings) -> BackupState:
    """The last backup, scheduled or manual."""
    last_at, every_hours = await repository.last_backup(session), settings.backup.every_hours
    overdue = every_hours is not None and (last_at is None or now() - last_at > timedelta(hours=LATE * every_hours))
    return BackupState(last_at, every_hours, overdue)
