"""Triggers that read an AMQP queue, in the real application with a real RabbitMQ server, on both databases."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from headgate.components.amqp_queues import read_queue
from headgate.features.triggers.polling import queues
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.settings import RateLimitSettings, Settings
from headgate.sdk.testing import StepHarness
from tests.integration.features.triggers.conftest import add, occurrences, published
from tests.integration.features.triggers.test_polls import connection, first_poll, polled, texts
from tests.integration.features.triggers.test_streams import answering
from tests.support.people import LOOPBACK
from tests.support.rabbitmq import PASSWORD, RabbitMq, rabbitmq_server
from tests.support.team import Team, team

pytestmark = pytest.mark.xdist_group("rabbitmq")
QUEUE = "orders"
HOSTILE = [
    b"AMQP\x00\x00\x09\x01",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"\x01\x00\x00\xff\xff\xff\xff" + b"x" * 100_000,
    b"\x01\x00\x00\xff\xff\xff\xff" + b"x" * 25_000_000,
    b"\x01\x00\x00\x00\x00\x00\x04\x00\x0a\x00\x0a\xce",
    b"\x09\x00\x00\x00\x00\x00\x04abcd\xce",
    b"\x00" * 50_000,
    b"",
]


@pytest.fixture(scope="module")
def server() -> Iterator[RabbitMq]:
    with rabbitmq_server() as started:
        yield started


@pytest.fixture
def queue(server: RabbitMq) -> RabbitMq:
    server.empty_queue(QUEUE)
    return server


@pytest.fixture
async def us(settings: Settings, server: RabbitMq) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(enabled=False), http=LOOPBACK) as people:
        fields = {"host": "127.0.0.1", "port": server.port, "user": "shop", "tls": "off"}
        await connection(people, "rabbit", "amqp", fields, password=PASSWORD)
        yield people


async def watching(us: Team, **more: Any) -> dict[str, Any]:
    """A trigger that reads the queue, after its first poll."""
    config = {"kind": "queue", "connection": "rabbit", "queue": QUEUE, "text_from": "to_string(body)"}
    trigger: dict[str, Any] = await add(us, await published(us), config=config | {"every_seconds": 3600} | more)
    await first_poll(us, trigger)
    return trigger


def named(number: int, **properties: Any) -> tuple[str, dict[str, Any]]:
    return f'{{"no": {number}}}', {"message_id": f"m{number}", "delivery_mode": 2} | properties


class TestQueue:
    async def test_each_message_is_one_run_and_is_removed_once_it_is_stored(self, us: Team, queue: RabbitMq) -> None:
        trigger = await watching(us, most=2)
        queue.send(QUEUE, [named(number) for number in (1, 2, 3)])
        dry = await us.make("publisher", f"/triggers/{trigger['id']}/dry-run")
        assert ([item["text"] for item in dry["items"]], dry["more"]) == (['{"no":1}', '{"no":2}'], True)
        assert queue.count(QUEUE) == 3
        await polled(us, trigger)
        assert queue.count(QUEUE) == 1
        await polled(us, trigger)
        assert queue.count(QUEUE) == 0
        assert sorted(await texts(us, trigger)) == ['{"no":1}', '{"no":2}', '{"no":3}']
        keys = sorted(row["key"] for row in await occurrences(us, trigger["id"]))
        assert keys == ["item:id:m1", "item:id:m2", "item:id:m3"]

    async def test_a_message_that_was_sent_twice_is_one_run(self, us: Team, queue: RabbitMq) -> None:
        trigger = await watching(us)
        queue.send(QUEUE, [named(1), named(1)])
        await polled(us, trigger)
        queue.send(QUEUE, [named(1), named(2)])
        await polled(us, trigger)
        assert sorted(await texts(us, trigger)) == ['{"no":1}', '{"no":2}']
        assert queue.count(QUEUE) == 0

    async def test_a_poll_that_ends_before_it_removes_what_it_stored_starts_nothing_again(
        self, us: Team, queue: RabbitMq, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trigger = await watching(us)
        queue.send(QUEUE, [named(1), named(2)])

        async def ended(*_: object, **__: object) -> None:
            raise UpstreamFailed("The server went away.")

        with monkeypatch.context() as patch:
            patch.setattr(queues, "acknowledge", ended)
            assert "went away" in (await polled(us, trigger))["poll_error"]
        assert queue.count(QUEUE) == 2
        assert (await polled(us, trigger))["poll_error"] == ""
        assert queue.count(QUEUE) == 0
        assert sorted(await texts(us, trigger)) == ['{"no":1}', '{"no":2}']

    async def test_messages_are_named_by_what_is_in_them(self, us: Team, queue: RabbitMq) -> None:
        trigger = await watching(us, key_field="headers.order")
        header = {"application_headers": {"order": "a"}}
        queue.send(QUEUE, [named(1, **header), named(2, **header)])
        await polled(us, trigger)
        assert await texts(us, trigger) == ['{"no":1}']

    async def test_bodies_are_values_texts_or_files(self, us: Team, queue: RabbitMq) -> None:
        trigger = await watching(us, text_from="to_string(@)")
        bodies: list[tuple[bytes | str, dict[str, Any]]] = [
            ('{"a": 1}', {}),
            ("plain", {"content_type": "text/plain"}),
            ("{not json", {"content_type": "application/json"}),
            (b"\xff\xfe\x00", {"content_type": "application/octet-stream"}),
        ]
        queue.send(QUEUE, [(body, {"message_id": str(n)} | more) for n, (body, more) in enumerate(bodies)])
        await polled(us, trigger)
        found = "\n".join(sorted(await texts(us, trigger)))
        for part in ('"body":{"a":1}', '"body":"plain"', '"body":"{not json"', '"body":null'):
            assert part in found.replace(": ", ":"), found
        assert queue.count(QUEUE) == 0

    async def test_says_what_is_wrong_and_loses_nothing(self, us: Team, queue: RabbitMq) -> None:
        trigger = await watching(us)
        queue.send(QUEUE, [("{}", {})])
        assert "has no message id" in (await polled(us, trigger))["poll_error"]
        assert queue.count(QUEUE) == 1
        with queue.channel() as channel:
            channel.queue_delete(QUEUE)
        error = (await polled(us, trigger))["poll_error"]
        assert "has no such queue" in error
        assert "Check the name of the queue" in error

    async def test_the_test_of_the_connection_signs_in(self, us: Team, server: RabbitMq) -> None:
        fields = {"host": "127.0.0.1", "port": server.port, "user": "shop", "tls": "off"}
        await connection(us, "bad", "amqp", fields, password="wrong-secret")
        path = "/connections/{}/test"
        good = (await us.ask("owner", "POST", path.format("rabbit"), params={"space_id": us.space})).json()
        bad = (await us.ask("owner", "POST", path.format("bad"), params={"space_id": us.space})).json()
        assert (good["ok"], bad["ok"]) == (True, False), (good, bad)
        assert "refused the user, the password" in bad["message"]
        assert "wrong-secret" not in str(bad)


@pytest.mark.parametrize("reply", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_hostile_server_is_an_error(reply: bytes) -> None:
    with answering(reply) as port:
        opened = StepHarness().connect("rabbit", "amqp", {"host": "127.0.0.1", "port": port, "user": "a", "tls": "off"})
        with pytest.raises(HeadgateError):
            await read_queue(opened, QUEUE, most=10, subject="The test")


async def test_a_server_that_is_not_there_is_an_error() -> None:
    opened = StepHarness().connect("rabbit", "amqp", {"host": "127.0.0.1", "port": 9, "user": "a", "tls": "off"})
    with pytest.raises(UpstreamFailed, match=r"127\.0\.0\.1:9"):
        await read_queue(opened, QUEUE, most=10, subject="The test")
