"""Deletes occurrences of triggers that are older than 90 days, and caught calls. One that waits for its run stays."""

from headgate.features.files.storage import Storage
from headgate.features.maintenance.outcome import Outcome
from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository
from headgate.features.triggers.hooks.service import SHOWN_SECONDS
from headgate.features.triggers.occurrences import KEPT_MICROSECONDS
from headgate.features.triggers.schedule import SECOND
from headgate.foundation.database import Database
from headgate.foundation.settings import RetentionSettings


async def delete_old_occurrences(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete old occurrences; `dry` only counts. Raises `Unavailable`."""
    async with database.writing() as session:
        if not dry:
            await repository.clear_caught(session, clock() - SHOWN_SECONDS * SECOND)
        return Outcome(occurrences=await repository.delete_old(session, clock() - KEPT_MICROSECONDS, dry=dry))
