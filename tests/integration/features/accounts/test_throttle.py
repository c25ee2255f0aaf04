"""Rate limits: counted in memory and in a real Redis, with Redis gone and silent, and over the real application."""

import asyncio
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from pydantic import SecretStr

from headgate.entrypoints.own_services import OwnRedis
from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_SPACE_ID
from headgate.features.accounts import throttle
from headgate.features.accounts.keys.secret import new_key
from headgate.features.accounts.ports import Scope
from headgate.features.accounts.throttle import (
    AWAY_SECONDS,
    RateLimits,
    TooManyRequests,
    rate_limits,
)
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.settings import CelerySettings, EngineSettings, RateLimitSettings, Settings
from tests.support.logs import captured_logs
from tests.support.people import add_key, add_session, add_user, asking, bearer, cookie, running, signed_in

SCOPE = "test"


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    server = OwnRedis(tmp_path_factory.mktemp("redis"), durable=False)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def redis_url(redis_server: OwnRedis) -> str:
    """An empty Redis database."""
    url = redis_server.url(0)
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url


@pytest.fixture(params=["memory", "redis"])
def url(request: pytest.FixtureRequest) -> str:
    """Where is counted: empty for memory."""
    return "" if request.param == "memory" else str(request.getfixturevalue("redis_url"))


async def refused(limits: RateLimits, scope: str, key: str) -> TooManyRequests:
    with pytest.raises(TooManyRequests) as caught:
        await limits.allow(scope, key)
    return caught.value


