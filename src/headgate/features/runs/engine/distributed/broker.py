"""What can be asked of Redis about queues: how deep they are, and whether it answers."""

import asyncio

from redis.asyncio import Redis
from redis.exceptions import RedisError

from headgate.features.runs.engine.distributed.lanes import all_lanes
from headgate.features.runs.engine.distributed.orders import Queues
from headgate.foundation.settings import CelerySettings

PATIENCE_SECONDS = 1.5


class Broker:
    """The Redis databases of broker and results, from the outside. Lives on one event loop.

    Args:
        settings: Where they are.
        queues: The queues of the installation.
    """

    def __init__(self, settings: CelerySettings, queues: Queues) -> None:
        self._broker = _connect(settings.broker_url)
        self._results = _connect(settings.result_url)
        self._queues = queues

    async def depths(self) -> tuple[int, int] | None:
        """Messages that wait in the queues of first and of further segments; None when Redis does not answer."""
        pipe = self._broker.pipeline(transaction=False)
        lanes = all_lanes()
        for lane in lanes:
            pipe.llen(self._queues.first(lane))
        for lane in lanes:
            pipe.llen(self._queues.begun(lane))
        try:
            depths = await pipe.execute()
        except (RedisError, OSError):
            return None
        return sum(map(int, depths[: len(lanes)])), sum(map(int, depths[len(lanes) :]))

    async def results_answer(self) -> bool:
        """Whether the result backend answers."""
        try:
            return bool(await asyncio.wait_for(self._results.ping(), PATIENCE_SECONDS))
        except (RedisError, OSError, TimeoutError):
            return False

    async def close(self) -> None:
        """Disconnect."""
        await self._broker.aclose()
        await self._results.aclose()


def _connect(url: str) -> Redis:
    """A client; it connects when it is used."""
    return Redis.from_url(url, socket_connect_timeout=PATIENCE_SECONDS, socket_timeout=PATIENCE_SECONDS)
