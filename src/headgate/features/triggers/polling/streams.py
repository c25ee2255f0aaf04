"""New entries of a Redis stream: those after the position that the cursor holds."""

from dataclasses import replace

from pydantic import JsonValue

from headgate.components.redis_streams import BEGIN, StreamEntry, last_id, read_stream
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.poll_settings import StreamConfig
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import Cursor
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.graph.connection_reference import ConnectionReference

SUBJECT = "The trigger"


async def read_entries(ctx: PollContext, config: StreamConfig, cursor: Cursor | None) -> PollResult:
    """Return the entries after those that were handled, in their order."""
    connection = await ctx.connection(ConnectionReference(config.connection, ("redis",)))
    if cursor is None and config.first == "now":
        return PollResult((), Cursor(value=await last_id(connection, config.stream, subject=SUBJECT)))
    before = Cursor(value=BEGIN) if cursor is None else cursor
    entries = await read_stream(
        connection, config.stream, after=str(before.value or BEGIN), most=config.most + 1, subject=SUBJECT
    )
    new = entries[: config.most]
    items = tuple(_item(config, entry) for entry in new)
    after = replace(before, value=new[-1].id) if new else before
    return PollResult(items, after, more=len(entries) > len(new))


def _item(config: StreamConfig, entry: StreamEntry) -> Item:
    value: JsonValue = {"id": entry.id, "fields": dict(entry.fields)}
    if not config.key_field:
        return Item(entry.id, value)
    key = entry.fields.get(config.key_field)
    if not key:
        raise TriggerInvalid(
            f"The entry {entry.id} has no field '{config.key_field}'.",
            remedy="Correct the key field, or leave it empty.",
        )
    return Item(f"key:{key}", value)
