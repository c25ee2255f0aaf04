"""Scheduled backups, as a maintenance job."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta

from headgate.entrypoints.backups.content import Progress
from headgate.entrypoints.backups.create import create_backup, new_name
from headgate.entrypoints.backups.log import record_in
from headgate.entrypoints.backups.passphrase import read_passphrase
from headgate.entrypoints.backups.stored import backup_folder, list_backups, prune_backups
from headgate.features.access.principal import SYSTEM
from headgate.features.files.storage import Storage
from headgate.features.maintenance.outcome import Outcome
from headgate.features.maintenance.service import Job
from headgate.foundation.database import Database, now
from headgate.foundation.settings import RetentionSettings, Settings


def backup_jobs(settings: Settings) -> Mapping[str, Job]:
    """The job, where backups are scheduled."""
    every_hours = settings.backup.every_hours
    if every_hours is None:
        return {}

    async def execute(
        database: Database, _storage: Storage, _retention: RetentionSettings, *, dry: bool = False
    ) -> Outcome:
        newest = await asyncio.to_thread(_newest, settings)
        if not dry and (newest is None or now() - newest >= timedelta(hours=every_hours)):
            await _back_up(settings, database)
        return Outcome()

    return {"backup": Job(execute, "Backs up the installation when the newest backup is old enough.")}


async def _back_up(settings: Settings, database: Database) -> None:
    passphrase = read_passphrase(settings, None)
    folder = backup_folder(settings)
    backup = await asyncio.to_thread(
        create_backup,
        settings,
        folder / new_name(),
        passphrase=passphrase,
        with_keys=passphrase is not None,
        progress=Progress(lambda _done, _total: None),
    )
    await record_in(database, backup, SYSTEM)
    await asyncio.to_thread(prune_backups, folder, keep=settings.backup.keep)


def _newest(settings: Settings) -> datetime | None:
    backups = list_backups(backup_folder(settings))
    return backups[0].created_at if backups else None
