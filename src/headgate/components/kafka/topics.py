"""Reads the messages of a topic from offsets that the caller keeps.

The addresses that a cluster names are those of the connection, or they are refused: each is checked before it is
connected to.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from socket import socket
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from headgate.components.kafka.records import Gap, Record
from headgate.components.sockets import Bounded, Endpoint, encrypted, exchanged
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.extras import require_extra
from headgate.foundation.lazy import lazy_module
from headgate.sdk import ComponentError, Connection

if TYPE_CHECKING:
    from headgate.components.kafka import wire
else:
    wire = lazy_module("headgate.components.kafka.wire")

Result = TypeVar("Result")
Server = tuple[str, int]
_Records = tuple[int, "list[Record | Gap]", int]
"""A partition, what was read of it, and the offset to read next."""
SECONDS = 30
MOST_PARTITIONS = 5_000
MOST_MESSAGE = 5_000_000
"""Bytes of a message; a larger one is skipped."""
_MOST_READ = 3_000_000
"""Bytes that one broker sends before its further partitions wait for the next reading."""


@dataclass(slots=True)
class Position:
    """Where the reading of a partition is."""

    partition: int
    server: Server
    offset: int
    """The next to read."""
    end: int
    """The one after all messages of ended transactions."""


@dataclass(slots=True)
class TopicRead:
    """What was read."""

    offsets: dict[int, int]
    """The next to read, by partition."""
    records: list[tuple[int, Record | Gap]] = field(default_factory=list)
    """With the partitions; of each in the order of its offsets."""
    next_partition: int = 0
    """Where the next reading begins, so that each partition has its turn."""
    more: bool = False
    problems: list[str] = field(default_factory=list)
    """Why some partitions were not read."""


async def read_topic(
    connection: Connection,
    topic: str,
    offsets: Mapping[int, int] | None,
    *,
    all_at_first: bool,
    missing: Literal["earliest", "latest"],
    first_partition: int,
    most: int,
    subject: str,
) -> TopicRead:
    """Return the messages of a topic from these offsets on; without offsets, none or all of them.

    A partition that has no offset is new and is read from its start.

    Args:
        connection: Of the kind `kafka`.
        topic: Its name; it is not created.
        offsets: The next to read, by partition; None at first.
        all_at_first: Whether all messages are read without offsets; else those that follow.
        missing: Where to continue when the offset is not in the partition any more.
        first_partition: Which partition is read first.
        most: Most messages.
        subject: Who reads, for errors.

    Raises `ComponentError`, `ExtraNotInstalled`, `Forbidden`, `UpstreamFailed`.
    """
    leaders, problems = await _leaders(connection, topic, subject)
    before = {} if offsets is None else offsets
    read = TopicRead(dict(before), next_partition=first_partition, problems=problems)
    at_first = offsets is None and not all_at_first
    positions: list[Position] = []
    for server, partitions in leaders.items():
        try:
            starts, ends = await _within(connection, _bounds(topic, partitions), subject, server)
        except UpstreamFailed as error:
            read.problems.append(error.detail)
            continue
        for partition in partitions:
            start, end = starts[partition], ends[partition]
            offset = end if at_first else before.get(partition, start)
            gap = _lost(offset, start, end, missing)
            if gap is not None:
                read.records.append((partition, gap))
                offset = start if missing == "earliest" else end
            read.offsets[partition] = offset
            positions.append(Position(partition, server, offset, end))
    if read.problems and (offsets is None or not positions):
        raise UpstreamFailed(" ".join(read.problems), remedy="Check the cluster and the connection.")
    await _read(connection, topic, read, positions, most=most, subject=subject)
    return read


async def commit(connection: Connection, topic: str, group: str, offsets: Mapping[int, int], *, subject: str) -> None:
    """Commit offsets for a consumer group, which others see. Raises as `read_topic`."""
    server = await _asked(connection, lambda opened: opened.coordinator(group), subject)
    await _within(connection, lambda opened: opened.commit(group, topic, offsets), subject, server)


async def count_brokers(connection: Connection, *, subject: str) -> int:
    """Sign in and return the number of brokers. Raises as `read_topic`, also for one that it may not connect to."""
    described = await _asked(connection, lambda opened: opened.metadata(None), subject)
    for broker in described["brokers"]:
        await connection.address(broker["host"], broker["port"])
    return len(described["brokers"])


async def _leaders(connection: Connection, topic: str, subject: str) -> tuple[dict[Server, list[int]], list[str]]:
    """Return the partitions by the broker that leads them, and why some have none."""
    described = await _asked(connection, lambda opened: opened.metadata(topic), subject)
    servers = {broker["node_id"]: (broker["host"], broker["port"]) for broker in described["brokers"]}
    partitions = [part for each in described["topics"] if each["topic"] == topic for part in each["partitions"]]
    if not partitions or len(partitions) > MOST_PARTITIONS:
        raise ComponentError(
            f"{subject}: the topic '{topic}' has {len(partitions):,} partitions; from 1 to {MOST_PARTITIONS:,} fit.",
            remedy="Check the name of the topic.",
        )
    leaders: dict[Server, list[int]] = {}
    without: list[int] = []
    for part in sorted(partitions, key=lambda part: part["partition"]):
        server = servers.get(part["leader"])
        (without if server is None else leaders.setdefault(server, [])).append(part["partition"])
    return leaders, [f"Partitions without a leader: {', '.join(map(str, without[:10]))}."] if without else []


def _bounds(topic: str, partitions: list[int]) -> Callable[["wire.Wire"], tuple[dict[int, int], dict[int, int]]]:
    return lambda opened: (
        opened.ends(topic, partitions, wire.EARLIEST),
        opened.ends(topic, partitions, wire.LATEST),
    )


def _lost(offset: int, start: int, end: int, missing: str) -> Gap | None:
    """Return the messages that cannot be read any more."""
    if offset < start:
        reason = f"Kafka deleted these messages before they were read; reading continues at the {missing} message."
        return Gap(offset, (start if missing == "earliest" else end) - 1, reason)
    if offset > end:
        reason = f"The partition ends before the offset {offset}: it was created again or cut. Reading continues at the"
        return Gap(offset, offset, f"{reason} {missing} message.")
    return None


async def _read(
    connection: Connection, topic: str, read: TopicRead, positions: Iterable[Position], *, most: int, subject: str
) -> None:
    """Read from the partitions that have messages, each its share."""
    behind = sorted(
        (position for position in positions if position.offset < position.end),
        key=lambda position: (position.partition < read.next_partition, position.partition),
    )
    chosen = behind[: max(most - len(read.records), 0)]
    share = max(1, (most - len(read.records)) // len(chosen)) if chosen else 0
    for server in dict.fromkeys(position.server for position in chosen):
        led = [position for position in chosen if position.server == server]
        try:
            for partition, records, after in await _within(connection, _reading(topic, led, share), subject, server):
                read.records += [(partition, _bounded(record)) for record in records]
                read.offsets[partition] = after
        except UpstreamFailed as error:
            read.problems.append(error.detail)
    moved = [position for position in chosen if read.offsets[position.partition] > position.offset]
    if moved:
        read.next_partition = moved[-1].partition + 1
    left = any(read.offsets[position.partition] < position.end for position in behind)
    read.more = bool(moved or read.records) and left
    if chosen and read.problems and not moved and not read.records:
        raise UpstreamFailed(" ".join(read.problems), remedy="Check the cluster and the connection.")


def _reading(topic: str, led: Sequence[Position], share: int) -> Callable[["wire.Wire"], list[_Records]]:
    def work(opened: "wire.Wire") -> list[_Records]:
        done: list[_Records] = []
        size = 0
        for position in led:
            if size > _MOST_READ or opened.ended:
                break
            records, after = opened.records(topic, position.partition, position.offset, position.end, share)
            size += sum(len(record.value or b"") for record in records if isinstance(record, Record))
            done.append((position.partition, records, after))
        return done

    return work


def _bounded(record: Record | Gap) -> Record | Gap:
    size = len(record.value or b"") if isinstance(record, Record) else 0
    if size <= MOST_MESSAGE:
        return record
    reason = f"The message has {size:,} bytes; the most are {MOST_MESSAGE:,}."
    return Gap(record.offset, record.offset, reason) if isinstance(record, Record) else record


async def _asked(connection: Connection, work: Callable[["wire.Wire"], Result], subject: str) -> Result:
    """Do something with the first broker of the connection that can be reached."""
    named = [(connection.text("host"), connection.number("port"))]
    for host in connection.hosts:
        name, _, port = host.rpartition(":")
        if "*" not in name and (name, int(port)) not in named:
            named.append((name, int(port)))
    for server in named[:-1]:
        try:
            return await _within(connection, work, subject, server)
        except UpstreamFailed:
            continue
    return await _within(connection, work, subject, named[-1])


async def _within(
    connection: Connection, work: Callable[["wire.Wire"], Result], subject: str, server: Server
) -> Result:
    """Do something with a broker, in a thread of flows."""
    require_extra("kafka", subject)

    def exchange(endpoint: Endpoint, stream: socket) -> Any:  # noqa: ANN401
        with wire.explained(f"{endpoint.host}:{endpoint.port}", subject):
            opened = wire.Wire(Bounded(encrypted(connection, endpoint, stream)))
            if connection.text("user"):
                mechanism = connection.text("mechanism", "PLAIN")
                opened.sign_in(mechanism, connection.text("user"), connection.secret("password"))
            return work(opened)

    result: Result = await exchanged(connection, exchange, seconds=SECONDS, subject=subject, server=server)
    return result
