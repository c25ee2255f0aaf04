"""Deletes what has expired: idempotency keys, sent events, occurrences of triggers, and uploads of unsent forms."""

from headgate.features.access.principal import system_principal
from headgate.features.alerts import repository as alerts
from headgate.features.files import repository as file_rows
from headgate.features.files import service as files
from headgate.features.files.storage import Storage
from headgate.features.idempotency import repository as keys
from headgate.features.idempotency.keys import EXPIRY_MICROSECONDS
from headgate.features.maintenance.outcome import Outcome
from headgate.features.runs.sent_events import repository as events
from headgate.features.runs.sent_events.exchange import KEY_MICROSECONDS
from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository as triggers
from headgate.features.triggers.forms import repository as forms
from headgate.features.triggers.hooks.service import SHOWN_SECONDS
from headgate.features.triggers.occurrences import KEPT_MICROSECONDS
from headgate.features.triggers.schedule import SECOND
from headgate.foundation.database import Database, now
from headgate.foundation.settings import RetentionSettings

BATCH = 100


async def delete_expired_keys(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete expired idempotency keys: afterwards the same key starts the work again. `dry` only counts."""
    before = clock() - EXPIRY_MICROSECONDS
    async with database.writing() as session:
        work = keys.count_expired if dry else keys.delete_expired
        return Outcome(keys=await work(session, before))


async def delete_expired_events(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete sent events whose keep time is over; `dry` only counts. Runs keep copies of those that they received."""
    at = clock()
    async with database.writing() as session:
        return Outcome(events=await events.delete_expired(session, at - KEY_MICROSECONDS, at=at, dry=dry))


async def delete_old_occurrences(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete occurrences and settled links older than 90 days, and caught calls; `dry` only counts occurrences.

    One that waits for its run stays.
    """
    async with database.writing() as session:
        if not dry:
            await triggers.clear_caught(session, clock() - SHOWN_SECONDS * SECOND)
            await forms.delete_old_links(session, clock() - KEPT_MICROSECONDS)
        return Outcome(occurrences=await triggers.delete_old(session, clock() - KEPT_MICROSECONDS, dry=dry))


async def delete_old_alerts(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete resolved alerts and finished notices of alerts older than 90 days; `dry` only counts alerts."""
    async with database.writing() as session:
        return Outcome(alerts=await alerts.delete_old(session, clock() - KEPT_MICROSECONDS, dry=dry))


async def delete_unsent_uploads(
    database: Database, storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete files of forms that were not submitted within a day: the record, then the content. `dry` only counts."""
    outcome, before = Outcome(), now()
    while True:
        async with database.writing() as session:
            rows = await file_rows.expired_files(session, before, limit=None if dry else BATCH)
            for row in rows if not dry else ():
                await files.delete_records(session, system_principal(row.tenant_id), [row])
            deleted = [(row.tenant_id, row.id, row.size_bytes) for row in rows]
        for tenant_id, file_id, size in deleted:
            outcome.count(tenant_id, artifacts=1, size=size)
            if not dry:
                await storage.delete(tenant_id, file_id)
        if dry or len(deleted) < BATCH:
            return outcome
