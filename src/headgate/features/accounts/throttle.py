"""Rate limits: counts of requests and tries in a sliding minute, in Redis where there is one, else in this process.

The `limits` library counts. While Redis is away each server counts for itself: nobody is refused because of it, and
nobody may try passwords without end.
"""

import asyncio
import hashlib
import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headgate.features.accounts.ports import Scope
from headgate.foundation.errors import Invalid, RateLimited
from headgate.foundation.log import get_logger
from headgate.foundation.settings import Settings

if TYPE_CHECKING:  # 0.2 s of imports; nobody needs it who is the only user
    from limits.aio.storage import MemoryStorage, RedisStorage
    from limits.aio.strategies import RateLimiter
    from limits.limits import RateLimitItem

WINDOW_SECONDS = 60
SWEEP_SECONDS = 10.0
"""How often counts that are over leave the memory. The library looks at all of them at every count."""
REDIS_SECONDS = 0.5
"""Patience with Redis; a request waits for it."""
AWAY_SECONDS = 5.0
"""How long Redis is left alone after it did not answer."""
_SIGN_IN_TIMES = {
    Scope.SIGN_IN_ACCOUNT_ADDRESS: 1,
    Scope.SIGN_IN_ADDRESS: 10,
    Scope.SIGN_IN_ACCOUNT: 20,
    Scope.LINK_ADDRESS: 2,
    Scope.PASSWORD_USER: 1,
    Scope.SECOND_FACTOR_USER: 1,
}
"""How many times `sign_in_per_minute` is allowed of each."""
PROVIDER_TESTS_PER_MINUTE = 20
WIDGET_FLOW_TIMES = 10
"""How many times `widget_per_minute` one flow's widget takes from everywhere."""
WIDGET_ASKED_TIMES = 30
"""How many times as often one address may ask anything of widgets: they are opened more often than they are used."""
log = get_logger(__name__)


class TooManyRequests(RateLimited):
    """Over a rate limit. Carries `retry_after_seconds`, `limit` and `window_seconds`."""

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(
            f"There were more than {limit} requests within {WINDOW_SECONDS} seconds.",
            remedy=f"Try again in {retry_after} seconds.",
            retry_after_seconds=retry_after,
            limit=limit,
            window_seconds=WINDOW_SECONDS,
        )


class RateLimits:
    """Counts by scope and key. Lives on one event loop.

    Args:
        limits: How many a minute are allowed of each scope; 0: without a limit.
        redis_url: The Redis database that all servers count in; empty: each for itself.
    """

    def __init__(self, limits: Mapping[str, int], redis_url: str = "") -> None:
        self._amounts = dict(limits)
        self._redis_url = redis_url
        self._items: dict[str, RateLimitItem] = {}
        self._here: RateLimiter | None = None
        self._memory: MemoryStorage | None = None
        self._shared: RateLimiter | None = None
        self._redis: RedisStorage | None = None
        self._failures: tuple[type[Exception], ...] = (OSError, TimeoutError)
        self._away_until = 0.0

    def open(self) -> None:
        """Load the library. Otherwise the first count does. Raises `Invalid` when Redis needs a client."""
        if self._here is not None:
            return
        library = _library()
        self._items = {
            scope: library.limits.RateLimitItemPerMinute(amount, namespace=scope)
            for scope, amount in self._amounts.items()
            if amount
        }
        self._memory = library.storage.MemoryStorage()
        self._here = library.strategies.SlidingWindowCounterRateLimiter(self._memory)
        if self._redis_url:
            self._redis = _redis_storage(library.storage, self._redis_url)
            known = self._redis.base_exceptions
            self._failures = (*(known if isinstance(known, tuple) else (known,)), OSError, TimeoutError)
            self._shared = library.strategies.SlidingWindowCounterRateLimiter(self._redis)

    async def allow(self, scope: str, key: str) -> None:
        """Count one more. Raises `RateLimited` with `retry_after_seconds` when there were too many."""
        self.open()
        if self._amounts[scope] == 0:
            return
        item = self._items[scope]
        # What is counted may be an e-mail address: the store of counts need not know it.
        who = hashlib.sha256(key.encode()).hexdigest()[:32]
        retry_after = await self._in_redis(item, who)
        if retry_after is None:
            retry_after = await self._in_memory(item, who)
        if retry_after:
            raise TooManyRequests(item.amount, retry_after)

    async def close(self) -> None:
        """Let go of Redis and of what waits."""
        if self._memory is not None and self._memory.timer is not None:
            self._memory.timer.cancel()
        if self._redis is not None:
            await self._redis.bridge.get_connection().aclose()  # type: ignore[attr-defined]  # redis-py's own client

    async def _in_redis(self, item: "RateLimitItem", who: str) -> int | None:
        """Seconds to wait, 0 when it is allowed; None when Redis cannot say."""
        if self._shared is None or time.monotonic() < self._away_until:
            return None
        try:
            return await _counted(self._shared, item, who)
        except self._failures as error:
            self._away_until = time.monotonic() + AWAY_SECONDS
            log.warning("rate limits: redis does not answer, this server counts for itself", reason=str(error))
            return None

    async def _in_memory(self, item: "RateLimitItem", who: str) -> int:
        if self._here is None or self._memory is None:
            raise RuntimeError("rate limits are not open")
        found = await _counted(self._here, item, who)
        if self._memory.timer is None or self._memory.timer.done():
            # As long as its timer runs the library does not look for what is over.
            self._memory.timer = asyncio.create_task(asyncio.sleep(SWEEP_SECONDS))
        return found


