"""Reading Kafka topics: what brokers hold, and what hostile ones send."""

import os
import zlib
from collections.abc import Iterator
from struct import pack
from typing import Any

import cramjam
import pytest
from aiokafka.codec import snappy_encode

from headgate.components.kafka import topics
from headgate.components.kafka.records import Record
from headgate.components.kafka.topics import TopicRead, commit, count_brokers, read_topic
from headgate.components.kafka.wire import MOST_EXPANDED, Expanded, expanded
from headgate.foundation.errors import Forbidden, HeadgateError, UpstreamFailed
from headgate.sdk import ComponentError, Connection
from headgate.sdk.testing import StepHarness
from tests.support.kafka import Kafka, kafka_cluster
from tests.support.kafka_broker import Broker, batch, broker

TOPIC = "orders"
PASSWORD = "only of these tests"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Kafka]:
    with kafka_cluster() as made:
        yield made


def opened(servers: tuple[str, ...], **fields: Any) -> Connection:
    host, _, port = servers[0].rpartition(":")
    values = {"host": host, "port": int(port), "tls": "off", **fields}
    return StepHarness().connect("kafka", "kafka", values, hosts=servers, secrets={"password": PASSWORD})


def to(made: Broker, **fields: Any) -> Connection:
    return opened((f"127.0.0.1:{made.port}",), **fields)


async def read(connection: Connection, topic: str = TOPIC, offsets: dict[int, int] | None = None, **more: Any) -> Any:
    settings: dict[str, Any] = {
        "all_at_first": True,
        "missing": "earliest",
        "first_partition": 0,
        "most": 100,
    }
    return await read_topic(connection, topic, offsets, subject="The test", **settings | more)


def values(found: TopicRead) -> list[tuple[int, bytes | None]]:
    return [(partition, record.value) for partition, record in found.records if isinstance(record, Record)]


