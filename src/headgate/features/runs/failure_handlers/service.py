"""Claims the handlers of failed runs, each once, and records what became of them."""

import asyncio
from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.called import published_flows
from headgate.features.runs.failure_handlers import repository
from headgate.features.runs.failure_handlers.values import FailedRun, HandlerLink, HandlerStatus
from headgate.features.runs.transitions import RunKey, clock
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id

SECOND = 1_000_000
LOOK_BACK = 24 * 3600 * SECOND
"""How long ago a run may have failed whose handler is started after an outage."""
MARGIN = 60 * SECOND
"""How late the end of a run may be visible to others."""
WHOLE_SECONDS = 60.0
"""How often all failures of `LOOK_BACK` are looked through: for those recorded while a clock was wrong."""
MOST_CLAIMED = 50


class FailureHandlers:
    """The handlers of an installation (`ports.FailureHandlers`).

    Args:
        database: The failed runs.
        public_url: Address of the server for links; empty: links are paths.
    """

    def __init__(self, database: Database, public_url: str = "") -> None:
        self._database = database
        self._public_url = public_url.rstrip("/")
        self._seen = 0
        """Failures before this time are handled or claimed, where no clock was set."""
        self._whole_at = 0.0
        """When all failures of `LOOK_BACK` are looked through next, by the monotonic clock."""

    async def claim(self) -> Sequence[FailedRun]:
        """Claim failed runs without a handler, and those that another process claimed and left."""
        now, moment = clock(), asyncio.get_running_loop().time()
        looks_at_all = moment >= self._whole_at
        since = now - LOOK_BACK if looks_at_all else max(self._seen - MARGIN, now - LOOK_BACK)
        async with self._database.reading() as session:
            new = await repository.list_unhandled(session, since=since, limit=MOST_CLAIMED)
            left = await repository.list_left(session, now=now, limit=MOST_CLAIMED)
        claimed = []
        for run_id, tenant_id in (*new, *left):
            async with self._database.writing() as session:
                if (run_id, tenant_id) in left:
                    own = await repository.claim_left(session, run_id, now=now, tenant_id=tenant_id)
                else:
                    own = await repository.claim_new(session, run_id, new_id(), now, tenant_id=tenant_id)
                failed = await self._read(session, run_id, tenant_id=tenant_id) if own else None
            if failed is not None:
                claimed.append(failed)
        if len(new) < MOST_CLAIMED:
            self._seen = now
            if looks_at_all:
                self._whole_at = moment + WHOLE_SECONDS
        return claimed

    async def settle(self, failed: FailedRun, problem: str | None = None) -> None:
        """Record that a handler was started, or why it was not."""
        status = HandlerStatus.STARTED if problem is None else HandlerStatus.REFUSED
        async with self._database.writing() as session:
            await repository.settle_handler(session, failed.key.run_id, status, problem, tenant_id=failed.key.tenant_id)

    async def link(self, tenant_id: str, run_id: str, *, handled: bool) -> HandlerLink | None:
        """Return the handler of a run, or with `handled` the run whose failure this one handles."""
        async with self._database.reading() as session:
            row = await repository.find_handling(session, run_id, tenant_id=tenant_id, handled=handled)
        return None if row is None else HandlerLink(row.run_id, row.flow_id, HandlerStatus(row.status), row.problem)

    async def _read(self, session: AsyncSession, run_id: str, *, tenant_id: str) -> FailedRun | None:
        row = await repository.read_failed(session, run_id, tenant_id=tenant_id)
        if row is None:
            return None
        step_id, attempt = await repository.read_failed_step(session, run_id, tenant_id=tenant_id)
        published = await published_flows(session, tenant_id=tenant_id, space_id=row.space_id)
        target = published.named([(row.error_flow, None)]).get((row.error_flow, None))
        return FailedRun(
            key=RunKey(run_id, tenant_id, row.flow_id, row.version),
            handler_run_id=row.handler_run_id,
            handler=None if target is None else RunKey("", tenant_id, target.flow_id, target.version),
            handler_name=row.error_flow,
            flow_name=row.name,
            user_id=row.user_id,
            visitor=row.visitor,
            code=row.error_code or "",
            message=row.error_message or "",
            step_id=step_id,
            attempt=attempt,
            link=f"{self._public_url}/flows/{row.flow_id}/runs/{run_id}",
            created_at=row.created_at,
        )
