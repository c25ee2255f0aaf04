"""Messages of a Kafka topic: those from the offsets on that the cursor holds."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from headgate.components.kafka.records import Gap, Record
from headgate.components.kafka.topics import commit, read_topic
from headgate.features.triggers.hooks.bodies import Body, Upload
from headgate.features.triggers.poll_settings import TopicConfig
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import Cursor
from headgate.features.triggers.polling.queues import body_of, key_in
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk.coerce import clean_text

SUBJECT = "The trigger"
_KINDS = ("kafka",)


async def read_messages(ctx: PollContext, config: TopicConfig, cursor: Cursor | None) -> PollResult:
    """Return the messages after those that were handled, of each partition in their order."""
    connection = await ctx.connection(ConnectionReference(config.connection, _KINDS))
    before = cursor or Cursor()
    stored = before.value if isinstance(before.value, dict) else {}
    read = await read_topic(
        connection,
        config.topic,
        None if cursor is None else {int(partition): int(str(offset)) for partition, offset in stored.items()},
        all_at_first=config.first == "all",
        missing=config.missing,
        first_partition=before.count,
        most=config.most,
        subject=SUBJECT,
    )
    items = tuple(_item(config, partition, record) for partition, record in read.records)
    value: JsonValue = {str(partition): offset for partition, offset in read.offsets.items()}
    moved = config.group and value != stored
    unconfirmed = tuple(f"{partition}:{offset}" for partition, offset in read.offsets.items()) if moved else ()
    after = replace(before, value=value, count=read.next_partition, unconfirmed=unconfirmed or before.unconfirmed)
    return PollResult(items, after, more=read.more, waits_for=" ".join(read.problems))


async def commit_offsets(ctx: PollContext, config: TopicConfig, offsets: Sequence[str]) -> None:
    """Commit the offsets whose runs are stored for the consumer group of the trigger."""
    if config.group:
        connection = await ctx.connection(ConnectionReference(config.connection, _KINDS))
        named = {int(partition): int(offset) for partition, _, offset in (text.partition(":") for text in offsets)}
        await commit(connection, config.topic, config.group, named, subject=SUBJECT)


def _item(config: TopicConfig, partition: int, record: Record | Gap) -> Item:
    place = f"{config.topic}/{partition}"
    if isinstance(record, Gap):
        return Item(f"{place}/{record.first}-{record.last}", None, refusal=record.reason)
    key = f"{place}/{record.offset}@{record.timestamp}"  # offsets begin anew in a topic that is created again
    headers: dict[str, JsonValue] = {name: _text(content) for name, content in record.headers}
    media_type = next((str(text or "") for name, text in headers.items() if name.lower() == "content-type"), "")
    body = Body(None) if record.value is None else body_of(media_type, record.value)
    value: Mapping[str, JsonValue] = {
        "topic": config.topic,
        "partition": partition,
        "offset": record.offset,
        "time": _time(record.timestamp),
        "key": _text(record.key),
        "headers": headers,
        "body": body.value,
        "tombstone": record.value is None,
    }
    if config.key_field:
        named = key_in(dict(value), config.key_field)
        if not named:
            return Item(key, None, refusal=f"The message {place}/{record.offset} has no value at '{config.key_field}'.")
        key = named
    file = Upload("message", media_type or "application/octet-stream", record.value or b"")
    return Item(key, dict(value), files=(file,) if body.binary else ())


def _text(content: bytes | None) -> str | None:
    """Return UTF-8 as text, anything else in base64."""
    try:
        return None if content is None else clean_text(content.decode())
    except UnicodeDecodeError:
        return base64.b64encode(content or b"").decode()


def _time(milliseconds: int) -> str | None:
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)).isoformat()
    except OverflowError:
        return None
