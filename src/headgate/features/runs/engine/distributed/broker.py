"""Queries of Redis about its queues: their depths, and whether it responds."""

import asyncio

from redis.asyncio import Redis
from redis.exceptions import RedisError

from headgate.features.runs.engine.distributed.lanes import all_lanes
from headgate.features.runs.engine.distributed.orders import Queues
from headgate.foundation.settings import CelerySettings

PATIENCE_SECONDS = 1.5


class Broker:
    """Client of the Redis databases of broker and results. Lives on one event loop.

    Args:
        settings: Their addresses.
        queues: The queues of the installation.
    """

    def __init__(self, settings: CelerySettings, queues: Queues) -> None:
        self._broker = _connect(settings.broker_url)
        self._results = _connect(settings.result_url)
        self._queues = queues

    async def depths(self) -> tuple[int, int] | None:
        """Count the messages in the queues of first and of further segments. None when Redis does not respond."""
        pipe = self._broker.pipeline(transaction=False)
        first = [name for lane in all_lanes() for name in self._queues.all_first(lane)]
        for name in (*first, *map(self._queues.begun, all_lanes())):
            pipe.llen(name)
        try:
            depths = await pipe.execute()
        except (RedisError, OSError):
            return None
        return sum(map(int, depths[: len(first)])), sum(map(int, depths[len(first) :]))

    async def results_answer(self) -> bool:
        """Return whether the result backend responds."""
        try:
            return bool(await asyncio.wait_for(self._results.ping(), PATIENCE_SECONDS))
        except (RedisError, OSError, TimeoutError):
            return False

    async def close(self) -> None:
        """Disconnect."""
        await self._broker.aclose()
        await self._results.aclose()


def _connect(url: str) -> Redis:
    """Return a client; it connects on first use."""
    return Redis.from_url(url, socket_connect_timeout=PATIENCE_SECONDS, socket_timeout=PATIENCE_SECONDS)
