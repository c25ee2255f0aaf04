"""Messages of an AMQP queue: read unacknowledged, and removed once their runs are stored."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from headgate.components.amqp_queues import QueueMessage, acknowledge, read_queue
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.hooks.bodies import Body, Upload, parse_body
from headgate.features.triggers.poll_settings import QueueConfig
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import Cursor
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.foundation.errors import Invalid
from headgate.graph.connection_reference import ConnectionReference

SUBJECT = "The trigger"


async def read_messages(ctx: PollContext, config: QueueConfig, cursor: Cursor | None) -> PollResult:
    """Return the first messages of the queue, in their order."""
    connection = await ctx.connection(ConnectionReference(config.connection, ("amqp",)))
    messages = await read_queue(connection, config.queue, most=config.most + 1, subject=SUBJECT)
    items = tuple(_item(config, message) for message in messages[: config.most])
    before = cursor or Cursor()
    after = replace(before, unconfirmed=(*before.unconfirmed, *(item.key for item in items)))
    return PollResult(items, after, more=len(messages) > len(items))


async def remove_messages(ctx: PollContext, config: QueueConfig, keys: Sequence[str]) -> None:
    """Remove the messages whose runs are stored."""
    connection = await ctx.connection(ConnectionReference(config.connection, ("amqp",)))
    await acknowledge(connection, config.queue, keys, lambda message: _key(config, message), subject=SUBJECT)


def _item(config: QueueConfig, message: QueueMessage) -> Item:
    key = _key(config, message)
    if not key:
        missing = f"no value at '{config.key_field}'" if config.key_field else "no message id"
        raise TriggerInvalid(
            f"The first message of the queue that cannot be named has {missing}.",
            remedy="Set the key field to what names a message, such as body.order, or remove the message.",
        )
    body = _body(message)
    file = Upload("message", message.content_type or "application/octet-stream", message.body)
    return Item(key, _value(message, body), files=(file,) if body.binary else ())


def _key(config: QueueConfig, message: QueueMessage) -> str:
    """Return what names a message; empty without it."""
    if not config.key_field:
        return f"id:{message.id}" if message.id else ""
    return key_in(_value(message, _body(message)), config.key_field)


def key_in(value: JsonValue, key_field: str) -> str:
    """Return what names a message by a part of it, such as `body.order`; empty without it."""
    for name in key_field.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return f"key:{value}" if isinstance(value, str | int) and value != "" else ""


def _value(message: QueueMessage, body: Body) -> dict[str, JsonValue]:
    return {"id": message.id, "routing_key": message.routing_key, "headers": {**message.headers}, "body": body.value}


def _body(message: QueueMessage) -> Body:
    return body_of(message.content_type, message.body)


def body_of(content_type: str, content: bytes) -> Body:
    """Return a body by its type; JSON where none is given and it is, else text."""
    try:
        return parse_body(content_type or "application/json", content)
    except Invalid:
        return parse_body("text/plain", content)
