"""Users who started runs, whose workspaces the steps use."""

from headgate.features.runs import repository
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database


class RunStarters:
    """Starters of runs, read from the database each time: a user may have been locked or deleted."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, key: RunKey) -> str:
        """Return the user's id; empty when there is none, or the user may no longer run the flow."""
        async with self._database.reading() as session:
            starter = await repository.find_starter(session, key.run_id, tenant_id=key.tenant_id)
        return "" if starter is None else starter[0]

    async def may_start(self, tenant_id: str, user_id: str | None, flow_id: str, *, without_user: bool) -> bool:
        """Return whether a step of a user's run may start another flow."""
        async with self._database.reading() as session:
            return await repository.may_start(session, flow_id, user_id, tenant_id=tenant_id, without_user=without_user)