class TestTopic:
    @pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
    async def test_reads_each_compression(self, cluster: Kafka, codec: str) -> None:
        topic = f"codec-{codec}"
        cluster.send(topic, [f"{number} ".encode() * 100 for number in range(20)], compression_type=codec)
        found = await read(opened(cluster.servers), topic)
        assert values(found) == [(0, f"{number} ".encode() * 100) for number in range(20)]
        assert found.offsets == {0: 20, 1: 0, 2: 0, 3: 0}

    async def test_reads_keys_headers_and_tombstones(self, cluster: Kafka) -> None:
        record = {"value": None, "key": b"k", "headers": [("trace", b"\xff"), ("none", None)]}
        cluster.send_records("keys", [record])
        ((_, found),) = (await read(opened(cluster.servers), "keys")).records
        assert (found.key, found.value, found.headers) == (b"k", None, (("trace", b"\xff"), ("none", None)))

    async def test_each_partition_has_its_turn(self, cluster: Kafka) -> None:
        for partition in range(4):
            cluster.send("turns", [f"{partition}"] * 30, partition=partition)
        connection = opened(cluster.servers)
        seen: list[int] = []
        offsets, first = None, 0
        for _ in range(4):
            found = await read(connection, "turns", offsets, most=1, first_partition=first)
            offsets, first = found.offsets, found.next_partition
            seen += [partition for partition, _ in found.records]
            assert found.more
        assert seen == [0, 1, 2, 3]
        found = await read(connection, "turns", offsets, most=8)
        assert sorted(partition for partition, _ in found.records) == [0, 0, 1, 1, 2, 2, 3, 3]

    async def test_begins_now_or_with_everything(self, cluster: Kafka) -> None:
        cluster.send("begin", [b"old"])
        found = await read(opened(cluster.servers), "begin", all_at_first=False)
        assert (found.records, found.offsets[0], found.more) == ([], 1, False)
        cluster.send("begin", [b"new"])
        assert values(await read(opened(cluster.servers), "begin", found.offsets)) == [(0, b"new")]

    async def test_a_partition_that_is_new_is_read_from_its_start(self, cluster: Kafka) -> None:
        cluster.send("grown", [b"old"])
        cluster.send("grown", [b"first"], partition=3)
        assert values(await read(opened(cluster.servers), "grown", {0: 1, 1: 0, 2: 0})) == [(3, b"first")]

    @pytest.mark.parametrize("missing", ["earliest", "latest"])
    async def test_says_which_messages_were_deleted(self, cluster: Kafka, missing: str) -> None:
        topic = f"deleted-{missing}"
        for _ in range(4):  # a partition of the mock cluster keeps five megabytes
            cluster.send(topic, [os.urandom(2_000_000)])
        cluster.send(topic, [b"last"])
        found = await read(opened(cluster.servers), topic, {0: 0}, missing=missing)
        (_, gap), *others = found.records
        assert (gap.first, found.offsets[0]) == (0, 5)
        assert "deleted these messages" in gap.reason
        assert f"at the {missing} message" in gap.reason
        if missing == "earliest":
            assert 0 < gap.last < 4
            assert others[-1][1].value == b"last"
        else:
            assert (gap.last, others) == (4, [])

    async def test_a_partition_that_was_created_again_is_read_again(self, cluster: Kafka) -> None:
        cluster.send("again", [b"a", b"b"])
        found = await read(opened(cluster.servers), "again", {0: 40})
        assert "created again or cut" in found.records[0][1].reason
        assert values(found) == [(0, b"a"), (0, b"b")]

    async def test_commits_offsets_for_others_to_see(self, cluster: Kafka) -> None:
        cluster.send("shown", [b"a", b"b"])
        await commit(opened(cluster.servers), "shown", "watchers", {0: 2}, subject="The test")
        assert cluster.committed("watchers", "shown") == 2

    async def test_a_broker_that_is_down_is_passed_over(self, cluster: Kafka) -> None:
        cluster.send("passed", [b"a"])
        found = await read(opened(("127.0.0.1:9", *cluster.servers)), "passed")
        assert values(found) == [(0, b"a")]

    async def test_messages_of_aborted_transactions_are_not_seen(self) -> None:
        content = (
            batch(0, b"kept", producer=7)
            + batch(1, b"aborted", b"aborted too", producer=8)
            + batch(3, producer=7, control=1)
            + batch(4, producer=8, control=0)
            + batch(5, b"plain")
        )
        with broker(content=content, end=6, aborted=[(8, 1)]) as made:
            found = await read(to(made))
        assert (values(found), found.offsets) == ([(0, b"kept"), (0, b"plain")], {0: 6})

    async def test_a_transaction_that_is_open_waits(self) -> None:
        with broker(content=batch(0, b"a"), end=1) as made:
            assert values(await read(to(made))) == [(0, b"a")]
            assert values(await read(to(made), offsets={0: 1})) == []

    async def test_skips_what_is_too_large_and_reads_on(self) -> None:
        large = batch(0, os.urandom(topics.MOST_MESSAGE + 1)) + batch(1, b"small")
        with broker(content=large, end=2) as made:
            found = await read(to(made))
        (_, gap), (_, small) = found.records
        assert (gap.first, gap.last, small.value) == (0, 0, b"small")
        assert "5,000,001 bytes" in gap.reason

    async def test_skips_a_batch_that_is_larger_than_a_frame(self) -> None:
        with broker(content=batch(0, b"x" * 9_000_000, b"x" * 9_000_000), end=3) as made:
            found = await read(to(made))
        assert [(gap.first, gap.last) for _, gap in found.records] == [(0, 1)]
        assert "larger than 16,000,000 bytes" in found.records[0][1].reason
        assert found.offsets == {0: 2}

    @pytest.mark.parametrize("codec", [1, 2, 3, 4], ids=["gzip", "snappy", "lz4", "zstd"])
    async def test_skips_a_batch_that_expands_without_end(self, codec: int) -> None:
        with broker(content=batch(0, b"0" * (MOST_EXPANDED + 1), codec=codec), end=1) as made:
            found = await read(to(made))
        ((_, gap),) = found.records
        assert (gap.first, gap.last) == (0, 0)
        assert "expands to more than" in gap.reason


class TestExpanded:
    @pytest.mark.parametrize("codec", [1, 2, 3, 4])
    def test_is_bounded_and_whole(self, codec: int) -> None:
        for size in (0, 1, MOST_EXPANDED):
            assert expanded(codec, packed(codec, b"a" * size)) == b"a" * size
        with pytest.raises(Expanded):
            expanded(codec, packed(codec, b"a" * (MOST_EXPANDED + 1)))

    @pytest.mark.parametrize("codec", [1, 2, 3, 4, 5])
    @pytest.mark.parametrize("content", [b"", b"\x00" * 40, b"\xff" * 40, b"PK\x03\x04"])
    def test_refuses_what_is_damaged(self, codec: int, content: bytes) -> None:
        try:
            assert expanded(codec, content) == b""
        except Exception as error:  # noqa: BLE001 - which one is the subject
            assert type(error).__name__ in {"CorruptRecordException", "UnsupportedCodecError"}  # noqa: PT017

    def test_reads_the_blocks_of_java_clients(self) -> None:
        content = os.urandom(100_000)
        assert expanded(2, snappy_encode(content)) == content


def packed(codec: int, content: bytes) -> bytes:
    if codec == 1:
        stream = zlib.compressobj(wbits=31)
        return stream.compress(content) + stream.flush()
    if codec == 2:
        return bytes(cramjam.snappy.compress_raw(content))
    return bytes((cramjam.lz4 if codec == 3 else cramjam.zstd).compress(content))


