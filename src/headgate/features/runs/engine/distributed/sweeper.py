"""Finds runs whose messages were lost or never sent, and sends their remainder again.

The database knows the open runs without a worker, the broker how many messages wait. A message that merely waits must
not be sent again, however long it waits. A dispatched run therefore counts as lost only when there are more open runs
than messages; then the earliest dispatched are sent, because queues are first in, first out. A Redis that restarted
empty recovers with the next sweep, and ten thousand runs that wait their turn are left alone.

| rows | broker | action |
|---|---|---|
| anything | down | none; runs stay queued |
| never sent, or sending failed | up | send |
| a step lost its worker after the last dispatch | up | send |
| any other open run, sent some seconds ago | fewer messages than such runs | send the oldest missing ones |

A run that is sent once too often costs one message: the second worker cannot claim the step and returns. Concurrent
sweepers send no run twice, because a dispatch is claimed with the number of the previous one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from headgate.features.runs.engine.distributed.broker import Broker
from headgate.features.runs.engine.distributed.dispatcher import BrokerAway, Dispatcher
from headgate.features.runs.engine.reconciler import Action, Reconciler, Verdict
from headgate.features.runs.states import RunStatus
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore, Sent
from headgate.features.runs.transitions import RunKey, clock
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.telemetry import Telemetry

MICROSECONDS = 1_000_000
log = get_logger(__name__)


@dataclass(slots=True)
class Open:
    """Open runs without a worker, by the expected state of their messages."""

    unsent: list[Sent] = field(default_factory=list)
    """No message exists for them."""
    first: list[Sent] = field(default_factory=list)
    """Not started; a message should wait in the queue of first segments."""
    begun: list[Sent] = field(default_factory=list)
    """Started; a message should wait in the queue of further segments."""


def sort_out(runs: Iterable[Sent], *, now: int, patience: int) -> Open:
    """Sort open runs. Skips those whose message was, or may have been, sent within `patience` of `now`.

    A dispatch time in the future, from a machine with a fast clock, extends no wait.
    """
    sorted_ = Open()
    for run in runs:
        if run.dispatched_at is None or (run.claimed_at is not None and run.claimed_at > run.dispatched_at):
            sorted_.unsent.append(run)
        elif abs(now - max(run.dispatched_at, run.settled_at or 0)) > patience:
            (sorted_.first if run.status is RunStatus.QUEUED else sorted_.begun).append(run)
    return sorted_


def missing(runs: Sequence[Sent], messages: int) -> list[Sent]:
    """Return the runs without a message: those that were sent first."""
    return sorted(runs, key=lambda run: run.dispatched_at or 0)[: max(0, len(runs) - messages)]


class Sweeper:
    """Sweeps all open runs.

    Args:
        store: The rows.
        reconciler: Finds runs without a worker, and ends those that cannot continue.
        dispatcher: Sends runs.
        broker: Reports how many messages wait.
        patience_seconds: Longest time for a message to arrive.
        telemetry: Counts the actions.
    """

    def __init__(
        self,
        store: PostgresDispatchStore,
        reconciler: Reconciler,
        dispatcher: Dispatcher,
        broker: Broker,
        *,
        patience_seconds: float,
        telemetry: Telemetry,
    ) -> None:
        self._store = store
        self._reconciler = reconciler
        self._dispatcher = dispatcher
        self._broker = broker
        self._patience = int(patience_seconds * MICROSECONDS)
        self._metrics = telemetry.metrics

    async def sweep(self) -> tuple[int, list[tuple[RunKey, Verdict]]]:
        """Sweep once. Returns how many runs were sent, and those that were ended, with the reason."""
        result = await self._reconciler.sweep()
        keys = {run.key.run_id: run.key for run in result.take_up}
        ended = list(result.ended)
        unsent = await self._wanted(await self._store.sent(list(keys)))
        count = 0
        for run in unsent:
            try:
                count += await self._dispatcher.send_rest(run)
            except BrokerAway:
                break
            except Unavailable:
                raise
            except HeadgateError as error:
                # Its version can no longer be executed: its components are gone.
                key = keys[run.run_id]
                if await self._store.end(key, error.code, str(error), clock()):
                    ended.append((key, Verdict(Action.END, error.code, str(error))))
        if count:
            self._metrics.reconciled("redispatched", count)
            log.info("runs sent again", count=count)
        return count, ended

    async def _wanted(self, candidates: Sequence[Sent]) -> list[Sent]:
        open_ = sort_out(candidates, now=clock(), patience=self._patience)
        if not (open_.unsent or open_.first or open_.begun):
            return []
        depths = await self._broker.depths()
        if depths is None:
            return []
        return [*open_.unsent, *missing(open_.begun, depths[1]), *missing(open_.first, depths[0])]
