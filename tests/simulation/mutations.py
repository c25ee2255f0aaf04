"""Faults that were fixed, put back one by one: the simulator must find each. A mutation is applied to the real code."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any
from unittest import mock

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.queue import Job
from headgate.features.jobs.runner import JobRunner
from headgate.features.runs.approvals import notices, views
from headgate.features.runs.approvals import repository as approvals
from headgate.features.runs.approvals import service as decisions
from headgate.features.runs.approvals.notices import NoticeSender
from headgate.features.runs.approvals.tables import ApprovalRow
from headgate.features.runs.budgets import repository as budget_rows
from headgate.features.runs.budgets.accounts import Account, BudgetScope, Charge, name_of
from headgate.features.runs.budgets.service import Budgets
from headgate.features.runs.engine import alarm, conductor, embedded
from headgate.features.runs.engine.distributed.sweeper import Sweeper
from headgate.features.runs.engine.reconciler import Reconciler
from headgate.features.runs.engine.run_registry import OwnedRun, RunRegistry
from headgate.features.runs.errors import NEVER_BEGUN
from headgate.features.runs.event_log import EventPage
from headgate.features.runs.failure_handlers.service import FailureHandlers
from headgate.features.runs.failure_handlers.values import FailedRun
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.sent_events import repository as sent_events
from headgate.features.runs.slots import repository as slots
from headgate.features.runs.slots.service import Slots
from headgate.features.runs.states import LIVE_RUNS, RunStatus
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.store import sqlite, sqlite_pauses, sqlite_transitions
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.store.sqlite import SqliteRunStore
from headgate.features.runs.store.sqlite_writer import SqliteWriter
from headgate.features.runs.transitions import RunKey, clock
from headgate.features.runs.views.stream import RunStream
from headgate.features.runs.waiting import Paused
from headgate.foundation.errors import DatabaseAway
from headgate.foundation.fair_places import Share
from headgate.foundation.ids import new_id
from tests.simulation.cluster import SqliteDispatchStore

MOST_DISPATCHES = 20


def writer_ends_with_a_failed_checkpoint() -> None:
    """A checkpoint that fails in the writer's thread ends the thread; who waits for it waits for ever."""
    back = SqliteWriter._back

    def mutated(self: SqliteWriter, batch: Any, done: "asyncio.Future[Any]") -> None:
        if not done.cancelled() and done.exception() is None and done.result().log_error is not None:
            return
        back(self, batch, done)

    _patch(SqliteWriter, "_back", mutated)


def sweep_queues_a_run_twice() -> None:
    """A sweep reads which runs are busy first, and queues the runs that it reads later without checking their owner."""
    enqueue, sweep = RunRegistry.enqueue, Reconciler.sweep

    def twice(self: RunRegistry, run_id: str, share: Share, run: ActiveRun | None = None) -> bool:
        self._entries.pop(run_id, None)
        return enqueue(self, run_id, share, run)

    def release(self: RunRegistry, entry: OwnedRun) -> None:
        self._entries.pop(entry.run_id, None)
        if entry.ticket is not None:
            self._queue.release(entry.ticket)

    async def with_snapshot(self: Reconciler, busy: Any = ()) -> Any:
        return await sweep(self, frozenset(entry.run_id for entry in busy))

    _patch(RunRegistry, "enqueue", twice)
    _patch(RunRegistry, "release", release)
    _patch(Reconciler, "sweep", with_snapshot)


def undelivered_messages_count_as_attempts() -> None:
    """A sweep sends though the queue is away, and ends a run that was sent too often."""
    wanted_runs, sweep = Sweeper._wanted, Sweeper.sweep

    async def all_of_them(self: Sweeper, runs: Any) -> Any:
        return runs if await self._broker.depths() is None else await wanted_runs(self, runs)

    async def ends_them(self: Sweeper) -> Any:
        outcome = await sweep(self)
        store = self._store
        assert isinstance(store, SqliteDispatchStore)
        for run in await store.live_runs():
            for one in await store.sent([run.key.run_id]):
                if one.dispatches >= MOST_DISPATCHES and one.claimed_at is None:
                    await _end(store, run.key)
        return outcome

    _patch(Sweeper, "_wanted", all_of_them)
    _patch(Sweeper, "sweep", ends_them)


def reader_takes_what_memory_holds() -> None:
    """A reader that reconnects continues with the newest event and misses those in between."""
    read_page = RunStream._page

    async def newest(self: RunStream) -> EventPage:
        page = await read_page(self)
        return replace(page, events=page.events[-1:]) if self._last == 0 and self._position[0] else page

    _patch(RunStream, "_page", newest)


def paused_runs_stay_paused() -> None:
    """A process says that a paused run continues, and leaves it."""

    async def left(_self: SqliteRunStore, _key: RunKey, _at: int, _entry: object = None) -> Paused:
        return Paused(RunStatus.RUNNING, changed=True)

    _patch(SqliteRunStore, "unpause", left)


