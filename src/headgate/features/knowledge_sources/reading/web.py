"""Web pages: one, those of a sitemap, or linked ones. Only the source's hosts are reached; `robots.txt` is obeyed."""

from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urldefrag

from headgate.components.isolated.calls import read_page
from headgate.components.web.feeds import ReadSitemap
from headgate.components.web.requests import checked_url
from headgate.features.connections.http import GuardedClient
from headgate.features.knowledge_sources.reading.protocol import (
    LONGEST_KEY,
    MOST_BYTES,
    Content,
    Entry,
    Gone,
    Listing,
    OnlyHosts,
    SourceContext,
)
from headgate.features.knowledge_sources.reading.robots import NOTHING, Rules, rules_of
from headgate.features.knowledge_sources.repository import Known
from headgate.features.knowledge_sources.schemas import WebSource
from headgate.foundation.errors import Forbidden, HeadgateError, UpstreamFailed
from headgate.foundation.guarded_http.credential import Credential, host_of, is_host_of
from headgate.foundation.guarded_http.errors import BadUrl
from headgate.foundation.guarded_http.targets import parse_target
from headgate.sdk import ComponentError, HttpAnswer, RunContext

SECONDS = 30.0
_ACCEPT = {"accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5"}
_GONE = frozenset({404, 410})
_HTML = frozenset({"text/html", "application/xhtml+xml"})


@asynccontextmanager
async def open_pages(ctx: SourceContext, config: WebSource, known: Mapping[str, Known]) -> AsyncIterator[Listing]:
    """Open the pages of a website. Nothing is fetched yet. Raises `ComponentError` and `BadUrl` for a bad address."""
    del known
    start = normal(checked_url(config.url, subject="Source"))
    origins = [parse_target(start).origin, *(host_of(host) for host in config.hosts)]
    hosts = dict.fromkeys(origins + [origin.replace("http://", "https://", 1) for origin in origins])
    credential = Credential("the source", tuple(hosts))
    client = cast("GuardedClient", ctx.sources.services.http)
    ctx.client = OnlyHosts(client, credential)
    yield Pages(ctx, config, start, tuple(hosts))


def normal(url: str) -> str:
    """Return a URL as it is sent, without its fragment. Raises `BadUrl`."""
    return parse_target(urldefrag(url)[0]).url


