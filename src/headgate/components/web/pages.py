"""The component that runs a flow for everything in an API whose answer has several pages."""

import hashlib
from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

import orjson
from pydantic import BaseModel, JsonValue, PrivateAttr

from headgate.components.data.json_text import parse_json
from headgate.components.data.selecting import LONGEST_EXPRESSION
from headgate.components.isolated.calls import select_part
from headgate.components.items import MOST_ITEMS
from headgate.components.iteration import FlowPerItem
from headgate.components.subflows import NamesFlow
from headgate.components.web.http_headers import checked_headers
from headgate.components.web.page_positions import Paging, Position
from headgate.components.web.page_rules import PageRules, SeenPage
from headgate.components.web.request_fields import (
    address_field,
    connection_field,
    headers_field,
    query_field,
    timeout_field,
)
from headgate.components.web.requests import refused, request_url, with_query
from headgate.sdk import (
    Component,
    ComponentError,
    ConnectionReference,
    Data,
    File,
    HttpAnswer,
    SecretReference,
    Table,
    field,
    output,
)
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import describe
from headgate.sdk.flows import FlowResult
from headgate.sdk.outside import mark

MOST_PAGES = 1_000
MOST_BYTES = 1_000_000_000
"""Bytes of all pages."""
PAGE_NAME = "page.json"
"""One name for all pages: a mark on content from outside names the file, and a step has few marks."""


class FetchedPage(BaseModel):
    """A page that was fetched: what a later attempt needs to continue after it, without fetching it again."""

    url: str
    items: int
    size: int
    """In bytes."""
    sha256: str
    """Of the body."""
    first: int
    """Number of the first run of this page."""
    runs: int
    file: File
    """The items of the page."""
    following: str | int | None
    """Position of the next page; None when this is the last one."""
    limit: str = ""
    """The limit that makes it the last one, while the API has more."""


class _PagedRequest(Component):
    """The fields of the requests: after the flow, before those of its runs."""

    url: str = address_field()
    connection: ConnectionReference | None = connection_field(
        "Adds its credential to the requests, which then reach its hosts only.", default=None
    )
    query: dict[str, str | int | float | bool | None] = query_field()
    headers: dict[str, str | SecretReference] = headers_field()
    paging: Paging = field(
        default="link",
        label="Paging",
        help=(
            "link: each page has a link to the next; cursor: a value to send for the next; page: a page number; "
            "offset: the number of items before the page."
        ),
    )
    parameter: str = field(
        default="",
        label="Query parameter",
        help="Gets the cursor, the page number or the offset; empty: cursor, page or offset.",
        port=False,
        max_length=200,
    )
    next: str = field(
        default="",
        label="Next",
        help=(
            "JMESPath of the next link (empty: the Link header) or of the cursor; with page and offset, a condition "
            "that there is another page (empty: until a page has no items)."
        ),
        port=False,
        interpolate=False,
        max_length=LONGEST_EXPRESSION,
        syntax="jmespath",
    )
    first_page: int = field(
        default=1, label="First page", help="Number of the first page, with page.", port=False, ge=0, advanced=True
    )
    items: str = field(
        default="",
        label="Items",
        help="JMESPath of the list of items in a page, for example data.orders; empty: the page is the list.",
        port=False,
        interpolate=False,
        max_length=LONGEST_EXPRESSION,
        syntax="jmespath",
    )
    per: Literal["item", "page"] = field(
        default="item", label="A run for each", help="item: each item of each page; page: the list of items of a page."
    )