async def _counted(limiter: "RateLimiter", item: "RateLimitItem", who: str) -> int:
    if await limiter.hit(item, who):
        return 0
    stats = await limiter.get_window_stats(item, who)
    return max(1, math.ceil(stats.reset_time - time.time()))


def rate_limits(settings: Settings) -> RateLimits:
    """The limits that are set."""
    own = settings.rate_limits
    amounts: dict[str, int] = {
        Scope.API_KEY: own.api_per_minute,
        Scope.API_PERSON: own.api_per_minute,
        Scope.API_ADDRESS: own.address_per_minute,
        Scope.WIDGET_ADDRESS: own.widget_per_minute,
        Scope.WIDGET_ASKED: own.widget_per_minute * WIDGET_ASKED_TIMES,
        Scope.WIDGET_FLOW: own.widget_per_minute * WIDGET_FLOW_TIMES,
        Scope.PROVIDER_TEST: PROVIDER_TESTS_PER_MINUTE,
    }
    amounts |= {scope: own.sign_in_per_minute * times for scope, times in _SIGN_IN_TIMES.items()}
    return limits_of(settings, amounts)


def limits_of(settings: Settings, amounts: Mapping[str, int]) -> RateLimits:
    """Limits of somebody's own, counted where all are."""
    url = settings.rate_limits.redis_url.get_secret_value()
    if not url and settings.engine.backend == "celery":
        url = settings.celery.events_url
    return RateLimits(amounts, url)


class _Library:
    """The parts of `limits` that are used."""

    def __init__(self, limits: Any, storage: Any, strategies: Any) -> None:  # noqa: ANN401 - modules
        self.limits = limits
        self.storage = storage
        self.strategies = strategies


def _library() -> _Library:
    """The one place that imports `limits`."""
    import limits  # noqa: PLC0415 - heavy, see above
    from limits.aio import storage, strategies  # noqa: PLC0415

    return _Library(limits, storage, strategies)


def _redis_storage(storage: Any, url: str) -> "RedisStorage":  # noqa: ANN401 - a module
    try:
        found: RedisStorage = storage.RedisStorage(
            f"async+{url}",
            implementation="redispy",
            key_prefix="headgate:limits",
            socket_timeout=REDIS_SECONDS,
            socket_connect_timeout=REDIS_SECONDS,
        )
    except Exception as error:
        raise Invalid(
            "Rate limits cannot be counted in Redis.",
            remedy="Correct HEADGATE_RATE_LIMITS__REDIS_URL, and install headgate[distributed].",
        ) from error
    return found
