"""Kafka servers for tests: the mock cluster of librdkafka, which speaks the real protocol, and a scripted broker."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.support.patience import PATIENCE_SECONDS

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Kafka:
    """A cluster on loopback."""

    servers: tuple[str, ...]

    @property
    def address(self) -> str:
        """What clients are given."""
        return ",".join(self.servers)

    @property
    def fields(self) -> dict[str, Any]:
        """Of a connection to it."""
        host, _, port = self.servers[0].partition(":")
        return {"host": host, "port": int(port), "brokers": ", ".join(self.servers[1:]), "tls": "off"}

    def send(self, topic: str, messages: Sequence[bytes | str | None], *, partition: int = 0, **settings: Any) -> None:
        """Send values to a partition in one batch."""
        records = [{"value": value} for value in messages]
        self.send_records(topic, records, partition=partition, **settings)

    def send_records(
        self, topic: str, records: Sequence[dict[str, Any]], *, partition: int = 0, **settings: Any
    ) -> None:
        """Send records with `value`, `key` and `headers`; all are stored when this returns."""
        known = {"bootstrap.servers": self.address, "linger.ms": 20, "message.max.bytes": 40_000_000}
        producer = Producer(known | {name.replace("_", "."): value for name, value in settings.items()})
        for record in records:
            producer.produce(topic, partition=partition, **record)
        assert producer.flush(PATIENCE_SECONDS) == 0

    def committed(self, group: str, topic: str, partition: int = 0) -> int:
        """The offset that a consumer group committed."""
        consumer = Consumer({"bootstrap.servers": self.address, "group.id": group})
        try:
            (found,) = consumer.committed([TopicPartition(topic, partition)], timeout=PATIENCE_SECONDS)
            return int(found.offset)
        finally:
            consumer.close()


@contextmanager
def kafka_cluster(brokers: int = 2) -> Iterator[Kafka]:
    """A mock cluster, which ends with its producer. A topic has four partitions and exists once it is asked for."""
    owner = Producer({"test.mock.num.brokers": brokers, "log_level": 0})
    give_up = time.monotonic() + PATIENCE_SECONDS
    while len(described := owner.list_topics(timeout=5).brokers) < brokers:
        assert time.monotonic() < give_up
    yield Kafka(tuple(f"{broker.host}:{broker.port}" for broker in described.values()))
    owner.flush(0)
