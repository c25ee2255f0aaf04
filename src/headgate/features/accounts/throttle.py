"""Rate limits: counts of requests and attempts in a sliding minute, in Redis when configured, else in this process.

Requests of the previous minute count in proportion to how much of it lies within the last 60 seconds. While Redis is
unreachable, each server counts separately: no request is rejected because of it, and password guessing stays limited.
"""

import hashlib
import math
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from headgate.features.accounts.ports import Scope
from headgate.foundation.errors import Invalid, RateLimited
from headgate.foundation.log import get_logger
from headgate.foundation.settings import Settings

WINDOW_SECONDS = 60
REDIS_SECONDS = 0.5
"""Timeout of Redis; a request waits for it."""
AWAY_SECONDS = 5.0
"""How long Redis is not tried again after a failure."""
_SIGN_IN_TIMES = {
    Scope.SIGN_IN_ACCOUNT_ADDRESS: 1,
    Scope.SIGN_IN_ADDRESS: 10,
    Scope.SIGN_IN_ACCOUNT: 20,
    Scope.LINK_ADDRESS: 2,
    Scope.PASSWORD_USER: 1,
    Scope.SECOND_FACTOR_USER: 1,
}
"""Multiples of `sign_in_per_minute` allowed for each scope."""
PROVIDER_TESTS_PER_MINUTE = 20
WIDGET_FLOW_TIMES = 10
"""Multiple of `widget_per_minute` for one flow's widget from all addresses."""
WIDGET_ASKED_TIMES = 30
"""Multiple for all widget requests of one address: widgets are opened more often than used."""
_COUNT = """
local time = redis.call('TIME')
local minute, elapsed = math.floor(time[1] / 60), time[1] % 60 + time[2] / 1000000
local limit = tonumber(ARGV[1])
local stored = redis.call('HMGET', KEYS[1], 'minute', 'count', 'before')
local age, count, before = minute - (tonumber(stored[1]) or 0), tonumber(stored[2]) or 0, tonumber(stored[3]) or 0
if age > 0 then
  before = age == 1 and count or 0
  count = 0
end
if count >= limit then return math.ceil(60 - elapsed) end
local room = limit - count
if before * (1 - elapsed / 60) >= room then return math.max(1, math.ceil(60 * (1 - room / before) - elapsed)) end
redis.call('HSET', KEYS[1], 'minute', minute, 'count', count + 1, 'before', before)
redis.call('EXPIRE', KEYS[1], 120)
return 0
"""
"""The same as `Counts.add`, atomically for all servers, by the clock of Redis."""
log = get_logger(__name__)


class TooManyRequests(RateLimited):
    """A rate limit was exceeded. Carries `retry_after_seconds`, `limit` and `window_seconds`."""

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(
            f"More than {limit} requests within {WINDOW_SECONDS} seconds.",
            remedy=f"Try again in {retry_after} seconds.",
            retry_after_seconds=retry_after,
            limit=limit,
            window_seconds=WINDOW_SECONDS,
        )