@dataclass(slots=True)
class Pages:
    """The pages of a website."""

    ctx: SourceContext
    config: WebSource
    start: str
    hosts: tuple[str, ...]
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    robots: dict[str, Rules] = field(default_factory=dict)
    """By origin."""

    async def entries(self) -> AsyncIterator[Entry]:
        """Yield the pages."""
        if self.config.follow == "sitemap":
            pages = self._of_sitemap()
        elif self.config.follow == "links":
            pages = self._linked()
        else:
            pages = self._single()
        async for page in pages:
            yield page

    async def _single(self) -> AsyncIterator[Entry]:
        yield self._entry(self.start)

    async def _of_sitemap(self) -> AsyncIterator[Entry]:
        most = self.config.most_pages
        reader = self.ctx.reader(ReadSitemap, url=self.start, most_urls=most + 1, timeout_seconds=SECONDS)
        rows = (await reader.urls()).records()
        if len(rows) > most:
            self._omit(f"The sitemap has more than {most:,} pages; the others were not read.")
        for message in self.ctx.omissions:
            self._omit(message)
        seen: set[str] = set()
        for row in rows[:most]:
            url = self._inside(str(row["url"]))
            if url is None or url in seen:
                continue
            seen.add(url)
            yield self._entry(url, f"m:{row['modified']}" if row["modified"] else "")

    async def _linked(self) -> AsyncIterator[Entry]:
        """Yield pages in the order of their distance; each is fetched for its links, so that it is read already."""
        waiting, seen, count = deque([(self.start, 0)]), {self.start}, 0
        while waiting:
            url, distance = waiting.popleft()
            count += 1
            if count > self.config.most_pages:
                self._omit(f"More than {self.config.most_pages:,} pages are linked; the others were not read.")
                return
            try:
                answer = await self._fetched(url, {})
                links = await self._links(answer) if distance < self.config.depth else []
            except HeadgateError as error:
                self.complete = self.complete and isinstance(error, Gone | Forbidden)
                yield _failing(url, error)
                continue
            yield _read(url, answer)
            for link in links:
                target = self._inside(link)
                if target is not None and target not in seen:
                    seen.add(target)
                    waiting.append((target, distance + 1))

    async def _links(self, answer: HttpAnswer) -> list[str]:
        if answer.media_type not in _HTML:
            return []
        page = await read_page(cast("RunContext", self.ctx), answer, main_only=False)
        return [link["url"] for link in page.links]

    def _inside(self, url: str) -> str | None:
        """Return the URL as it is sent; None: it is on another host, or is none that can be fetched."""
        try:
            target = parse_target(urldefrag(url)[0])
        except (BadUrl, ValueError):
            return None
        return target.url if is_host_of(target, self.hosts) and len(target.url) <= LONGEST_KEY else None

    def _omit(self, note: str) -> None:
        self.complete = False
        self.notes.append(note)

    def _entry(self, url: str, version: str = "") -> Entry:
        async def fetch(known: Known | None) -> Content | None:
            answer = await self._fetched(url, _condition(known))
            return None if answer.status == 304 else _content(answer)

        return Entry(url, url.partition("://")[2], version, fetch)

    async def _fetched(self, url: str, headers: Mapping[str, str]) -> HttpAnswer:
        """Return a page. Raises `Gone`, `Forbidden` where `robots.txt` forbids it, and what the server refuses."""
        await self._require_allowed(url)
        answer = await self.ctx.http.request("GET", url, headers={**_ACCEPT, **headers}, timeout_seconds=SECONDS)
        if answer.url != url:
            await self._require_allowed(answer.url)
        if answer.status in _GONE:
            raise Gone(f"The server has no such page (HTTP {answer.status}).")
        if answer.status >= 400:
            raise UpstreamFailed(f"The server answered HTTP {answer.status}.")
        if len(answer.content) > MOST_BYTES:
            raise ComponentError(f"The page has more than {MOST_BYTES:,} bytes.")
        return answer

    async def _require_allowed(self, url: str) -> None:
        target = parse_target(url)
        if target.origin not in self.robots:
            self.robots[target.origin] = await self._rules(target.origin)
        if not self.robots[target.origin].allow(target.path):
            raise Forbidden("The robots.txt of the server forbids it.", remedy="Ask the owner of the website.")

    async def _rules(self, origin: str) -> Rules:
        """Return what a server allows: all where it has no rules, nothing where they cannot be read."""
        try:
            answer = await self.ctx.http.request("GET", f"{origin}/robots.txt", timeout_seconds=SECONDS)
        except Forbidden:
            raise
        except HeadgateError as error:
            self._omit(f"{origin}/robots.txt could not be read: {error.detail}")
            return NOTHING
        if answer.status >= 500:
            self._omit(f"{origin}/robots.txt could not be read: HTTP {answer.status}.")
            return NOTHING
        return rules_of(answer.text) if answer.status < 300 else Rules()


def _condition(known: Known | None) -> dict[str, str]:
    """Return the headers that ask for a page only if it has changed."""
    if known is None or known.document_id is None or known.problem:
        return {}
    kind, _, value = known.version.partition(":")
    name = {"e": "if-none-match", "l": "if-modified-since"}.get(kind)
    return {name: value} if name and value else {}


def _content(answer: HttpAnswer) -> Content:
    tag, modified = answer.headers.get("etag", ""), answer.headers.get("last-modified", "")
    version = f"e:{tag}" if tag else f"l:{modified}" if modified else ""
    file_name = parse_target(answer.url).path.partition("?")[0].rpartition("/")[2]
    return Content(answer.content, answer.media_type, file_name, version if len(version) <= 300 else "")


def _read(url: str, answer: HttpAnswer) -> Entry:
    async def fetch(known: Known | None) -> Content:
        del known
        return _content(answer)

    return Entry(url, url.partition("://")[2], "", fetch)


def _failing(url: str, error: HeadgateError) -> Entry:
    async def fetch(known: Known | None) -> Content:
        del known
        raise error

    return Entry(url, url.partition("://")[2], "", fetch)