class TestSignIn:
    @pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
    async def test_signs_in(self, mechanism: str) -> None:
        with broker(user="shop", password=PASSWORD) as made:
            fields = {"user": "shop", "mechanism": mechanism}
            assert await count_brokers(to(made, **fields), subject="The test") == 1
            assert made.asked.count(36) == (1 if mechanism == "PLAIN" else 2)

    @pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
    async def test_says_what_was_refused(self, mechanism: str) -> None:
        with (
            broker(user="shop", password="another") as made,
            pytest.raises(UpstreamFailed, match="refused the user, the password") as caught,
        ):
            await count_brokers(to(made, user="shop", mechanism=mechanism), subject="The test")
        assert PASSWORD not in str(caught.value)

    async def test_a_server_cannot_make_it_calculate_for_hours(self) -> None:
        with (
            broker(user="shop", password=PASSWORD, rounds=1_000_001) as made,
            pytest.raises(UpstreamFailed, match="1,000,000 rounds"),
        ):
            await count_brokers(to(made, user="shop", mechanism="SCRAM-SHA-256"), subject="The test")

    async def test_a_server_that_does_not_know_the_password_is_refused(self) -> None:
        def forged(key: int, content: bytes) -> bytes:
            return content.replace(b"v=", b"v=AAAA", 1) if key == 36 and b"v=" in content else content

        with broker(user="shop", password=PASSWORD, tamper=forged) as made, pytest.raises(UpstreamFailed):
            await count_brokers(to(made, user="shop", mechanism="SCRAM-SHA-256"), subject="The test")


def flooded(key: int, content: bytes) -> bytes:
    return pack(">i", 2_000_000_000) + b"x" * 25_000_000 if key == 3 else content


HOSTILE = {
    "negative": lambda key, content: pack(">i", -5) + b"x" * 5_000,
    "short": lambda key, content: pack(">i", 4) + b"abcd",
    "empty": lambda key, content: b"",
    "text": lambda key, content: b"HTTP/1.1 200 OK\r\n\r\n" + b"\x00" * 5_000,
    "flood": flooded,
    "arrays": lambda key, content: content if key != 3 else content[:12] + b"\x7f\xff\xff\xff" * 300_000,
    "number": lambda key, content: content[:4] + b"\x7f\xff\xff\xff" + content[8:],
    "offsets": lambda key, content: content if key != 2 else content[:-8] + pack(">q", -9),
    "checksum": lambda key, content: content if key != 1 else content[:-1] + b"\x55",
    "records": lambda key, content: content if key != 1 else content.replace(b"value", b"\xff\xff\xff\xff\xff"),
}


class TestHostile:
    @pytest.mark.parametrize("tamper", HOSTILE.values(), ids=HOSTILE)
    async def test_an_answer_that_is_none_is_an_error(self, tamper: Any) -> None:
        with broker(content=batch(0, b"value"), end=1, tamper=tamper) as made, pytest.raises(HeadgateError):
            await read(to(made))

    async def test_a_broker_of_the_metadata_that_the_connection_does_not_list_is_not_connected_to(self) -> None:
        with (
            broker() as other,
            broker(servers=[("127.0.0.1", other.port)], end=1) as made,
        ):
            with pytest.raises(Forbidden, match=f"not used for 127.0.0.1:{other.port}"):
                await read(to(made))
            with pytest.raises(Forbidden):
                await count_brokers(to(made), subject="The test")
            assert other.asked == []

    @pytest.mark.parametrize("host", ["", "a b", "a\r\nb", "x" * 300, "http://169.254.169.254/"])
    async def test_a_broker_that_cannot_exist_is_an_error(self, host: str) -> None:
        with broker(servers=[(host, 9092)]) as made, pytest.raises(UpstreamFailed, match="cannot exist"):
            await read(to(made))

    async def test_a_pattern_lists_the_brokers_of_a_domain_at_its_port(self) -> None:
        connection = opened(("kafka.example.org:9092", "*.kafka.example.org:9092"))
        assert await connection.address("b1.kafka.example.org", 9092)
        for host, port in (("b1.kafka.example.org", 9093), ("kafka.example.org.evil.example", 9092), ("a", 9092)):
            with pytest.raises(Forbidden):
                await connection.address(host, port)

    async def test_too_many_partitions_are_refused(self) -> None:
        with (
            broker(partitions=topics.MOST_PARTITIONS + 1) as made,
            pytest.raises(ComponentError, match="5,001 partitions"),
        ):
            await read(to(made))

    async def test_a_broker_that_never_answers_ends_with_the_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(topics, "SECONDS", 0.5)
        with broker(tamper=lambda key, content: content[:6]) as made, pytest.raises(UpstreamFailed):
            await read(to(made))

    async def test_a_server_that_is_not_there_is_an_error(self) -> None:
        with pytest.raises(UpstreamFailed, match=r"127\.0\.0\.1:9"):
            await read(opened(("127.0.0.1:9",)))
