"""Notifies workers of cancelled runs immediately. Without it they notice at their next heartbeat."""

import asyncio
from collections.abc import Awaitable, Callable

from redis.asyncio import Redis
from redis.exceptions import RedisError

from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

PATIENCE_SECONDS = 1.0
LISTEN_SECONDS = 10.0
"""How long a listener waits before it checks its connection."""
PAUSE_SECONDS = 1.0
log = get_logger(__name__)


class Cancellations:
    """A channel that every worker child subscribes to.

    Args:
        client: The Redis database of events.
        queue: The name of the installation's queues.
    """

    def __init__(self, client: Redis, queue: str) -> None:
        self._client = client
        self._outage = Outage(log, "channel of cancellations")
        self._channel = f"{queue}:cancelled"

    async def announce(self, run_id: str) -> None:
        """Announce that this run was cancelled. Does nothing when Redis is down."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._client.publish(self._channel, run_id)
        except (RedisError, OSError, TimeoutError) as error:
            log.warning("cancellation not published", run_id=run_id, problem=str(error))

    async def listen(self, on_cancel: Callable[[str], Awaitable[None]]) -> None:
        """Call a function for every cancelled run, indefinitely. Announcements made while Redis is down are missed."""
        while True:
            try:
                await self._listen(on_cancel)
            except (RedisError, OSError) as error:
                self._outage.failed(error)
            await asyncio.sleep(PAUSE_SECONDS)

    async def _listen(self, on_cancel: Callable[[str], Awaitable[None]]) -> None:
        async with self._client.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(self._channel)
            self._outage.answered()
            while True:
                message = await channel.get_message(timeout=LISTEN_SECONDS)
                if message is not None:
                    await on_cancel(message["data"].decode())