class Counts:
    """Counts of this process by key, for the current and the previous minute."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, int, int]] = {}
        self._minute = 0

    def __len__(self) -> int:
        return len(self._counts)

    def add(self, key: str, limit: int) -> int:
        """Count one more. Return 0, or the seconds to wait when the limit is reached; then nothing is counted."""
        minute, elapsed = divmod(time.time(), WINDOW_SECONDS)
        self._forget(int(minute))
        stored, count, before = self._counts.get(key, (self._minute, 0, 0))
        if stored < self._minute:
            before, count = count, 0
        if count >= limit:
            return math.ceil(WINDOW_SECONDS - elapsed)
        room = limit - count
        if before * (1 - elapsed / WINDOW_SECONDS) >= room:
            return max(1, math.ceil(WINDOW_SECONDS * (1 - room / before) - elapsed))
        self._counts[key] = (self._minute, count + 1, before)
        return 0

    def _forget(self, minute: int) -> None:
        """Remove expired counts, once a minute."""
        if minute != self._minute:
            self._minute = minute
            self._counts = {key: count for key, count in self._counts.items() if count[0] >= minute - 1}


class RateLimits:
    """Counts by scope and key. Bound to one event loop.

    Args:
        limits: Maximum per minute of each scope; 0 means no limit.
        redis_url: The Redis database shared by all servers; empty: each server counts separately.
    """

    def __init__(self, limits: Mapping[str, int], redis_url: str = "") -> None:
        self._amounts = dict(limits)
        self._redis_url = redis_url
        self._counts = Counts()
        self._redis: Any = None
        self._script: Any = None
        self._failures: tuple[type[Exception], ...] = (OSError, TimeoutError)
        self._away_until = 0.0

    def open(self) -> None:
        """Load the Redis client; otherwise the first count does. Raises `Invalid` when there is none."""
        if self._redis_url and self._redis is None:
            self._redis, error = _redis_client(self._redis_url)
            self._script = self._redis.register_script(_COUNT)
            self._failures = (*self._failures, error)

    async def allow(self, scope: str, key: str, *, limit: int | None = None) -> None:
        """Count one more. Raises `RateLimited` with `retry_after_seconds` when there were too many.

        `limit` is for a scope without a common one.
        """
        amount = self._amounts[scope] if limit is None else limit
        if amount == 0:
            return
        self.open()
        # The key may be an e-mail address: only its hash is stored.
        counted = f"{scope}:{hashlib.sha256(key.encode()).hexdigest()[:32]}"
        retry_after = await self._in_redis(counted, amount)
        if retry_after is None:
            retry_after = self._counts.add(counted, amount)
        if retry_after:
            raise TooManyRequests(amount, retry_after)

    async def close(self) -> None:
        """Close the connections to Redis."""
        if self._redis is not None:
            await self._redis.aclose()

    async def _in_redis(self, counted: str, amount: int) -> int | None:
        """Return the seconds to wait, 0 when it is allowed; None when Redis is unreachable."""
        if self._script is None or time.monotonic() < self._away_until:
            return None
        try:
            return int(await self._script(keys=[f"headgate:limits:{counted}"], args=[amount]))
        except self._failures as error:
            self._away_until = time.monotonic() + AWAY_SECONDS
            log.warning("rate limits: Redis is unreachable, this server counts locally", reason=str(error))
            return None


def rate_limits(settings: Settings) -> RateLimits:
    """Return the configured limits."""
    rates = settings.rate_limits
    amounts: dict[str, int] = {
        Scope.API_KEY: rates.api_per_minute,
        Scope.API_PERSON: rates.api_per_minute,
        Scope.API_ADDRESS: rates.address_per_minute,
        Scope.WIDGET_ADDRESS: rates.widget_per_minute,
        Scope.WIDGET_ASKED: rates.widget_per_minute * WIDGET_ASKED_TIMES,
        Scope.WIDGET_FLOW: rates.widget_per_minute * WIDGET_FLOW_TIMES,
        Scope.PROVIDER_TEST: PROVIDER_TESTS_PER_MINUTE,
    }
    amounts |= {scope: rates.sign_in_per_minute * times for scope, times in _SIGN_IN_TIMES.items()}
    return limits_of(settings, amounts)


def limits_of(settings: Settings, amounts: Mapping[str, int]) -> RateLimits:
    """Return limits of one feature, counted in the same store."""
    url = settings.rate_limits.redis_url.get_secret_value()
    if not url and settings.engine.backend == "celery":
        url = settings.celery.events_url
    return RateLimits(amounts, url)


def _redis_client(url: str) -> tuple[Any, type[Exception]]:
    """Return an asynchronous client that does not retry, and the error that it raises."""
    try:
        asynchronous, retry, backoff, errors = (
            import_module(name)
            for name in ("redis.asyncio", "redis.asyncio.retry", "redis.backoff", "redis.exceptions")
        )
        client = asynchronous.Redis.from_url(
            url,
            socket_timeout=REDIS_SECONDS,
            socket_connect_timeout=REDIS_SECONDS,
            retry=retry.Retry(backoff.NoBackoff(), 0),
        )
    except (ImportError, ValueError) as error:
        raise Invalid(
            "Rate limits cannot be counted in Redis.",
            remedy="Correct HEADGATE_RATE_LIMITS__REDIS_URL, and install headgate[distributed].",
        ) from error
    return client, errors.RedisError
