"""Who started a run: whose workspace its steps work in."""

from headgate.features.runs import repository
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database


class RunStarters:
    """Starters of runs, from the database, each time anew: a user may have been shut out or deleted since."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, key: RunKey) -> str:
        """The user's id; empty when nobody started it, or who did may no longer run the flow."""
        async with self._database.reading() as session:
            return await repository.find_starter(session, key.run_id, tenant_id=key.tenant_id) or ""
