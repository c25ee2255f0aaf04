"""Components for feeds and sitemaps."""

import base64
from collections import deque
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import JsonValue, PrivateAttr

from headgate.components.isolated import FEED, SITEMAP
from headgate.components.isolated.calls import call_isolated
from headgate.components.readers.feed import MOST_ITEMS, MOST_URLS
from headgate.components.web.requests import checked_url, refused
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, Data, RunContext, Table, Text, field, output

_ITEM_COLUMNS = ["title", "url", "published", "updated", "author", "summary", "categories", "id", "attachment"]
_URL_COLUMNS = ["url", "modified", "change_frequency", "priority"]


class ReadFeed(Component):
    """Reads a feed (RSS, Atom or JSON Feed) from a web address: its entries as a table."""

    label = "Read feed"
    category = "web"
    outside = True
    icon = "rss"
    keywords = (
        "rss", "atom", "json feed", "news", "blog", "podcast", "articles", "posts", "headlines", "updates", "entries",
        "subscribe", "syndication", "releases",
    )  # fmt: skip

    url: str = field(label="Address", help="https://...", main=True, tool_mode=True, max_length=8_000, syntax="url")
    most_items: int = field(
        default=50, label="Most entries", help="The first entries of the feed, at most this many.", ge=1, le=MOST_ITEMS
    )
    since: str = field(
        default="",
        label="Since",
        help="Only entries published after this ISO 8601 time; entries without a time are omitted. Empty: all.",
        max_length=40,
    )
    timeout_seconds: float = field(
        default=30.0, label="Time limit", help="Maximum wait in seconds.", ge=0.1, le=300, advanced=True
    )
    _feed: dict[str, Any] | None = PrivateAttr(default=None)

    @output(help="One row per entry: title, url, published, updated, author, summary, categories, id, attachment.")
    async def items(self) -> Table:
        """Return the entries."""
        entries = (await self._read())["items"]
        return Table(columns=_ITEM_COLUMNS, rows=[[entry[name] for name in _ITEM_COLUMNS] for entry in entries])

    @output(help="The feed: title, url, description and items.")
    async def data(self) -> Data:
        """Return the complete feed."""
        return cast("dict[str, JsonValue]", await self._read())

    @output(help="One line of Markdown per entry: its title as a link, and its date.")
    async def text(self) -> Text:
        """Return the entries as a list."""
        return "\n".join(_line(entry) for entry in (await self._read())["items"])

    async def _read(self) -> dict[str, Any]:
        """Fetch and read once."""
        if self._feed is None:
            since = self._since()
            url, content = await _fetched(self.ctx, self.url, "ReadFeed", self.timeout_seconds)
            arguments: dict[str, JsonValue] = {"content": content, "url": url, "most": self.most_items}
            result = await call_isolated(self.ctx, FEED, arguments, "ReadFeed: the feed")
            self._feed = cast("dict[str, Any]", result)
            if since:
                items = self._feed["items"]
                self._feed["items"] = [item for item in items if item["published"] and item["published"] > since]
        return self._feed

    def _since(self) -> str:
        """Return the time in UTC as the entries have it; empty without one."""
        if not self.since.strip():
            return ""
        try:
            moment = datetime.fromisoformat(self.since.strip())
        except ValueError as error:
            raise ComponentError(
                f"ReadFeed: {self.since!r} is not a date and time.", remedy="Write it as 2027-01-31.", field="since"
            ) from error
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat(timespec="seconds")


class ReadSitemap(Component):
    """Reads the addresses of a website from its sitemap; a sitemap index is followed."""

    label = "Read sitemap"
    category = "web"
    outside = True
    icon = "network"
    keywords = ("sitemap", "urls", "pages", "site", "crawl", "index", "addresses", "website", "links", "seo")

    url: str = field(
        label="Address",
        help="https://example.org/sitemap.xml",
        main=True,
        tool_mode=True,
        max_length=8_000,
        syntax="url",
    )
    most_urls: int = field(
        default=1_000, label="Most addresses", help="The first addresses, at most this many.", ge=1, le=MOST_URLS
    )
    most_sitemaps: int = field(
        default=20,
        label="Most sitemaps",
        help="How many sitemaps of an index are fetched at most.",
        ge=1,
        le=200,
        advanced=True,
    )
    timeout_seconds: float = field(
        default=30.0, label="Time limit", help="Maximum wait for each request, in seconds.", ge=0.1, le=300,
        advanced=True,
    )  # fmt: skip

    @output(help="One row per address: url, modified, change_frequency and priority.")
    async def urls(self) -> Table:
        """Fetch the sitemap, and those of an index, until there are enough addresses."""
        rows: list[list[JsonValue]] = []
        waiting = deque([self.url])
        visited: set[str] = set()
        while waiting and len(rows) < self.most_urls and len(visited) < self.most_sitemaps:
            address = waiting.popleft()
            if address in visited:
                continue
            visited.add(address)
            url, content = await _fetched(self.ctx, address, "ReadSitemap", self.timeout_seconds)
            arguments: dict[str, JsonValue] = {"content": content, "url": url}
            sitemap = cast(
                "dict[str, Any]", await call_isolated(self.ctx, SITEMAP, arguments, "ReadSitemap: the sitemap")
            )
            if sitemap["is_index"]:
                waiting.extend(entry["url"] for entry in sitemap["urls"])
            else:
                rows += [[entry[name] for name in _URL_COLUMNS] for entry in sitemap["urls"]]
        if waiting and len(rows) < self.most_urls:
            self.ctx.log("More sitemaps than the limit were not read.", read=len(visited), omitted=len(waiting))
        return Table(columns=_URL_COLUMNS, rows=rows[: self.most_urls])


async def _fetched(ctx: RunContext, url: str, subject: str, timeout_seconds: float) -> tuple[str, str]:
    """Return the final URL and the content in base64. Raises `UpstreamFailed` for an error status."""
    address = checked_url(url, subject=subject)
    await ctx.check_cancelled()
    headers = {"accept": "application/feed+json,application/rss+xml,application/atom+xml,application/xml,*/*;q=0.5"}
    response = await ctx.http.request("GET", address, headers=headers, timeout_seconds=timeout_seconds)
    if response.status >= 400:
        raise refused(subject, response)
    return response.url, base64.b64encode(response.content).decode()


def _line(entry: dict[str, Any]) -> str:
    title = clipped(" ".join(str(entry["title"] or entry["url"]).split()), 200)
    escaped = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    link = f"[{escaped}](<{entry['url']}>)" if entry["url"] else escaped
    return f"- {link}{' (' + entry['published'][:10] + ')' if entry['published'] else ''}"
