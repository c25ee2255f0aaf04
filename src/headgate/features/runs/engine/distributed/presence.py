"""Which worker children live, told through Redis for health checks. Nothing is decided by it."""

import asyncio
import time

from redis.asyncio import Redis
from redis.exceptions import RedisError

from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

ALIVE_SECONDS = 20.0
"""Silence after which a child no longer counts."""
PATIENCE_SECONDS = 1.0
log = get_logger(__name__)


class Presence:
    """A list of children with the time they were last heard of.

    Args:
        client: The Redis database of events.
        queue: The name of the installation's queues.
    """

    def __init__(self, client: Redis, queue: str) -> None:
        self._client = client
        self._outage = Outage(log, "events database")
        self._key = f"{queue}:children"

    async def tell(self, worker_id: str) -> None:
        """This child lives. Says nothing when Redis is away."""
        now = time.time()
        pipe = self._client.pipeline(transaction=False)
        pipe.zadd(self._key, {worker_id: now})
        pipe.zremrangebyscore(self._key, 0, now - 100 * ALIVE_SECONDS)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await pipe.execute()
        except (RedisError, OSError, TimeoutError) as error:
            self._outage.failed(error)
        else:
            self._outage.answered()

    async def leave(self, worker_id: str) -> None:
        """This child ends."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._client.zrem(self._key, worker_id)
        except (RedisError, OSError, TimeoutError) as error:
            self._outage.failed(error)

    async def count(self) -> int:
        """Children heard of lately. Raises what Redis raises."""
        return int(await self._client.zcount(self._key, time.time() - ALIVE_SECONDS, "+inf"))
