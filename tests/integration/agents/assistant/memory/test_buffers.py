"""The port of remembered conversations, in a process and in a real Redis: the same promises."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import redis

from headgate.agents.assistant.memory.conversation import (
    MAX_SESSIONS,
    MAX_TURNS_PER_SESSION,
    ConversationBuffer,
    ConversationTurn,
    SessionKey,
)
from headgate.agents.assistant.memory.in_process import InProcessBuffer
from headgate.agents.assistant.memory.in_redis import RedisBuffer
from headgate.agents.assistant.memory.opening import open_conversations
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.entrypoints.own_services import OwnRedis
from headgate.foundation.settings import CelerySettings, EngineSettings, Settings
from tests.support.logs import captured_logs

NOWHERE = "redis://127.0.0.1:1/0"


def key(session: str, user: str = "u", tenant: str = "t") -> SessionKey:
    return SessionKey(tenant, user, session)


def turn(number: int) -> ConversationTurn:
    return ConversationTurn(f"u{number}", f"a{number}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    found = OwnRedis(tmp_path_factory.mktemp("redis"), durable=False)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def redis_url(server: OwnRedis) -> str:
    """An empty database."""
    url = server.url(0)
    with redis.Redis.from_url(url) as client:
        client.flushdb()
    return url


@pytest.fixture(params=["process", "redis"])
async def buffer(request: pytest.FixtureRequest, redis_url: str) -> AsyncIterator[ConversationBuffer]:
    made: ConversationBuffer = InProcessBuffer() if request.param == "process" else RedisBuffer(redis_url, 60)
    yield made
    await made.close()


class TestConversationBuffer:
    async def test_gives_turns_the_oldest_first(self, buffer: ConversationBuffer) -> None:
        for number in range(3):
            await buffer.push_async(key("s"), turn(number))
        assert list(await buffer.get_recent(key("s"))) == [turn(0), turn(1), turn(2)]

    async def test_keeps_the_last_ten_turns(self, buffer: ConversationBuffer) -> None:
        for number in range(13):
            await buffer.push_async(key("s"), turn(number))
        found = await buffer.get_recent(key("s"))
        assert list(found) == [turn(number) for number in range(3, 13)]
        assert len(found) == MAX_TURNS_PER_SESSION

    async def test_forgets_the_session_used_longest_ago(self, buffer: ConversationBuffer) -> None:
        for number in range(MAX_SESSIONS):
            await buffer.push_async(key(f"s{number:03}"), turn(number))
        await asyncio.sleep(0.002)
        await buffer.push_async(key("s000"), turn(1))
        await asyncio.sleep(0.002)
        await buffer.push_async(key("new"), turn(2))
        assert list(await buffer.get_recent(key("s000"))) == [turn(0), turn(1)]
        assert list(await buffer.get_recent(key("new"))) == [turn(2)]
        left = [number for number in range(MAX_SESSIONS) if await buffer.get_recent(key(f"s{number:03}"))]
        assert len(left) == MAX_SESSIONS - 1

    async def test_loses_no_turn_of_many_at_once(self, buffer: ConversationBuffer) -> None:
        await asyncio.gather(*(buffer.push_async(key("s"), turn(number)) for number in range(8)))
        assert {one.user for one in await buffer.get_recent(key("s"))} == {f"u{number}" for number in range(8)}

    async def test_keeps_people_and_tenants_apart(self, buffer: ConversationBuffer) -> None:
        await buffer.push_async(key("s"), turn(1))
        assert list(await buffer.get_recent(key("s", user="other"))) == []
        assert list(await buffer.get_recent(key("s", tenant="other"))) == []

    async def test_remembers_no_turn_without_an_answer_and_none_without_a_session(
        self, buffer: ConversationBuffer
    ) -> None:
        await buffer.push_async(key("s"), ConversationTurn("u", ""))
        await buffer.push_async(None, turn(1))
        assert list(await buffer.get_recent(key("s"))) == []
        assert list(await buffer.get_recent(None)) == []

    async def test_clears_one_session_as_often_as_asked(self, buffer: ConversationBuffer) -> None:
        await buffer.push_async(key("s1"), turn(1))
        await buffer.push_async(key("s2"), turn(2))
        for session in ("s1", "s1", "never"):
            await buffer.clear(key(session))
        await buffer.clear(None)
        assert list(await buffer.get_recent(key("s1"))) == []
        assert list(await buffer.get_recent(key("s2"))) == [turn(2)]


class TestRedisBuffer:
    async def test_is_one_memory_for_all_servers(self, redis_url: str) -> None:
        first, second = RedisBuffer(redis_url, 60), RedisBuffer(redis_url, 60)
        await first.push_async(key("s"), turn(1))
        assert list(await second.get_recent(key("s"))) == [turn(1)]
        await first.close()
        await second.close()

    async def test_names_nobody_in_its_keys_and_forgets_in_time(self, redis_url: str) -> None:
        buffer = RedisBuffer(redis_url, 60)
        await buffer.push_async(SessionKey("tenant", "ada@example.org", "s"), turn(1))
        names = [name async for name in buffer._client.scan_iter()]
        assert names
        assert not any(b"ada" in name or b"tenant" in name for name in names)
        assert [0 < await buffer._client.ttl(name) <= 60 for name in names] == [True] * len(names)
        await buffer.close()

    async def test_that_is_away_is_no_past_and_no_fault(self) -> None:
        buffer = RedisBuffer(NOWHERE, 60)
        with captured_logs() as logs:
            await buffer.push_async(key("s"), turn(1))
            assert list(await buffer.get_recent(key("s"))) == []
            await buffer.clear(key("s"))
        assert [entry["event"] for entry in logs] == ["assistant.conversation_buffer.unavailable"] * 3
        await buffer.close()


class TestOpenConversations:
    async def test_takes_redis_with_the_engine_celery_only(self) -> None:
        celery = Settings(engine=EngineSettings(backend="celery"), celery=CelerySettings(events_url=NOWHERE))
        shared = open_conversations(celery, AssistantMetrics())
        assert isinstance(shared, RedisBuffer)
        assert isinstance(open_conversations(Settings(), AssistantMetrics()), InProcessBuffer)
        await shared.close()
