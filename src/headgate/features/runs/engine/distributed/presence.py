"""Registers live worker children in Redis, for health checks only."""

import asyncio
import time

from redis.asyncio import Redis
from redis.exceptions import RedisError

from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

ALIVE_SECONDS = 20.0
"""Silence after which a child is not counted as alive."""
PATIENCE_SECONDS = 1.0
log = get_logger(__name__)


class Presence:
    """A list of children with the time of their last heartbeat.

    Args:
        client: The Redis database of events.
        queue: The name of the installation's queues.
    """

    def __init__(self, client: Redis, queue: str) -> None:
        self._client = client
        self._outage = Outage(log, "events database")
        self._key = f"{queue}:children"

    async def record_heartbeat(self, worker_id: str) -> None:
        """Record this child's heartbeat. Does nothing when Redis is down."""
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
        """Remove this child."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._client.zrem(self._key, worker_id)
        except (RedisError, OSError, TimeoutError) as error:
            self._outage.failed(error)

    async def count(self) -> int:
        """Return the number of live children. Raises Redis errors."""
        return int(await self._client.zcount(self._key, time.time() - ALIVE_SECONDS, "+inf"))
