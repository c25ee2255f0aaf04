"""Triggers that read a Redis stream, in the real application with a real Redis server, on both databases."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis

from headgate.components.redis_streams import read_stream
from headgate.entrypoints.own_services import OwnRedis
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.settings import RateLimitSettings, Settings
from headgate.sdk.testing import StepHarness
from tests.integration.features.triggers.conftest import add, occurrences, published
from tests.integration.features.triggers.test_polls import connection, first_poll, polled, texts
from tests.support.people import LOOPBACK
from tests.support.team import Team, team

STREAM = "orders"
HOSTILE = [
    b"*1\r\n" * 100_000,
    b"$99999999999999\r\n" + b"x" * 100_000,
    b"*99999999999\r\n",
    b"*1\r\n*2\r\n$3\r\n1-0\r\n*1\r\n$1\r\na\r\n",
    b"*1\r\n:5\r\n",
    b"+OK\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"-ERR secret-of-nobody\r\n",
    b"\x00" * 50_000,
    b"$25000000\r\n" + b"y" * 25_000_000,
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    made = OwnRedis(tmp_path_factory.mktemp("streams"), durable=False)
    made.start()
    yield made
    made.stop()


@pytest.fixture
def queue(server: OwnRedis) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url(3), decode_responses=True) as client:
        client.flushdb()
        yield client


@pytest.fixture
async def us(settings: Settings, server: OwnRedis) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(enabled=False), http=LOOPBACK) as people:
        parts = urlsplit(server.url(3))
        fields = {"host": "127.0.0.1", "port": parts.port, "database": 3, "tls": "off"}
        await connection(people, "queue", "redis", fields, password=parts.password or "")
        yield people


async def watching(us: Team, **more: Any) -> dict[str, Any]:
    """A trigger that reads the stream, after its first poll."""
    config = {"kind": "stream", "connection": "queue", "stream": STREAM, "text_from": "fields.no"}
    trigger: dict[str, Any] = await add(us, await published(us), config=config | {"every_seconds": 3600} | more)
    await first_poll(us, trigger)
    return trigger


class TestStream:
    async def test_each_new_entry_is_one_run(self, us: Team, queue: redis.Redis) -> None:
        queue.xadd(STREAM, {"no": "0"})
        trigger = await watching(us, most=2)
        ids = [queue.xadd(STREAM, {"no": str(number)}) for number in (1, 2, 3)]
        dry = await us.make("publisher", f"/triggers/{trigger['id']}/dry-run")
        assert ([item["text"] for item in dry["items"]], dry["more"]) == (["1", "2"], True)
        for _ in range(3):
            await polled(us, trigger)
        assert sorted(await texts(us, trigger)) == ["1", "2", "3"]
        assert sorted(row["key"] for row in await occurrences(us, trigger["id"])) == ["item:" + str(id_) for id_ in ids]
        assert queue.xlen(STREAM) == 4

    async def test_begins_with_all_when_so_asked_also_before_there_is_a_stream(
        self, us: Team, queue: redis.Redis
    ) -> None:
        trigger = await watching(us, first="all")
        queue.xadd(STREAM, {"no": "1"}, id="1-1")
        await polled(us, trigger)
        queue.xadd(STREAM, {"no": "2"}, id="1-2")
        await polled(us, trigger)
        assert sorted(await texts(us, trigger)) == ["1", "2"]

    async def test_a_message_that_was_added_twice_is_one_run(self, us: Team, queue: redis.Redis) -> None:
        trigger = await watching(us, key_field="order")
        for order, number in (("a", "1"), ("a", "2"), ("b", "3")):
            queue.xadd(STREAM, {"no": number, "order": order})
        await polled(us, trigger)
        queue.xadd(STREAM, {"no": "4", "order": "b"})
        await polled(us, trigger)
        assert sorted(await texts(us, trigger)) == ["1", "3"]

    async def test_says_what_is_wrong(self, us: Team, queue: redis.Redis) -> None:
        trigger = await watching(us, key_field="order")
        queue.xadd(STREAM, {"no": "1"})
        assert "has no field 'order'" in (await polled(us, trigger))["poll_error"]
        queue.delete(STREAM)
        queue.set(STREAM, "text")
        assert "WRONGTYPE" in (await polled(us, trigger))["poll_error"]

    async def test_the_test_of_the_connection_signs_in(self, us: Team, server: OwnRedis) -> None:
        fields = {"host": "127.0.0.1", "port": urlsplit(server.url(3)).port, "tls": "off"}
        await connection(us, "bad", "redis", fields, password="wrong-secret")
        path = "/connections/{}/test"
        good = (await us.ask("owner", "POST", path.format("queue"), params={"space_id": us.space})).json()
        bad = (await us.ask("owner", "POST", path.format("bad"), params={"space_id": us.space})).json()
        assert (good["ok"], bad["ok"]) == (True, False), (good, bad)
        assert "refused the user or the password" in bad["message"]
        assert "wrong-secret" not in str(bad)


@contextmanager
def answering(reply: bytes) -> Iterator[int]:
    """The port of a server that answers the first command like this, and then closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            with client:
                client.recv(65_536)
                try:
                    client.sendall(reply)
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(65_536):
                        pass
                except OSError:
                    pass

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(10)


@pytest.mark.parametrize("reply", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_hostile_server_is_an_error(reply: bytes) -> None:
    with answering(reply) as port:
        opened = StepHarness().connect("queue", "redis", {"host": "127.0.0.1", "port": port, "tls": "off"})
        with pytest.raises(HeadgateError):
            await read_stream(opened, STREAM, after="0-0", most=10, subject="The test")


async def test_a_server_that_is_not_there_is_an_error() -> None:
    opened = StepHarness().connect("queue", "redis", {"host": "127.0.0.1", "port": 9, "tls": "off"})
    with pytest.raises(UpstreamFailed, match=r"127\.0\.0\.1:9"):
        await read_stream(opened, STREAM, after="0-0", most=10, subject="The test")