class TestRateLimits:
    async def test_allow_so_many_and_say_when_to_come_again(self, redis_url: str) -> None:
        for url in ("", redis_url):
            limits = RateLimits({SCOPE: 5}, url)
            for _ in range(5):
                await limits.allow(SCOPE, "ana")
            error = await refused(limits, SCOPE, "ana")
            wait = error.extra["retry_after_seconds"]
            assert isinstance(wait, int)
            assert 1 <= wait <= 60
            assert (error.extra["limit"], error.extra["window_seconds"]) == (5, 60)
            await limits.close()

    async def test_count_each_key_and_each_scope_for_itself(self, redis_url: str) -> None:
        for url in ("", redis_url):
            limits = RateLimits({SCOPE: 1, "other": 1}, url)
            await limits.allow(SCOPE, "ana")
            await limits.allow(SCOPE, "bo")
            await limits.allow("other", "ana")
            await refused(limits, SCOPE, "ana")
            await limits.close()

    async def test_hold_against_many_at_once(self, redis_url: str) -> None:
        for url in ("", redis_url):
            limits = RateLimits({SCOPE: 20}, url)
            found = await asyncio.gather(*(limits.allow(SCOPE, "ana") for _ in range(60)), return_exceptions=True)
            assert sum(one is None for one in found) == 20
            assert sum(isinstance(one, TooManyRequests) for one in found) == 40
            await limits.close()

    async def test_of_nought_count_nothing(self) -> None:
        limits = RateLimits({SCOPE: 0})
        for _ in range(100):
            await limits.allow(SCOPE, "ana")
        await limits.close()

    async def test_know_their_scopes(self) -> None:
        limits = RateLimits({SCOPE: 1})
        with pytest.raises(KeyError):
            await limits.allow("tset", "ana")
        await limits.close()

    async def test_forget_in_the_end_who_was_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        limits = RateLimits({SCOPE: 5})
        clock = _clock(monkeypatch, 6_000)
        for number in range(200):
            await limits.allow(SCOPE, str(number))
        assert len(limits._counts) == 200
        clock.now += 120
        await limits.allow(SCOPE, "somebody")
        assert len(limits._counts) == 1

    async def test_of_the_minute_before_count_as_far_as_it_is_less_than_a_minute_ago(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        limits = RateLimits({SCOPE: 10})
        clock = _clock(monkeypatch, 6_059)
        for _ in range(10):
            await limits.allow(SCOPE, "ana")
        assert (await refused(limits, SCOPE, "ana")).extra["retry_after_seconds"] == 1
        clock.now = 6_060
        assert (await refused(limits, SCOPE, "ana")).extra["retry_after_seconds"] == 1
        clock.now = 6_090
        for _ in range(5):
            await limits.allow(SCOPE, "ana")
        wait = (await refused(limits, SCOPE, "ana")).extra["retry_after_seconds"]
        assert isinstance(wait, int)
        clock.now += wait + 0.01
        await limits.allow(SCOPE, "ana")


class TestRedis:
    async def test_is_counted_in_by_all_servers(self, redis_url: str) -> None:
        one, two = RateLimits({SCOPE: 4}, redis_url), RateLimits({SCOPE: 4}, redis_url)
        for limits in (one, two, one, two):
            await limits.allow(SCOPE, "ana")
        for limits in (one, two):
            await refused(limits, SCOPE, "ana")
            await limits.close()

    async def test_never_hears_who_is_counted(self, redis_url: str) -> None:
        limits = RateLimits({SCOPE: 4}, redis_url)
        await limits.allow(SCOPE, "ana@example.org 192.0.2.7")
        with redis.Redis.from_url(redis_url, decode_responses=True) as client:
            names = [str(name) for name in client.scan_iter("*")]
            assert names
            for name in names:
                assert "ana" not in name
                assert "192" not in name
                assert 0 < client.ttl(name) <= 120, "a count leaves by itself"
        await limits.close()

    async def test_that_is_gone_leaves_each_server_to_count_for_itself(self, tmp_path: Path) -> None:
        server = OwnRedis(tmp_path, durable=False)
        server.start()
        limits = RateLimits({SCOPE: 3}, server.url(0))
        await limits.allow(SCOPE, "ana")
        server.stop()
        with captured_logs() as logs:
            for _ in range(3):
                await limits.allow(SCOPE, "ana")
            await refused(limits, SCOPE, "ana")
        assert [one["log_level"] for one in logs] == ["warning"], "it is said once, and Redis is left alone for a while"
        await limits.close()

    async def test_that_is_back_is_counted_in_again(self, redis_url: str) -> None:
        limits = RateLimits({SCOPE: 1}, redis_url)
        limits._away_until = asyncio.get_running_loop().time() + AWAY_SECONDS
        await limits.allow(SCOPE, "ana")
        limits._away_until = 0.0
        await limits.allow(SCOPE, "ana")
        await refused(limits, SCOPE, "ana")
        await limits.close()

    async def test_that_never_answers_is_waited_for_once(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            limits = RateLimits({SCOPE: 3}, f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
            with captured_logs() as logs:
                for _ in range(3):
                    await limits.allow(SCOPE, "ana")
                await refused(limits, SCOPE, "ana")
            assert len(logs) == 1
            await limits.close()

    def test_that_has_no_address_is_told_at_the_start(self) -> None:
        with pytest.raises(Invalid, match="REDIS_URL"):
            RateLimits({SCOPE: 3}, "nonsense").open()


class TestSettings:
    def test_give_every_scope_a_limit(self, tmp_path: Path) -> None:
        found = rate_limits(_settings(tmp_path))
        assert {*found._amounts} == {*Scope} - {Scope.TRIGGER}  # each trigger has its own
        assert all(found._amounts.values())

    def test_take_the_redis_that_is_set_else_that_of_the_workers(self, tmp_path: Path) -> None:
        celery = CelerySettings(events_url="redis://h/7")
        own = RateLimitSettings(redis_url=SecretStr("redis://h/9"))
        assert rate_limits(_settings(tmp_path, celery=celery))._redis_url == ""
        distributed = EngineSettings(backend="celery")
        assert rate_limits(_settings(tmp_path, celery=celery, engine=distributed))._redis_url == "redis://h/7"
        assert rate_limits(_settings(tmp_path, rate_limits=own, engine=distributed))._redis_url == "redis://h/9"


class TestRequests:
    async def test_of_a_key_are_limited_and_say_so(self, settings: Settings, database: Database, url: str) -> None:
        person = await add_user(database, "ana@example.org", roles={DEFAULT_SPACE_ID: Role.RUNNER})
        one, two = await add_key(database, person), await add_key(database, person)
        token = await add_session(database, person)
        few = RateLimitSettings(api_per_minute=3, redis_url=SecretStr(url))
        async with running(signed_in(settings, rate_limits=few)) as app, asking(app) as client:
            for _ in range(3):
                assert (await client.get("/api-keys", headers=bearer(one))).status_code == 200
            answer = await client.get("/api-keys", headers=bearer(one))
            assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
            wait = answer.json()["retry_after_seconds"]
            assert answer.headers["Retry-After"] == str(wait)
            assert answer.headers["RateLimit-Policy"] == '"rate_limited";q=3;w=60'
            assert answer.headers["RateLimit"] == f'"rate_limited";r=0;t={wait}'
            assert (await client.get("/api-keys", headers=bearer(two))).status_code == 200, "each key has its own"
            for _ in range(3):
                assert (await client.get("/api-keys", headers=cookie(token))).status_code == 200
            assert (await client.get("/api-keys", headers=cookie(token))).status_code == 429

    async def test_without_credentials_are_limited_by_address(self, settings: Settings, database: Database) -> None:
        key = await add_key(database, await add_user(database, "ana@example.org"))
        few = signed_in(settings, rate_limits=RateLimitSettings(address_per_minute=2))
        async with running(few) as app, asking(app, "192.0.2.1") as one, asking(app, "192.0.2.2") as two:
            assert (await one.get("/api-keys")).status_code == 401
            assert (await one.get("/api-keys", headers=bearer(new_key()))).status_code == 401
            assert (await one.get("/api-keys")).status_code == 429
            assert (await one.get("/api-keys", headers=bearer("x"))).status_code == 429
            assert (await two.get("/api-keys")).status_code == 401, "another address"
            answer = await one.get("/api-keys", headers=bearer(key))
            assert answer.status_code == 200, "a colleague behind the same address who has a key comes in"

    async def test_of_one_ipv6_network_count_together(self, settings: Settings) -> None:
        few = signed_in(settings, rate_limits=RateLimitSettings(address_per_minute=2))
        async with running(few) as app:
            for last, status in ((1, 401), (2, 401), (3, 429)):
                async with asking(app, f"2001:db8:1:2::{last}") as client:
                    assert (await client.get("/api-keys")).status_code == status
            async with asking(app, "2001:db8:1:3::1") as client:
                assert (await client.get("/api-keys")).status_code == 401

    async def test_of_the_local_user_are_not_counted(self, settings: Settings) -> None:
        few = RateLimitSettings(api_per_minute=1, address_per_minute=1)
        async with running(settings.model_copy(update={"rate_limits": few})) as app, asking(app) as client:
            for _ in range(5):
                assert (await client.get("/api-keys")).status_code == 200
            assert len(app.state.throttle._counts) == 0


class Clock:
    """Stands for the module `time`, at a time that the test sets."""

    monotonic = staticmethod(time.monotonic)

    def __init__(self, now: float) -> None:
        self.now = now

    def time(self) -> float:
        """The present time."""
        return self.now


def _clock(monkeypatch: pytest.MonkeyPatch, now: float) -> Clock:
    clock = Clock(now)
    monkeypatch.setattr(throttle, "time", clock)
    return clock


def _settings(folder: Path, **groups: object) -> Settings:
    return Settings(_env_file=None, data_dir=folder, **groups)  # type: ignore[arg-type]
