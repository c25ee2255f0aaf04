"""What each kind of polling trigger finds new since a cursor. Each reads with the component that flows use."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.components.data.json_text import parse_json
from headgate.components.isolated.calls import select_part
from headgate.components.web.extraction import ExtractHTML
from headgate.components.web.feeds import ReadFeed
from headgate.components.web.requests import URL, HTTPRequest
from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.hooks.bodies import text_of
from headgate.features.triggers.poll_settings import (
    ApiConfig,
    FeedConfig,
    FolderConfig,
    MailConfig,
    PageConfig,
    PollConfig,
    QueueConfig,
    RowsConfig,
    StreamConfig,
    TopicConfig,
)
from headgate.features.triggers.polling import databases, folders, mailboxes, queues, streams, topics
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import MOST_LISTED, Cursor, Fresh, fresh_of
from headgate.features.triggers.polling.results import Item, PollResult
from headgate.graph.connection_reference import ConnectionReference
from headgate.sdk import HTTP_KINDS


def fresh(config: PollConfig, keys: Sequence[str], cursor: Cursor | None) -> Fresh:
    """Return what is new in a listing."""
    return fresh_of(keys, cursor, most=config.most, all_at_first=config.first == "all")


async def read_feed(ctx: PollContext, config: FeedConfig, cursor: Cursor | None) -> PollResult:
    """Return the new entries of a feed, the oldest first: its first thousand are listed."""
    feed = await ctx.reader(ReadFeed, url=config.url, most_items=MOST_LISTED).data()
    entries = list(reversed(feed["items"]))
    keys = [str(entry["id"] or entry["url"] or digest(entry)) for entry in entries]
    return _result(fresh(config, keys, cursor), keys, entries)


async def read_page(ctx: PollContext, config: PageConfig, cursor: Cursor | None) -> PollResult:
    """Return the page when its text, or the selected part, is another one than at the last poll."""
    if config.selector:
        html = await ctx.reader(HTTPRequest, url=config.url).text()
        table = await ctx.reader(ExtractHTML, html=html, selector=config.selector).table()
        if not table.rows:
            raise TriggerInvalid(f"No element of the page matches '{config.selector}'.", remedy="Correct the selector.")
        text, title = "\n".join(str(row[0]) for row in table.rows), ""
    else:
        page = ctx.reader(URL, url=config.url)
        text, title = await page.text(), await page.title()
    value = hashlib.sha256(text.encode()).hexdigest()
    if cursor is None and config.first == "now":
        return PollResult((), Cursor(value=value))
    before = Cursor() if cursor is None else cursor
    if before.value == value:
        return PollResult((), before)
    after = replace(before, value=value, count=before.count + 1)
    item = Item(f"{after.count}:{value}", {"url": config.url, "title": title, "text": text}, text=text)
    return PollResult((item,), after)


async def read_api(ctx: PollContext, config: ApiConfig, cursor: Cursor | None) -> PollResult:
    """Return the new items of an API's answer, in its order."""
    reference = None if config.connection is None else ConnectionReference(config.connection, HTTP_KINDS)
    answer = await ctx.reader(HTTPRequest, url=config.url, connection=reference).text()
    content = parse_json(answer, subject="The API")
    items = (
        await select_part(ctx, config.items, content, subject="The trigger", location="items")
        if config.items
        else content
    )
    if not isinstance(items, list):
        raise TriggerInvalid("The items of the API are no list.", remedy="Set the JMESPath of the list of items.")
    keys = await _api_keys(ctx, config.key, items)
    return _result(fresh(config, keys, cursor), keys, items)


async def _api_keys(ctx: PollContext, expression: str, items: list[JsonValue]) -> list[str]:
    if not expression:
        return [digest(item) for item in items]
    wrapped: JsonValue = [{"item": item} for item in items]
    keys = await select_part(ctx, f"[*].item.[{expression}]", wrapped, subject="The trigger", location="key")
    values = [key[0] if isinstance(key, list) else None for key in keys] if isinstance(keys, list) else []
    if len(values) != len(items) or any(value is None or value == "" for value in values):
        raise TriggerInvalid("An item of the API has no key.", remedy="Correct the JMESPath of the key.")
    return [text_of(value) for value in values]


def digest(value: JsonValue) -> str:
    """Return a hash of an item without a key."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _result(new: Fresh, keys: Sequence[str], values: Sequence[JsonValue]) -> PollResult:
    items = tuple(Item(keys[position], values[position]) for position in new.positions)
    return PollResult(items, new.cursor, more=new.more)


@dataclass(frozen=True, slots=True)
class Source:
    """How a kind is read."""

    read: Callable[[PollContext, Any, Cursor | None], Awaitable[PollResult]]
    confirm: Callable[[PollContext, Any, Sequence[str]], Awaitable[None]] | None = None
    """Confirms to the source that the runs of items are stored."""
    wait: Callable[[PollContext, Any, str, float], Awaitable[str]] | None = None
    """Waits until its state is another one than that, at most so many seconds. Returns the state."""


SOURCES: dict[type[PollConfig], Source] = {
    FeedConfig: Source(read_feed),
    PageConfig: Source(read_page),
    FolderConfig: Source(folders.read_folder, wait=folders.wait_for_files),
    RowsConfig: Source(databases.read_rows),
    MailConfig: Source(mailboxes.read_mail, mailboxes.mark_seen, mailboxes.wait_for_mail),
    ApiConfig: Source(read_api),
    StreamConfig: Source(streams.read_entries),
    QueueConfig: Source(queues.read_messages, queues.remove_messages),
    TopicConfig: Source(topics.read_messages, topics.commit_offsets),
}
