"""Triggers that read a Kafka topic, in the real application with the mock cluster of librdkafka, on both databases."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import uuid4

import pytest

from headgate.features.triggers.polling import topics
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.features.triggers.conftest import add, occurrences, published
from tests.integration.features.triggers.test_polls import connection, first_poll, polled, texts
from tests.support.kafka import Kafka, kafka_cluster
from tests.support.kafka_broker import batch, broker
from tests.support.people import LOOPBACK
from tests.support.team import Team, team


@pytest.fixture(scope="module")
def cluster() -> Iterator[Kafka]:
    with kafka_cluster() as made:
        yield made


@pytest.fixture
def topic(cluster: Kafka) -> str:
    name = f"orders-{uuid4().hex[:8]}"
    cluster.send(name, [b"before"])
    return name


@pytest.fixture
async def us(settings: Settings, cluster: Kafka) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(enabled=False), http=LOOPBACK) as people:
        await connection(people, "kafka", "kafka", cluster.fields)
        yield people


async def watching(us: Team, topic: str, **more: Any) -> dict[str, Any]:
    """A trigger that reads the topic, after its first poll."""
    config = {"kind": "topic", "connection": "kafka", "topic": topic, "text_from": "to_string(body)"}
    trigger: dict[str, Any] = await add(us, await published(us), config=config | {"every_seconds": 3600} | more)
    await first_poll(us, trigger)
    return trigger


def numbered(*numbers: int) -> list[bytes]:
    return [b'{"no":%d}' % number for number in numbers]


class TestTopic:
    async def test_each_message_is_one_run_named_by_its_place(self, us: Team, cluster: Kafka, topic: str) -> None:
        trigger = await watching(us, topic, most=2)
        cluster.send(topic, numbered(1, 2, 3))
        cluster.send(topic, numbered(4), partition=3)
        dry = await us.make("publisher", f"/triggers/{trigger['id']}/dry-run")
        assert ([item["text"] for item in dry["items"]], dry["more"]) == (['{"no":1}', '{"no":4}'], True)
        for _ in range(3):
            await polled(us, trigger)
        assert sorted(await texts(us, trigger)) == [f'{{"no":{number}}}' for number in (1, 2, 3, 4)]
        keys = sorted(row["key"].partition("@")[0] for row in await occurrences(us, trigger["id"]))
        assert keys == [f"item:{topic}/{place}" for place in ("0/1", "0/2", "0/3", "3/0")]

    async def test_polls_that_end_before_their_cursor_is_stored_start_nothing_twice(
        self, us: Team, cluster: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trigger = await watching(us, topic, group=f"{topic}-group")
        cluster.send(topic, numbered(1, 2))

        async def ended(*_: object, **__: object) -> None:
            raise UpstreamFailed("The cluster went away.")

        with monkeypatch.context() as patch:
            patch.setattr(topics, "commit", ended)
            assert "went away" in (await polled(us, trigger))["poll_error"]
        assert cluster.committed(f"{topic}-group", topic) == 1
        assert (await polled(us, trigger))["poll_error"] == ""
        assert cluster.committed(f"{topic}-group", topic) == 3
        assert await texts(us, trigger) == ['{"no":1}', '{"no":2}']

    async def test_messages_are_named_by_what_is_in_them(self, us: Team, cluster: Kafka, topic: str) -> None:
        trigger = await watching(us, topic, key_field="key")
        cluster.send_records(topic, [{"key": b"a", "value": b"1"}, {"key": b"a", "value": b"2"}, {"value": b"3"}])
        await polled(us, trigger)
        rows = await occurrences(us, trigger["id"])
        assert sorted(row["status"] for row in rows) == ["skipped", "started"]
        (skipped,) = [row for row in rows if row["status"] == "skipped"]
        assert "has no value at 'key'" in skipped["message"]

    async def test_keys_headers_tombstones_and_bodies_are_values(self, us: Team, cluster: Kafka, topic: str) -> None:
        trigger = await watching(us, topic, text_from="to_string(@)")
        records: list[dict[str, Any]] = [
            {"value": None, "key": b"gone"},
            {"value": b"plain", "headers": [("content-type", b"text/plain"), ("raw", b"\xff")]},
            {"value": b"\xff\xfe\x00"},
        ]
        cluster.send_records(topic, records)
        await polled(us, trigger)
        gone, plain, binary = (text.replace(" ", "") for text in await texts(us, trigger))
        assert '"body":null' in gone
        assert '"tombstone":true' in gone
        assert '"key":"gone"' in gone
        assert '"body":"plain"' in plain
        assert '"raw":"/w=="' in plain
        assert '"tombstone":false' in binary

    async def test_what_kafka_deleted_is_an_occurrence_with_its_reason(
        self, us: Team, cluster: Kafka, topic: str
    ) -> None:
        trigger = await watching(us, topic)
        for _ in range(4):  # a partition of the mock cluster keeps five megabytes
            cluster.send(topic, [os.urandom(2_000_000)])
        cluster.send(topic, numbered(1))
        await polled(us, trigger)
        first, *others = await occurrences(us, trigger["id"])
        row = next(row for row in (first, *others) if row["status"] == "skipped")
        assert row["key"].startswith(f"item:{topic}/0/1-")
        assert "Kafka deleted these messages" in row["message"]
        assert [row["status"] for row in (first, *others)].count("started") >= 1

    async def test_two_polls_at_one_time_are_one_run(self, us: Team, cluster: Kafka, topic: str) -> None:
        trigger = await watching(us, topic)
        cluster.send(topic, numbered(1, 2))
        await asyncio.gather(polled(us, trigger), polled(us, trigger))
        assert sorted(await texts(us, trigger)) == ['{"no":1}', '{"no":2}']

    async def test_says_what_is_wrong(self, us: Team, cluster: Kafka, topic: str) -> None:
        await connection(us, "narrow", "kafka", cluster.fields | {"brokers": ""})
        trigger = await watching(us, topic, connection="narrow")
        shown = await us.get("publisher", f"/triggers/{trigger['id']}")
        assert f"is not used for {cluster.servers[1]}" in shown["poll_error"]

    async def test_a_topic_that_is_created_again_starts_runs_again(self, us: Team) -> None:
        with broker(content=batch(0, b"1", b"2"), end=2) as made:
            await connection(us, "scripted", "kafka", {"host": "127.0.0.1", "port": made.port, "tls": "off"})
            trigger = await watching(us, "again", connection="scripted", first="all")
            made.content, made.end = batch(0, b"3", at=1_800_000_000_000), 1
            await polled(us, trigger)
        rows = await occurrences(us, trigger["id"])
        assert [row["status"] for row in rows].count("started") == 3
        assert "created again" in next(row["message"] for row in rows if row["status"] == "skipped")

    async def test_the_test_of_the_connection_signs_in_and_asks_for_every_broker(
        self, us: Team, cluster: Kafka
    ) -> None:
        with broker(user="shop", password="right") as made:
            fields = {"host": "127.0.0.1", "port": made.port, "tls": "off", "user": "shop"}
            await connection(us, "bad", "kafka", fields, password="wrong-secret")
            await connection(us, "narrow", "kafka", cluster.fields | {"brokers": ""})
            outcomes = {
                name: (await us.ask("owner", "POST", f"/connections/{name}/test", params={"space_id": us.space})).json()
                for name in ("kafka", "bad", "narrow")
            }
        assert [outcome["ok"] for outcome in outcomes.values()] == [True, False, False], outcomes
        assert "brokers: 2" in outcomes["kafka"]["message"]
        assert "refused the user, the password" in outcomes["bad"]["message"]
        assert "wrong-secret" not in str(outcomes)
        assert cluster.servers[1] in outcomes["narrow"]["message"]

    async def test_brokers_are_servers_with_ports(self, us: Team) -> None:
        for brokers in ("kafka-2", "http://kafka-2:9092", "kafka 2:9092x", "a:70000", "*:9092"):
            body = {"name": "k2", "kind": "kafka", "space_id": us.space, "fields": {"host": "a", "brokers": brokers}}
            made = await us.ask("owner", "POST", "/connections", json=body)
            assert made.status_code == 422, made.text
