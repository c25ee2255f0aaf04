"""Deletes expired idempotency keys: afterwards the same key starts the work again."""

from headgate.features.files.storage import Storage
from headgate.features.idempotency import repository
from headgate.features.idempotency.keys import EXPIRY_MICROSECONDS
from headgate.features.maintenance.outcome import Outcome
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database
from headgate.foundation.settings import RetentionSettings


async def delete_expired_keys(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete expired keys; `dry` only counts. Raises `Unavailable`."""
    before = clock() - EXPIRY_MICROSECONDS
    async with database.writing() as session:
        work = repository.count_expired if dry else repository.delete_expired
        return Outcome(keys=await work(session, before))