class ForEachPage(FlowPerItem, _PagedRequest, NamesFlow):
    """Runs a published flow for every item, or every page, of an API whose answer has several pages.

    A page is fetched when a run of its items may start, and its items are stored as a file of the run. After an
    interruption no page is fetched again except the one that was being fetched, and no item is run again.
    """

    label = "For each page of an API"
    category = "logic"
    icon = "files"
    effect = True
    outside = True
    keywords = (
        "pagination", "paginate", "paging", "pages", "next link", "cursor", "offset", "all pages", "api", "rest",
        "every record", "loop", "foreach", "crawl api", "sync", "import all", "batch", "subflow",
    )  # fmt: skip

    most_pages: int = field(default=100, label="Most pages", help="Pages that are fetched.", ge=1, le=MOST_PAGES)
    most_items: int = field(
        default=MOST_ITEMS, label="Most items", help="Items that are used.", ge=1, le=MOST_ITEMS, advanced=True
    )
    at_limit: Literal["fail", "continue"] = field(
        default="fail",
        label="At the limit",
        help="When the API has more: fail: the step fails after the runs; continue: return their results.",
    )
    timeout_seconds: float = timeout_field("Maximum wait for a page in seconds.")
    _pages: list[FetchedPage] = PrivateAttr(default_factory=list)
    _open: tuple[int, list[JsonValue]] | None = PrivateAttr(default=None)
    """Number of the page whose items are in memory, and the items."""

    @output(help="Items that failed: index, page (from 1), error, code and run_id.")
    async def errors(self) -> Data:
        """The failed items."""
        return await super().errors()

    @output(help="One row per page: page, url, items, bytes, sha256 of the answer, and file_id of the stored items.")
    async def pages(self) -> Table:
        """The pages that were fetched."""
        await self.ended()
        rows: list[list[JsonValue]] = [
            [number, page.url, page.items, page.size, page.sha256, page.file.id]
            for number, page in enumerate(self._pages, 1)
        ]
        return Table(columns=["page", "url", "items", "bytes", "sha256", "file_id"], rows=rows)

    @output(help="Number of pages and items, and complete: false when a limit was reached.")
    async def summary(self) -> Data:
        """How the pages ended."""
        await self.ended()
        items = sum(page.items for page in self._pages)
        return {"pages": len(self._pages), "items": items, "complete": not self._pages[-1].limit}

    async def ended(self) -> Sequence[FlowResult]:
        """Return the results of all runs. Raises `ComponentError` at a limit, where that is set."""
        if self._results is not None:
            return self._results
        results = await super().ended()
        for number, page in enumerate(self._pages, 1):  # the lines of attempts that ended in a wait are not kept
            self.ctx.log(f"Page {number}: {page.url}", items=page.items, bytes=page.size, sha256=page.sha256)
        limit = self._pages[-1].limit
        if limit and self.at_limit == "fail":
            raise ComponentError(
                f"ForEachPage: the API has more than the limit of {limit}.",
                remedy="Raise the limit, or set 'At the limit' to continue.",
                field="at_limit",
            )
        return results

    async def item(self, index: int) -> Sequence[JsonValue] | None:
        """Return an item, or the items of a page, as a list of one. Fetches the pages up to it, each once."""
        while not self._pages or index >= self._pages[-1].first + self._pages[-1].runs:
            if self._pages and self._pages[-1].following is None:
                return None
            await self._add_page()
        number = next(number for number, page in enumerate(self._pages) if index < page.first + page.runs)
        items = await self._items_of(number)
        return [items[index - self._pages[number].first] if self.per == "item" else items]

    def named(self, index: int) -> dict[str, JsonValue]:
        """Return the page of an item."""
        return {"page": next(n for n, page in enumerate(self._pages, 1) if index < page.first + page.runs)}

    async def _items_of(self, number: int) -> list[JsonValue]:
        """Return the items of a page; those of one page are in memory."""
        if self._open is None or self._open[0] != number:
            self._open = number, orjson.loads(await self.ctx.files.read(self._pages[number].file))
        return self._open[1]

    async def _add_page(self) -> None:
        """Add the next page: stored by an earlier attempt, or fetched now."""
        number = len(self._pages)

        async def fetch() -> JsonValue:
            return (await self._fetch(number)).model_dump(mode="json")

        request = CallRequest.of("value", "ForEachPage", {"page": number})
        page = FetchedPage.model_validate((await self.ctx.once(request, fetch)).value)
        self.ctx.mark_outside([mark("web", urlsplit(page.url).hostname or "")])
        self._pages.append(page)

    async def _fetch(self, number: int) -> FetchedPage:
        await self.ctx.check_cancelled()
        url, answer = await self._get(self._pages[-1].following if self._pages else self._rules.first)
        content = parse_json(answer.text, subject=f"ForEachPage: page {number + 1}")
        items = await self._select(self.items, content, "items")
        if not isinstance(items, list):
            raise ComponentError(
                f"ForEachPage: the items of page {number + 1} are {describe(items)}, not a list.",
                remedy="Set Items to the JMESPath of the list.",
                field="items",
            )
        following = await self._rules.following(url, content, answer, items=len(items), seen=self._seen)
        limit = self._limit(len(items), following, len(answer.content))
        used = items[: self._items_left()]
        file = await self.ctx.files.save(PAGE_NAME, orjson.dumps(used), "application/json")
        self.ctx.log(f"Fetched page {number + 1}: {len(items)} items, {len(answer.content)} bytes.")
        self._open = number, used
        return FetchedPage(
            url=url,
            items=len(used),
            size=len(answer.content),
            sha256=hashlib.sha256(answer.content).hexdigest(),
            first=self._pages[-1].first + self._pages[-1].runs if self._pages else 0,
            runs=len(used) if self.per == "item" else min(len(used), 1),
            file=file,
            following=None if limit else following,
            limit=limit,
        )

    @property
    def _rules(self) -> PageRules:
        return PageRules("ForEachPage", self.paging, self.parameter, self.next, self.first_page, self._select)

    @property
    def _seen(self) -> list[SeenPage]:
        return [SeenPage(page.url, page.sha256, page.following) for page in self._pages]

    def _items_left(self) -> int:
        return self.most_items - sum(page.items for page in self._pages)

    async def _get(self, position: Position) -> tuple[str, HttpAnswer]:
        """Return the URL of a page and the answer."""
        connection = None if self.connection is None else await self.ctx.connection(self.connection)
        first = with_query(request_url(self.url, connection, subject="ForEachPage"), self.query)
        url = self._rules.url(first, position)
        headers = await checked_headers(self.ctx, self.headers, component="ForEachPage", url=url)
        headers.setdefault("accept", "application/json")
        http = self.ctx.http if connection is None else connection.http
        answer = await http.request("GET", url, headers=headers, timeout_seconds=self.timeout_seconds)
        if answer.status >= 400:
            raise refused("ForEachPage", answer)
        return url, answer

    async def _select(self, expression: str, content: JsonValue, location: str) -> JsonValue:
        if not expression.strip():
            return content
        return await select_part(self.ctx, expression, content, subject="ForEachPage", location=location)

    def _limit(self, items: int, following: Position, size: int) -> str:
        """Return the limit at which the pages end, while the API has more; empty when they do not."""
        left = self._items_left()
        if items > left or (items == left and following is not None):
            return f"{self.most_items} items"
        if following is None:
            return ""
        if len(self._pages) + 1 == self.most_pages:
            return f"{self.most_pages} pages"
        return f"{MOST_BYTES} bytes" if sum(page.size for page in self._pages) + size >= MOST_BYTES else ""
