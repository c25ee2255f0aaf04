"""Groups the embeddings of large knowledge bases for approximate search."""

from headgate.features.files.storage import Storage
from headgate.features.knowledge.index.grouping import tune
from headgate.features.knowledge.index.vectors import is_installed
from headgate.features.maintenance.outcome import Outcome
from headgate.foundation.database import Database
from headgate.foundation.settings import RetentionSettings


async def group_vectors(
    database: Database, _storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Put embeddings of large bases into groups, and measure the recall of searches; `dry` only counts."""
    return Outcome(vectors=await tune(database, dry=dry) if is_installed() else 0)
