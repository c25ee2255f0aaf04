"""The heartbeat of a worker's main process, from a thread: that it lives, and whether it is to be drained."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

from celery.worker import state

from headgate.features.processes.heartbeat import Drain, Heartbeat
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings

STOP_SECONDS = 5.0


class WorkerHeartbeat:
    """The heartbeat of one worker. While it is drained, it receives no messages.

    Args:
        settings: The settings.
        worker_id: Its id, which its children know.
        queues: The names of its queues.
    """

    def __init__(self, settings: Settings, worker_id: str, queues: Sequence[str]) -> None:
        self._settings = settings
        self._worker_id = worker_id
        self._queues = queues
        self._consumer: Any = None
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="headgate-heartbeat", daemon=True)

    def start(self, consumer: Any) -> None:  # noqa: ANN401 - Celery's
        """Start beating; a connection to the broker that is made again replaces the consumer only."""
        self._consumer = consumer
        if not self._thread.is_alive():
            self._thread.start()

    def stop(self) -> None:
        """Stop beating: the worker stops in order."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(STOP_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._beat())

    async def _beat(self) -> None:
        database = Database(self._settings)
        heartbeat = Heartbeat(database, "worker", self._worker_id, work=_messages, apply=self._apply)
        try:
            async with heartbeat.running():
                await self._stopped.wait()
        finally:
            await database.close()

    def _apply(self, drain: Drain) -> None:
        """Called in the thread; the consumer works in the main one."""
        change = self._consumer.cancel_task_queue if drain.draining else self._consumer.add_task_queue
        for queue in self._queues:
            self._consumer.call_soon(change, queue)


def _messages() -> dict[str, int]:
    """Messages that no child works on yet; a child counts its runs itself."""
    return {"messages": len(state.reserved_requests) - len(state.active_requests)}
