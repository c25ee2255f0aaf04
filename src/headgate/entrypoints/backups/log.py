"""Writes backups into the audit log, which also says when the last one was made."""

import asyncio
from dataclasses import replace

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.entrypoints.backups.archive import Header
from headgate.entrypoints.backups.create import Backup
from headgate.features.access.principal import LOCAL, Actor
from headgate.features.audit.recorder import record
from headgate.features.maintenance.repository import BACKUP_ID
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import HEAD
from headgate.foundation.settings import Settings

SIGNED_OUT = ("user_sessions", "one_time_links")
"""Tables that a restore empties: who was signed out, or used a link, after the backup must not come back with it."""


def record_backup(settings: Settings, backup: Backup, actor: Actor) -> None:
    """Record a backup in the log of the first tenant. A database of an older schema gets no entry."""
    if backup.header.schema == HEAD:
        asyncio.run(_record(settings, backup, actor))


async def _record(settings: Settings, backup: Backup, actor: Actor) -> None:
    database = Database(settings)
    try:
        await record_in(database, backup, actor)
    finally:
        await database.close()


async def record_in(database: Database, backup: Backup, actor: Actor) -> None:
    """Record a backup in an open database of the newest schema."""
    payload = {
        "backup": backup.header.id,
        "file": backup.path.name,
        "archive_bytes": backup.archive_bytes,
        "sealed": backup.sealed,
        "keys": backup.header.keys,
    }
    async with database.writing() as session:
        await record(session, replace(LOCAL, actor=actor), "backup.created", id=BACKUP_ID, payload=payload)


async def record_restore(session: AsyncSession, header: Header, actor: Actor) -> None:
    """Record a restore in the restored database."""
    payload = {"backup": header.id, "created_at": header.created_at, "product_version": header.product_version}
    await record(session, replace(LOCAL, actor=actor), "backup.restored", id=BACKUP_ID, payload=payload)