def steps_wake_early() -> None:
    """A step is woken half a minute before it is due, and suspends itself once more."""
    wake = SqliteRunStore.wake

    async def early(self: SqliteRunStore, at: int, limit: int, *, run_id: str | None = None) -> Any:
        return await wake(self, at + 30_000_000, limit, run_id=run_id)

    async def due(_self: SqliteRunStore) -> int:
        return 0

    _patch(SqliteRunStore, "wake", early)
    _patch(SqliteRunStore, "next_due", due)


def every_click_is_a_decision() -> None:
    """A decision counts although the approval is decided already."""
    settle = approvals.settle

    async def always(session: AsyncSession, approval_id: str, decision: str, **more: Any) -> str:
        return await settle(session, approval_id, decision, **more) or "approved"

    _patch(approvals, "settle", always)


def decisions_wake_nobody() -> None:
    """A decision is stored; its step learns of it when its time is over."""

    async def nobody(*_: Any, **__: Any) -> bool:
        return True

    _patch(decisions, "wake_step", nobody)


def early_events_are_lost() -> None:
    """A step that begins to wait receives no event that came before."""

    async def none(*_: Any, **__: Any) -> None:
        return None

    _patch(sent_events, "find_stored", none)


def events_are_received_again() -> None:
    """An event for one step is not marked as received, and is kept for the next one."""

    async def uncounted(*_: Any, **__: Any) -> None:
        return None

    _patch(sent_events, "count_delivery", uncounted)


def slots_are_not_counted() -> None:
    """Every run that asks for a slot gets one."""

    async def none(*_: Any, **__: Any) -> int:
        return 0

    _patch(slots, "count_granted", none)


def slots_are_not_freed() -> None:
    """Nobody gives on the slots of runs that ended."""

    async def nothing(_self: Slots) -> None:
        return None

    _patch(Slots, "grant_free", nothing)


def priority_is_ignored() -> None:
    """Slots are given in the order of the requests."""
    list_queue = slots.list_queue

    async def in_order(*arguments: Any, **more: Any) -> Any:
        return sorted(await list_queue(*arguments, **more), key=lambda row: row.requested_at)

    _patch(slots, "list_queue", in_order)


def handlers_get_an_id_when_they_start() -> None:
    """The id of a handler's run is made when it starts, and not with the claim of the failure."""
    read = FailureHandlers._read

    async def anew(self: FailureHandlers, *arguments: Any, **more: Any) -> FailedRun | None:
        failed = await read(self, *arguments, **more)
        return None if failed is None else replace(failed, handler_run_id=new_id())

    _patch(FailureHandlers, "_read", anew)


def ends_of_runs_wake_nobody() -> None:
    """The end of a run does not wake the step that started it."""
    _patch(sqlite, "WAKE_PARENT_SQL", "SELECT :run_id, :at")


def dead_senders_keep_their_notices() -> None:
    """Nobody takes the jobs of a process that died."""

    async def nothing(_self: JobRunner, *_: str) -> int:
        return 0

    _patch(JobRunner, "recover", nothing)


def notices_are_taken_from_the_living() -> None:
    """A process takes the jobs of every other one as soon as it looks for those that were lost."""

    def lost(_self: JobRunner, _job: Job, *, owned: bool) -> bool:
        return not owned

    _patch(JobRunner, "_is_lost", lost)


def notices_are_sent_after_the_decision() -> None:
    """A reminder is sent although the approval is decided."""

    async def any_approval(_self: NoticeSender, session: AsyncSession, job: Job) -> ApprovalRow | None:
        return await session.get(ApprovalRow, job.row.approval_id)

    _patch(NoticeSender, "_pending", any_approval)


def outcomes_of_notices_are_stored_once() -> None:
    """The outcome of a notice that cannot be stored at once is forgotten, and the notice is sent again."""

    async def impatiently(transition: Callable[[], Any]) -> Any:
        return await transition()

    _patch(notices, "patiently", impatiently)


def everybody_is_escalated_to() -> None:
    """Those to whom an approval is escalated may decide at once."""

    def everybody(approval: ApprovalRow) -> list[dict[str, Any]]:
        return [*approval.assignees, *(approval.escalation or ())]

    _patch(views, "deciders_of", everybody)


def models_are_not_limited() -> None:
    """A step calls a model whoever calls it already."""

    async def free(*_: Any, **__: Any) -> bool:
        return True

    _patch(Slots, "take_model", free)


def keys_are_counted_for_each_flow() -> None:
    """The steps of each flow have slots of their own for a key."""
    take = Slots.take_key

    async def own(self: Slots, origin: Origin, _space_id: str, key: str, most: int) -> bool:
        return await take(self, origin, origin.key.flow_id, key, most)

    _patch(Slots, "take_key", own)


