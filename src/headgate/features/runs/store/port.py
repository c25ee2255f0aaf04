"""The port to the rows of runs: one transaction a transition, the same meaning on every database.

Every write names the states it may start from (`states`) and, for a step, the attempt it belongs to. A write that comes
too late changes nothing and says so. Every transition appends what happened to the event log of its run in the same
transaction: one numbered row for each event, without gaps.
"""

from collections.abc import Sequence
from typing import Protocol

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.runs.answered_calls import AnsweredCall, StoredCall
from headgate.features.runs.event_log import EventPage
from headgate.features.runs.states import RunStatus
from headgate.features.runs.transitions import (
    Cancelled,
    Claim,
    Failed,
    Finished,
    Held,
    Holder,
    Lease,
    LiveRun,
    NewRun,
    Onward,
    PastTurn,
    Progress,
    ReadRun,
    Resumed,
    RunKey,
    StoredRun,
    Straggler,
)


class RunStore(Protocol):
    """Rows of runs, steps and attempts. Raises `Unavailable` when the database is locked, full or gone.

    What makes a run inserts its idempotency key with it. Raises `KeyTaken`; then there is no run.
    """

    async def open(self) -> None:
        """Connect."""
        ...

    async def close(self) -> None:
        """Finish what was asked for and disconnect."""
        ...

    @property
    def write_wait_seconds(self) -> float:
        """How long the write has waited that waits longest for its turn or for a connection; 0 when none does."""
        ...

    async def prove_write(self) -> None:
        """Write something that means nothing, by the way that runs are written. Raises `Unavailable`."""
        ...

    async def create(self, run: NewRun, lease: Lease) -> None:
        """Insert a run and all its steps; claim those it names, with their first attempts.

        A run that reuses results or executes a part of its flow is queued. Its reused results are copied in the
        database; raises `SourceGone` where they are gone, and then there is no run. Its pinned steps are created as
        completed, its excluded ones as skipped. The other steps wait for those that are not settled.
        """
        ...

    async def resume(
        self, key: RunKey, at: int, entry: Entry | None = None, once: StartKey | None = None
    ) -> Resumed | None:
        """Let a failed run go on: it is running, its failed and cancelled steps wait to be claimed again.

        None when the tenant has no such run. Of a run that has not failed, or whose flow is deleted, nothing changes.
        `entry` goes into the audit log when something does, and `once` among the idempotency keys. Raises `KeyTaken`.
        """
        ...

    async def advance(self, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None = None) -> Progress:
        """Complete a step (or none), settle and skip others, claim what may go on, end the run after its last step.

        A run is completed only by a writer who gives its output: of two that settle its last steps at once, neither may
        know it; then the run stays as it is until one has read what the other wrote. A queued run starts. A failed run
        still records the step that finished, and claims nothing. A run whose flow was deleted fails with `flow_deleted`
        in place of claiming.
        """
        ...

    async def fail(self, key: RunKey, failed: Failed, at: int) -> Progress:
        """Fail a step and its run. Other steps stay as they are."""
        ...

    async def take_over(self, key: RunKey, held: Sequence[Holder], lease: Lease) -> tuple[Claim, ...]:
        """Take steps from a dead worker: close the attempts seen, open the next.

        What others took, or its holder renewed since it was seen, is left out. An attempt that is closed ended when its
        lease did: what came after was no work.
        """
        ...

    async def end(self, key: RunKey, code: str, message: str, at: int) -> bool:
        """Fail a run that cannot go on though no step failed. False when it was over already."""
        ...

    async def cancel(self, run_id: str, tenant_id: str, at: int, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run and every step and attempt of it that is not over. None when the tenant has no such run.

        `entry` goes into the audit log when something changes.
        """
        ...

    async def renew(self, held: Sequence[Held], lease: Lease) -> frozenset[Held]:
        """Keep these steps a while longer. Returns those that are still the worker's."""
        ...

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call of a running step. False when the attempt is not the step's any more."""
        ...

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """The answered calls of all attempts at a step, in order."""
        ...

    async def is_cancelled(self, run_id: str) -> bool:
        """Whether no step of the run may have an effect any more; true for a run that is gone."""
        ...

    async def status(self, run_id: str) -> RunStatus | None:
        """Where a run is; None when there is no such run."""
        ...

    async def read(self, run_id: str, tenant_id: str) -> ReadRun | None:
        """A run as it is shown; None when the tenant has no such run."""
        ...

    async def events_after(self, run_id: str, tenant_id: str, seq: int, limit: int) -> EventPage | None:
        """The events of a run behind a number, in order; None when the tenant has no such run."""
        ...

    async def load(self, run_id: str) -> StoredRun | None:
        """A run and its steps."""
        ...

    async def live_runs(self) -> Sequence[LiveRun]:
        """Every run that is not over, oldest first."""
        ...

    async def worked(self, run_id: str, *, since: int, until: int) -> int:
        """Microseconds between two moments in which a worker was at a step of a run: no down time, no waiting."""
        ...

    async def stragglers(self, *, since: int, run_id: str | None = None) -> Sequence[Straggler]:
        """Steps still `running` in runs that failed at `since` or later; of one run where it is named."""
        ...

    async def past_turns(self, key: RunKey, session_id: str, user_id: str | None, limit: int) -> Sequence[PastTurn]:
        """Completed runs of the same flow, person and chat session before this one, oldest first."""
        ...
