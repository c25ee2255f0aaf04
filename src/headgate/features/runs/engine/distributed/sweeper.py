"""Finds runs whose messages were lost or never sent, and sends what is left of them again.

The database says what is open: runs that nobody works on. The broker says how many messages wait. A message that is
merely waiting must not be sent again, however long it waits; so a run that was handed out counts as lost only when
there are more open runs than messages, and then the ones that were sent first, for queues are first in, first out. A
Redis that came back empty heals by the next sweep, and ten thousand runs that wait their turn are left alone.

| the rows say | the broker says | what is done |
|---|---|---|
| anything | nothing: it is away | nothing; runs stay queued for as long as it is |
| never sent, or the sending failed | it answers | send |
| a step lost its worker after the last sending | it answers | send |
| any other open run, sent some seconds ago | fewer messages than such runs | send the oldest that are missing |

A run that is sent once too often costs a message: whoever cannot claim its step leaves. Two sweepers at once send no
run twice, because a sending is claimed by the number of the one before.
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
    """Runs that nobody works on, by what their messages should be doing."""

    unsent: list[Sent] = field(default_factory=list)
    """Nobody has a message for them."""
    first: list[Sent] = field(default_factory=list)
    """Not begun; a message should wait in the queue of first segments."""
    begun: list[Sent] = field(default_factory=list)
    """Begun; a message should wait in the queue of further segments."""


def sort_out(found: Iterable[Sent], *, now: int, patience: int) -> Open:
    """Sort open runs. Those whose message was sent, or can have been sent, within `patience` of `now` are left alone.

    One that was sent later than that, by a machine whose clock was ahead, waits no longer than any other.
    """
    sorted_ = Open()
    for one in found:
        if one.dispatched_at is None or (one.claimed_at is not None and one.claimed_at > one.dispatched_at):
            sorted_.unsent.append(one)
        elif abs(now - max(one.dispatched_at, one.settled_at or 0)) > patience:
            (sorted_.first if one.status is RunStatus.QUEUED else sorted_.begun).append(one)
    return sorted_


def missing(runs: Sequence[Sent], messages: int) -> list[Sent]:
    """The runs that more messages would be needed for: those that were sent first."""
    return sorted(runs, key=lambda one: one.dispatched_at or 0)[: max(0, len(runs) - messages)]


class Sweeper:
    """Looks at all open runs.

    Args:
        store: The rows.
        reconciler: Says which runs nobody works on, and ends the hopeless ones.
        dispatcher: Sends.
        broker: Tells how many messages wait.
        patience_seconds: How long a message may be on its way.
        telemetry: Counts what is done.
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
        """One look. Returns how many runs were sent, and those that were ended with the reason."""
        found = await self._reconciler.sweep()
        keys = {run.key.run_id: run.key for run in found.take_up}
        ended = list(found.ended)
        wanted = await self._wanted(await self._store.sent(list(keys)))
        count = 0
        for one in wanted:
            try:
                count += await self._dispatcher.send_rest(one)
            except BrokerAway:
                break
            except Unavailable:
                raise
            except HeadgateError as error:
                # Its version can no longer be carried out: its components are gone.
                key = keys[one.run_id]
                if await self._store.end(key, error.code, str(error), clock()):
                    ended.append((key, Verdict(Action.END, error.code, str(error))))
        if count:
            self._metrics.reconciled("redispatched", count)
            log.info("runs sent again", count=count)
        return count, ended

    async def _wanted(self, found: Sequence[Sent]) -> list[Sent]:
        open_ = sort_out(found, now=clock(), patience=self._patience)
        if not (open_.unsent or open_.first or open_.begun):
            return []
        depths = await self._broker.depths()
        if depths is None:
            return []
        return [*open_.unsent, *missing(open_.begun, depths[1]), *missing(open_.first, depths[0])]
