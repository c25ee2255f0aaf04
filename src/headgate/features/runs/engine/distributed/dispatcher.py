"""Sends canvases. Unsent ones are recorded and left to the sweep."""

import asyncio
from collections.abc import Container, Sequence

from celery import Celery
from celery.exceptions import CeleryError
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from headgate.features.runs.engine.distributed.celery_app import close_app
from headgate.features.runs.engine.distributed.compiler import FlowCompiler
from headgate.features.runs.engine.distributed.lanes import Lanes
from headgate.features.runs.spaces import Spaces, share_of
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore, Sent
from headgate.features.runs.terms import terms_of
from headgate.features.runs.transitions import RunKey, StoredRun, clock
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.fair_places import Share
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage
from headgate.graph.plan import Plan

_AWAY = (KombuError, RedisError, CeleryError, OSError)
log = get_logger(__name__)


class BrokerAway(Unavailable):
    """A message could not be handed to the broker. The run is recorded as not sent."""


class Dispatcher:
    """Dispatches runs to the queues of one installation.

    Args:
        app: The Celery application.
        compiler: Compiles plans to canvases.
        store: The rows.
        plans: The plans of versions.
        spaces: The space of each flow.
        lanes: The lanes of runs.
    """

    def __init__(  # noqa: PLR0917 - the parts of an engine
        self,
        app: Celery,
        compiler: FlowCompiler,
        store: PostgresDispatchStore,
        plans: Plans,
        spaces: Spaces,
        lanes: Lanes,
    ) -> None:
        self._app = app
        self._compiler = compiler
        self._store = store
        self._plans = plans
        self._spaces = spaces
        self._lanes = lanes
        self._outage = Outage(log, "broker")

    async def send_new(self, key: RunKey, plan: Plan, user_id: str | None, priority: int = 0) -> bool:
        """Send a run that was just stored as sent. Returns False when the broker is down; the sweep sends it later."""
        try:
            lane = await self._lane(key, user_id)
            await self._send(key, plan, 1, lane=lane, started=False, priority=priority)
        except BrokerAway:
            return False
        return True

    async def send_rest(self, sent: Sent) -> bool:
        """Send the remainder of a run. Returns False when another process was faster, or the run is over.

        Raises `BrokerAway`, or another `HeadgateError` when its version can no longer be executed.
        """
        stored = await self._store.load(sent.run_id)
        if stored is None or stored.status.over:
            return False
        planned = await self._plans.of(stored.key)
        dispatch = await self._store.next_dispatch(sent.run_id, sent.dispatches, clock())
        if dispatch is None:
            return False
        started = sent.claimed_at is not None or sent.settled_at is not None
        lane = await self._lane(stored.key, stored.user_id)
        priority = terms_of(stored.terms).priority
        await self._send(
            stored.key, planned.plan, dispatch, _settled(stored), lane=lane, started=started, priority=priority
        )
        return True

    async def revoke(self, run_id: str) -> None:
        """Revoke the messages of a run that is over. Messages that are not reached have no effect."""
        stored = await self._store.load(run_id)
        if stored is None:
            return
        try:
            planned = await self._plans.of(stored.key)
            dispatch = await self._store.dispatches(run_id)
            settled = _settled(stored)
            ids = self._compiler.task_ids(stored.key, planned.plan, dispatch, settled)
            await asyncio.to_thread(self._app.control.revoke, ids)
        except (HeadgateError, *_AWAY) as error:
            log.warning("messages not revoked", run_id=run_id, problem=str(error))

    async def close(self) -> None:
        """Close the application's connections."""
        await asyncio.to_thread(close_app, self._app)

    async def _lane(self, key: RunKey, user_id: str | None) -> str:
        try:
            share = await share_of(self._spaces, key, user_id)
        except Unavailable:  # the run is stored: it is sent later
            share = Share(key.tenant_id)
        return self._lanes.of(share, key.run_id)

    async def _send(
        self,
        key: RunKey,
        plan: Plan,
        dispatch: int,
        settled: Container[str] = (),
        *,
        lane: str,
        started: bool,
        priority: int,
    ) -> None:
        canvas = self._compiler.compile(key, plan, dispatch, settled, lane=lane, started=started, priority=priority)
        try:
            await asyncio.to_thread(canvas.apply_async)
        except _AWAY as error:
            self._outage.failed(error)
            await self._mark_unsent(key.run_id)
            raise BrokerAway("The broker is unreachable.", remedy="Runs stay queued until it is available.") from error
        self._outage.answered()

    async def _mark_unsent(self, run_id: str) -> None:
        try:
            await self._store.not_sent(run_id)
        except Unavailable as error:
            # Then it counts as sent and lost, which takes a little longer to detect.
            log.warning("run not marked as unsent", run_id=run_id, problem=error.detail)


def _settled(stored: StoredRun) -> Sequence[str]:
    return [step.step_id for step in stored.steps.values() if step.status.settled]
