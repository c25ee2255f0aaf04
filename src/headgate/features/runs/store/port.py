"""The port to the storage of runs: one transaction per transition, the same semantics on every database.

Every write names the states it may start from (`states`) and, for a step, the attempt it belongs to. A write that comes
too late changes nothing and reports that. Every transition appends its events to the event log of its run in the same
transaction: one numbered row per event, without gaps.
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
    ChildRun,
    ChildStates,
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
from headgate.features.runs.waiting import OverdueRun, Paused, RunWait, Suspension, WokenRun


class RunStore(Protocol):
    """Storage of runs, steps and attempts. Raises `Unavailable` when the database is locked, full or down.

    Methods that create a run insert its idempotency key with it. Raises `KeyTaken`; then no run is stored.
    """

    async def open(self) -> None:
        """Connect."""

    async def close(self) -> None:
        """Complete pending writes and disconnect."""

    @property
    def write_wait_seconds(self) -> float:
        """Age of the oldest write that waits for its turn or for a connection; 0 without one."""

    async def prove_write(self) -> None:
        """Make a test write in the same way as writes of runs. Raises `Unavailable`."""

    async def create(self, run: NewRun, lease: Lease) -> None:
        """Insert a run and all its steps; claim the named ones, with their first attempts.

        A run that reuses results or executes a part of its flow is queued. Its reused results are copied in the
        database; raises `SourceGone` when they no longer exist, and then no run is stored. Its pinned steps are created
        as completed, its excluded ones as skipped. The other steps wait for those that are not settled. Raises
        `ParentGone` for a run of a step whose attempt is not the current one, `ParentPaused` where its run is paused.
        """

    async def resume(
        self, key: RunKey, at: int, entry: Entry | None = None, once: StartKey | None = None
    ) -> Resumed | None:
        """Resume a failed run: its status is running, its failed and cancelled steps wait to be claimed again.

        Returns None when the tenant has no such run. A run that has not failed, or whose flow is deleted, does not
        change. On a change, `entry` is added to the audit log, and `once` to the idempotency keys. Raises `KeyTaken`.
        """

    async def advance(self, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None = None) -> Progress:
        """Complete a step (or none), settle and skip others, claim ready ones, end the run after its last step.

        The end of a run that a step started makes that step due, in the same transaction, as in `fail`, `end` and
        `cancel`. Only a writer that provides the run's output completes it: when two settle its last steps
        concurrently, neither may know that; then the run remains unchanged until one has read what the other wrote. A
        queued run starts. A failed run still records the step that finished, and claims nothing. A run whose flow was
        deleted fails with `flow_deleted` instead of claiming.
        """

    async def fail(self, key: RunKey, failed: Failed, at: int) -> Progress:
        """Fail a step and its run. Other steps do not change."""

    async def suspend(self, key: RunKey, suspension: Suspension, lease: Lease) -> bool:
        """End the attempt of a step that waits; its run waits too when no other step runs or can be claimed.

        A step of a run that has failed meanwhile is cancelled: a resume starts it again. False when the attempt is not
        the step's any more.
        """

    async def rest(self, key: RunKey, at: int) -> bool:
        """Let a running run wait of which a step waits and no other runs or can be claimed."""

    async def next_due(self) -> int | None:
        """Return when the next waiting step is due; None when no step waits."""

    async def wake(self, at: int, limit: int, *, run_id: str | None = None) -> Sequence[WokenRun]:
        """Wake steps that are due, those first that are due longest: they can be claimed, and their runs are running.

        Of several processes one wakes a step. A step of a run that is over is cancelled; one of a paused run is due
        again when its run continues.
        """

    async def pause(self, key: RunKey, at: int, entry: Entry | None = None) -> Paused | None:
        """Pause a run that is not over, and the runs that its steps started: no step of them is claimed or woken.

        Running steps finish. Returns None when the tenant has no such run. On a change, `entry` is added to the audit
        log.
        """

    async def unpause(self, key: RunKey, at: int, entry: Entry | None = None) -> Paused | None:
        """Continue a paused run, and the paused runs that its steps started: steps that were due meanwhile are due now.

        Time limits of its steps are later by the duration of the pause. Returns None when the tenant has no such run.
        On a change, `entry` is added to the audit log.
        """

    async def take_over(self, key: RunKey, holders: Sequence[Holder], lease: Lease) -> tuple[Claim, ...]:
        """Recover steps from a dead worker: close the given attempts, open the next ones.

        Skips steps that others claimed, or whose holder has renewed its lease since. A closed attempt ends with its
        lease: later work does not count.
        """

    async def end(self, key: RunKey, code: str, message: str, at: int, *, overdue: bool = False) -> bool:
        """Fail a run for a reason outside its steps. Returns False when it was already over.

        With `overdue` only one that is past its deadline and not paused.
        """

    async def overdue(self, at: int, limit: int) -> Sequence[OverdueRun]:
        """Return runs that are past their deadline, those first that are past it longest; no paused ones."""

    async def cancel(self, run_id: str, tenant_id: str, at: int, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run and all of its unfinished steps and attempts. Returns None when the tenant has no such run.

        Runs that its steps started are cancelled in the same transaction. On a change, `entry` is added to the
        audit log.
        """

    async def renew(self, held_steps: Sequence[Held], lease: Lease) -> frozenset[Held]:
        """Extend the leases of these steps. Returns those that the worker still holds."""

    async def keep_call(self, key: RunKey, call: AnsweredCall) -> bool:
        """Store an answered call of a running step. Returns False when the attempt is outdated."""

    async def calls_of(self, key: RunKey, step_id: str) -> Sequence[StoredCall]:
        """Return the answered calls of all attempts at a step, in order."""

    async def is_cancelled(self, run_id: str) -> bool:
        """Whether steps of the run must have no further effect; true for a run that does not exist."""

    async def status(self, run_id: str) -> RunStatus | None:
        """Return the status of a run; None when there is no such run."""

    async def read(self, run_id: str, tenant_id: str) -> ReadRun | None:
        """Return a run for display; None when the tenant has no such run."""

    async def read_all(self, run_ids: Sequence[str], tenant_id: str) -> Sequence[ReadRun]:
        """Return runs for display, in this order, in one snapshot; without those that the tenant does not have."""

    async def events_after(self, run_id: str, tenant_id: str, seq: int, limit: int) -> EventPage | None:
        """Return the events of a run after a number, in order; None when the tenant has no such run."""

    async def load(self, run_id: str) -> StoredRun | None:
        """Return a run and its steps."""

    async def live_runs(self) -> Sequence[LiveRun]:
        """Return every active run, oldest first."""

    async def orphans(self) -> Sequence[RunKey]:
        """Return the waiting and paused runs whose flow is deleted."""

    async def worked(self, run_id: str, *, since: int, until: int) -> int:
        """Return the execution time of a run between two times, in microseconds: without down time and waiting."""

    async def stragglers(self, *, since: int, run_id: str | None = None) -> Sequence[Straggler]:
        """Return steps that are still `running` in runs that failed at or after `since`; of one run if given."""

    async def children(self, key: RunKey, step_id: str, first: int, stop: int) -> Sequence[ChildRun]:
        """Return the runs that a step started, from a number up to another, with their results."""

    async def run_wait(self, run_id: str, tenant_id: str, *, longest_seconds: float | None = None) -> RunWait | None:
        """Return the approval, event or user that a run waits for, also in runs that its steps started.

        None while any of these runs continues by itself. With `longest_seconds` also a time that is further away.
        """

    async def stops_before(self, run_id: str, step_id: str) -> bool:
        """Whether the run stops at a breakpoint before the step, which is claimed and was not executed before."""

    async def child_states(self, key: RunKey, step_id: str) -> ChildStates:
        """Return how many runs a step started, and which of them have not completed."""

    async def past_turns(self, key: RunKey, session_id: str, user_id: str | None, limit: int) -> Sequence[PastTurn]:
        """Return completed runs of the same flow, user and chat session before this one, oldest first."""
