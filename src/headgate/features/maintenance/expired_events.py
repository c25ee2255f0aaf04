"""Deletes sent events whose keep time is over. Steps that received one have a copy, which stays with their run."""

from headgate.features.files.storage import Storage
from headgate.features.maintenance.outcome import Outcome
from headgate.features.runs.sent_events import repository
from headgate.features.runs.sent_events.exchange import KEY_MICROSECONDS
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database
from headgate.foundation.settings import RetentionSettings


async def delete_expired_events(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete expired events; `dry` only counts. Raises `Unavailable`."""
    at = clock()
    async with database.writing() as session:
        return Outcome(events=await repository.delete_expired(session, at - KEY_MICROSECONDS, at=at, dry=dry))
