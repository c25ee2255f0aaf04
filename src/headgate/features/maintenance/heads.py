"""Writes the end of each tenant's audit log to the server's log, which the owner of the database may not control."""

from headgate.features.files.storage import Storage
from headgate.features.maintenance import repository
from headgate.features.maintenance.outcome import Outcome
from headgate.foundation.database import Database
from headgate.foundation.log import get_logger
from headgate.foundation.settings import RetentionSettings

log = get_logger(__name__)


async def log_audit_heads(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Log one line per tenant, with `noted` in the form of `headgate audit verify --noted`; none when `dry`."""
    if dry:
        return Outcome()
    async with database.reading() as session:
        for head in await repository.audit_heads(session):
            log.info("audit log heads", tenant_id=head.tenant_id, noted=f"{head.seq}:{head.hash}")
    return Outcome()
