"""The port of remembered conversations, in real databases and in a real Redis: the same promises."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import update

from headgate.agents.assistant.memory.conversation import (
    MAX_CHARACTERS,
    MAX_SESSIONS,
    MAX_TURNS_PER_SESSION,
    ConversationBuffer,
    ConversationTurn,
    SessionKey,
)
from headgate.agents.assistant.memory.in_database import DatabaseBuffer
from headgate.agents.assistant.memory.in_redis import RedisBuffer
from headgate.agents.assistant.memory.opening import open_conversations
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.entrypoints.own_services import OwnRedis
from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_TENANT_ID, DEFAULT_USER_ID, LOCAL
from headgate.features.accounts.tables import User
from headgate.features.accounts.users.deletion import delete_user
from headgate.features.conversations.repository import count_conversations
from headgate.features.conversations.tables import assistant_conversations
from headgate.foundation.database import Database, microseconds, now
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import CelerySettings, EngineSettings, Settings
from headgate.foundation.telemetry.prometheus import PrometheusInstruments
from tests.support.databases import make_settings
from tests.support.keyrings import data_keys
from tests.support.logs import captured_logs
from tests.support.tenants import add_colleague

NOWHERE = "redis://127.0.0.1:1/0"


def key(session: str, user: str = DEFAULT_USER_ID, tenant: str = DEFAULT_TENANT_ID) -> SessionKey:
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


@pytest.fixture(params=["database", "database encrypted", "redis", "redis encrypted"])
async def buffer(
    request: pytest.FixtureRequest, settings: Settings, database: Database
) -> AsyncIterator[ConversationBuffer]:
    keys = data_keys(database, settings, always="encrypted" in request.param)
    made: ConversationBuffer = DatabaseBuffer(database, 60, keys)
    if "redis" in request.param:
        made = RedisBuffer(request.getfixturevalue("redis_url"), 60, keys)
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


class TestDatabaseBuffer:
    async def test_is_one_memory_for_all_processes(self, settings: Settings, database: Database) -> None:
        another = Database(settings)
        await DatabaseBuffer(database, 60, data_keys(database)).push_async(key("s"), turn(1))
        assert list(await DatabaseBuffer(another, 60, data_keys(another)).get_recent(key("s"))) == [turn(1)]
        await another.close()

    async def test_loses_no_turn_of_many_processes_at_once(self, settings: Settings) -> None:
        databases = [Database(settings) for _ in range(4)]
        await asyncio.gather(
            *(
                DatabaseBuffer(one, 60, data_keys(one)).push_async(key("s"), turn(number))
                for number, one in enumerate(databases)
            )
        )
        turns = await DatabaseBuffer(databases[0], 60, data_keys(databases[0])).get_recent(key("s"))
        assert {one.user for one in turns} == {"u0", "u1", "u2", "u3"}
        for one in databases:
            await one.close()

    async def test_deletes_an_expired_conversation_with_the_next_turn_of_any_user(self, database: Database) -> None:
        other = await add_colleague(database, "other", Role.OWNER)
        buffer = DatabaseBuffer(database, 3600, data_keys(database))
        for session in ("expired", "again"):
            await buffer.push_async(key(session), turn(1))
        async with database.writing() as writing:
            await writing.execute(update(assistant_conversations).values(used_at=microseconds(now()) - 3601 * 10**6))
        assert list(await buffer.get_recent(key("expired"))) == []
        await buffer.push_async(key("s", user=other.user_id), turn(2))
        assert await conversations_in(database) == 1
        await buffer.push_async(key("again"), turn(3))
        assert list(await buffer.get_recent(key("again"))) == [turn(3)]

    async def test_evicts_conversations_of_nobody_else(self, database: Database) -> None:
        other = await add_colleague(database, "other", Role.OWNER)
        buffer = DatabaseBuffer(database, 60, data_keys(database))
        await buffer.push_async(key("s", user=other.user_id), turn(0))
        for number in range(MAX_SESSIONS + 1):
            await buffer.push_async(key(f"s{number}"), turn(number))
        assert list(await buffer.get_recent(key("s", user=other.user_id))) == [turn(0)]
        assert await conversations_in(database) == MAX_SESSIONS + 1

    async def test_keeps_any_text_in_bounds(self, database: Database) -> None:
        buffer, name = DatabaseBuffer(database, 60, data_keys(database)), "\x00'\";--" * 16
        await buffer.push_async(key(name), ConversationTurn("\x00 \U0001f600" * 20_000, "a\x00"))
        (kept,) = await buffer.get_recent(key(name))
        assert kept.user.startswith("\x00 \U0001f600")
        assert len(kept.user) < MAX_CHARACTERS + 100
        assert kept.assistant == "a\x00"

    async def test_keeps_nothing_of_a_user_who_was_deleted_meanwhile(self, database: Database) -> None:
        gone = await add_colleague(database, "gone", Role.VIEWER)
        buffer, theirs = DatabaseBuffer(database, 60, data_keys(database)), key("s", user=gone.user_id)
        await buffer.push_async(theirs, turn(1))
        async with database.writing() as session:
            values = {"email": "gone@example.org"}
            await session.execute(update(User).where(User.id == gone.user_id).values(**values))
        async with database.writing() as session:
            await delete_user(session, LOCAL, gone.user_id)
        assert await conversations_in(database) == 0
        await buffer.push_async(theirs, turn(2))
        assert await conversations_in(database) == 0

    async def test_counts_what_it_remembers_and_what_not(self, database: Database) -> None:
        instruments = PrometheusInstruments()
        buffer = DatabaseBuffer(database, 60, data_keys(database), AssistantMetrics(instruments))
        for number in range(MAX_SESSIONS + 2):
            await buffer.push_async(key(f"s{number}"), turn(number))
        await buffer.push_async(None, turn(1))
        await buffer.push_async(key("s5"), ConversationTurn("u", "  "))
        page = instruments.page().decode()
        for line in (
            "headgate_assistant_conversation_buffer_sessions 100.0",
            "headgate_assistant_conversation_buffer_session_evicted_total 2.0",
            "headgate_assistant_conversation_buffer_turn_recorded_total 102.0",
            'headgate_assistant_conversation_buffer_turn_skipped_total{reason="anonymous_session"} 1.0',
            'headgate_assistant_conversation_buffer_turn_skipped_total{reason="empty_response"} 1.0',
        ):
            assert line in page

    async def test_that_is_away_fails_no_turn_that_is_done_and_says_so_to_who_asks(self, tmp_path: Path) -> None:
        away = Database(make_settings(tmp_path, "postgresql+psycopg://nobody@127.0.0.1:1/none"))
        buffer = DatabaseBuffer(away, 60, data_keys(away))
        with captured_logs() as logs:
            await buffer.push_async(key("s"), turn(1))
        assert [entry["event"] for entry in logs] == ["assistant.conversation_buffer.unavailable"]
        with pytest.raises(Unavailable):
            await buffer.get_recent(key("s"))
        with pytest.raises(Unavailable):
            await buffer.clear(key("s"))
        await away.close()


async def conversations_in(database: Database) -> int:
    async with database.reading() as session:
        return await count_conversations(session)


class TestRedisBuffer:
    async def test_stores_encrypted_turns_where_that_is_on(
        self, redis_url: str, settings: Settings, database: Database
    ) -> None:
        buffer = RedisBuffer(redis_url, 60, data_keys(database, settings, always=True))
        await buffer.push_async(key("s"), ConversationTurn("PLAINTEXT", "PLAINTEXT"))
        values: list[Any] = [
            await buffer._client.lrange(name, 0, -1) async for name in buffer._client.scan_iter("*:*:*:*")
        ]
        assert [[value[:4] for value in stored] for stored in values] == [[b"hd1."]]
        assert "PLAINTEXT" not in str(values)
        await buffer.close()

    async def test_is_one_memory_for_all_servers(self, redis_url: str, database: Database) -> None:
        first, second = (RedisBuffer(redis_url, 60, data_keys(database)) for _ in range(2))
        await first.push_async(key("s"), turn(1))
        assert list(await second.get_recent(key("s"))) == [turn(1)]
        await first.close()
        await second.close()

    async def test_names_nobody_in_its_keys_and_forgets_in_time(self, redis_url: str, database: Database) -> None:
        buffer = RedisBuffer(redis_url, 60, data_keys(database))
        await buffer.push_async(SessionKey("tenant", "ada@example.org", "s"), turn(1))
        names = [name async for name in buffer._client.scan_iter()]
        assert names
        assert not any(b"ada" in name or b"tenant" in name for name in names)
        assert [0 < await buffer._client.ttl(name) <= 60 for name in names] == [True] * len(names)
        await buffer.close()

    async def test_that_is_away_is_no_past_and_no_fault(self, database: Database) -> None:
        buffer = RedisBuffer(NOWHERE, 60, data_keys(database))
        with captured_logs() as logs:
            await buffer.push_async(key("s"), turn(1))
            assert list(await buffer.get_recent(key("s"))) == []
            await buffer.clear(key("s"))
        assert [entry["event"] for entry in logs] == ["assistant.conversation_buffer.unavailable"] * 3
        await buffer.close()


class TestOpenConversations:
    async def test_takes_redis_with_the_engine_celery_only(self, database: Database) -> None:
        celery = Settings(engine=EngineSettings(backend="celery"), celery=CelerySettings(events_url=NOWHERE))
        shared = open_conversations(celery, database, AssistantMetrics(), data_keys(database))
        assert isinstance(shared, RedisBuffer)
        assert isinstance(
            open_conversations(Settings(), database, AssistantMetrics(), data_keys(database)), DatabaseBuffer
        )
        await shared.close()