def outages_fail_steps() -> None:
    """A step that meets a database that is locked or full for long fails, and its run with it."""
    _patch(conductor, "DatabaseUnavailable", DatabaseAway)


def budgets_are_not_counted() -> None:
    """A call is charged, and never refused."""
    hold_accounts = budget_rows.hold_accounts

    async def empty(*arguments: Any, **more: Any) -> Mapping[str, int]:
        return dict.fromkeys(await hold_accounts(*arguments, **more), 0)

    _patch(budget_rows, "hold_accounts", empty)


def budgets_of_days_are_of_calls() -> None:
    """Each call has the flow's budget per day for itself."""
    subject_of = Account.subject

    def alone(self: Account, at: int) -> str:
        subject = subject_of(self, at)
        return subject if self.scope is BudgetScope.RUN else f"{subject}:{new_id()}"

    _patch(Account, "subject", alone)


def budgets_are_read_before_they_are_locked() -> None:
    """What is used is read a moment before the accounts are locked: calls at the same time are all allowed."""
    hold_accounts, charge = budget_rows.hold_accounts, Budgets.charge
    earlier: ContextVar[Mapping[str, int]] = ContextVar("earlier")

    async def stale(session: AsyncSession, charges: Sequence[Charge], at: int, *, tenant_id: str) -> Mapping[str, int]:
        await hold_accounts(session, charges, at, tenant_id=tenant_id)
        return {name_of(one): earlier.get().get(name_of(one), 0) for one in charges}

    async def charged(self: Budgets, tenant_id: str, accounts: Sequence[Account], *more: Any, **options: Any) -> Any:
        subjects = [account.subject(clock()) for account in accounts]
        async with self.database.reading() as session:
            used = await budget_rows.read_used(session, subjects, tenant_id=tenant_id)
        earlier.set({f"{subject}/{kind}": amount for (subject, kind), amount in used.items()})
        await asyncio.sleep(0.05)
        return await charge(self, tenant_id, accounts, *more, **options)

    _patch(budget_rows, "hold_accounts", stale)
    _patch(Budgets, "charge", charged)


def deadlines_end_nothing() -> None:
    """Nobody looks for runs that are past their deadlines."""

    async def none(_store: RunStore) -> list[RunKey]:
        return []

    _patch(embedded, "end_overdue", none)
    _patch(alarm, "end_overdue", none)


def deadlines_stay_through_pauses() -> None:
    """The time for which a run was paused counts against its deadline."""
    shifted = "deadline_at + max(0, :at - coalesce(paused_at, :at))"
    assert shifted in sqlite_pauses._CONTINUE
    _patch(sqlite_pauses, "_CONTINUE", sqlite_pauses._CONTINUE.replace(shifted, "deadline_at"))


def paused_runs_begin_steps() -> None:
    """The step after one that finished is claimed although its run is paused."""
    _patch(sqlite_transitions, "CLAIMABLE_RUNS", LIVE_RUNS)


async def _end(store: SqliteDispatchStore, key: RunKey) -> None:
    await store.end(key, NEVER_BEGUN, "The run was handed to a worker too often.", clock())


def _patch(owner: Any, name: str, value: Any) -> None:
    mock.patch.object(owner, name, value).start()


MUTATIONS: Mapping[str, Callable[[], None]] = {
    "writer": writer_ends_with_a_failed_checkpoint,
    "sweep": sweep_queues_a_run_twice,
    "reader": reader_takes_what_memory_holds,
    "dispatch": undelivered_messages_count_as_attempts,
    "budgets": budgets_are_not_counted,
    "budgets-daily": budgets_of_days_are_of_calls,
    "budgets-raced": budgets_are_read_before_they_are_locked,
    "after-decisions": notices_are_sent_after_the_decision,
    "clicks": every_click_is_a_decision,
    "connections": keys_are_counted_for_each_flow,
    "deadlines": deadlines_end_nothing,
    "deadlines-moved": deadlines_stay_through_pauses,
    "decisions": decisions_wake_nobody,
    "early-events": early_events_are_lost,
    "early-wakes": steps_wake_early,
    "escalation": everybody_is_escalated_to,
    "events-again": events_are_received_again,
    "handlers": handlers_get_an_id_when_they_start,
    "models": models_are_not_limited,
    "notices-again": outcomes_of_notices_are_stored_once,
    "notices-lost": dead_senders_keep_their_notices,
    "notices-taken": notices_are_taken_from_the_living,
    "outages": outages_fail_steps,
    "paused": paused_runs_stay_paused,
    "paused-steps": paused_runs_begin_steps,
    "priority": priority_is_ignored,
    "slots-freed": slots_are_not_freed,
    "slots-counted": slots_are_not_counted,
    "subflows": ends_of_runs_wake_nobody,
}
