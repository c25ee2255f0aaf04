"""One line in the log for each run that ends, whichever engine and process ends it."""

from collections.abc import Awaitable
from typing import TypeVar

from headgate.features.audit.chain import Entry
from headgate.features.runs.states import RunStatus
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.store.sqlite import SqliteRunStore
from headgate.features.runs.transitions import Cancelled, Failed, Finished, Lease, Onward, Progress, RunKey
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

T = TypeVar("T", bound=Progress | Cancelled | bool | None)
log = get_logger(__name__)


class LoggedSqliteStore(SqliteRunStore):
    """Runs in SQLite, their ends in the log."""

    async def advance(self, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None = None) -> Progress:
        """Complete, skip, settle and claim."""
        return await _logged(self, key.run_id, key.tenant_id, lease.at, super().advance(key, onward, lease, finished))

    async def fail(self, key: RunKey, failed: Failed, at: int) -> Progress:
        """Fail a step and its run."""
        return await _logged(self, key.run_id, key.tenant_id, at, super().fail(key, failed, at))

    async def end(self, key: RunKey, code: str, message: str, at: int) -> bool:
        """Fail a run from outside."""
        return await _logged(self, key.run_id, key.tenant_id, at, super().end(key, code, message, at))

    async def cancel(self, run_id: str, tenant_id: str, at: int, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run."""
        return await _logged(self, run_id, tenant_id, at, super().cancel(run_id, tenant_id, at, entry))


class LoggedPostgresStore(PostgresRunStore):
    """Runs in PostgreSQL, their ends in the log."""

    async def advance(self, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None = None) -> Progress:
        """Complete, skip, settle and claim."""
        return await _logged(self, key.run_id, key.tenant_id, lease.at, super().advance(key, onward, lease, finished))

    async def fail(self, key: RunKey, failed: Failed, at: int) -> Progress:
        """Fail a step and its run."""
        return await _logged(self, key.run_id, key.tenant_id, at, super().fail(key, failed, at))

    async def end(self, key: RunKey, code: str, message: str, at: int) -> bool:
        """Fail a run from outside."""
        return await _logged(self, key.run_id, key.tenant_id, at, super().end(key, code, message, at))

    async def cancel(self, run_id: str, tenant_id: str, at: int, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run."""
        return await _logged(self, run_id, tenant_id, at, super().cancel(run_id, tenant_id, at, entry))


async def _logged(store: RunStore, run_id: str, tenant_id: str, at: int, transition: Awaitable[T]) -> T:
    """Make a transition; log the run where it is what ended it: its time is the run's."""
    done = await transition
    if _may_have_ended(done):
        try:
            await _log(store, run_id, tenant_id, at)
        except HeadgateError as error:  # the transition is stored; only its line is missing
            log.warning("run ended", run_id=run_id, problem=error.detail)
    return done


def _may_have_ended(done: Progress | Cancelled | bool | None) -> bool:  # noqa: FBT001
    if isinstance(done, Progress):
        return done.recorded and done.status is not None and done.status.over
    return done.changed if isinstance(done, Cancelled) else bool(done)


async def _log(store: RunStore, run_id: str, tenant_id: str, at: int) -> None:
    run = await store.read(run_id, tenant_id)
    if run is None or run.finished_at != at:
        return
    paid = [step for step in run.steps if step.reused_from_run_id is None]
    log.info(
        "run ended",
        run_id=run.id,
        flow_id=run.flow_id,
        version=run.version,
        status=RunStatus(run.status).value,
        duration_ms=None if run.started_at is None else round((at - run.started_at) / 1000),
        steps=len(run.steps),
        tokens=sum((step.num_tokens_input or 0) + (step.num_tokens_output or 0) for step in paid),
        error_code=run.error_code,
    )
