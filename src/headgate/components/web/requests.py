"""Web components: a request, a page."""

import json
import time
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlencode, urlsplit, urlunsplit

from pydantic import JsonValue, PrivateAttr

from headgate.components.data.json_text import is_json_type, parse_json
from headgate.components.isolated.calls import read_page
from headgate.components.readers.markup import Page
from headgate.components.web.http_headers import checked_headers
from headgate.components.web.request_fields import (
    address_field,
    connection_field,
    headers_field,
    key_field,
    query_field,
    timeout_field,
)
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.guarded_http.retries import retry_after
from headgate.graph.names import clipped
from headgate.graph.ports import PortType
from headgate.graph.template import Template
from headgate.sdk import (
    Component,
    ComponentError,
    Connection,
    ConnectionReference,
    Data,
    HttpAnswer,
    RunContext,
    SecretReference,
    Text,
    field,
    output,
)
from headgate.sdk.coerce import data_of, encode, text_of

MOST_PAUSE = 86_400.0
"""Seconds that a server can ask for."""
_MOMENT = 1_000_000_000
"""A reset above it is a time since 1970, below it a number of seconds."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]


class HTTPRequest(Component):
    """Sends a request to a web address or API and gives the answer: parsed JSON, text and status."""

    label = "HTTP request"
    category = "web"
    outside = True
    icon = "globe"
    keywords = (
        "api", "rest", "fetch", "get", "post", "put", "delete", "call", "endpoint", "curl", "download", "json",
        "web service", "request", "url", "integrate", "query", "send", "internet",
    )  # fmt: skip

    method: Method = field(default="GET", label="Method", help="HTTP method.", tool_mode=True)
    url: str = address_field(tool_mode=True)
    connection: ConnectionReference | None = connection_field(
        "Adds its credential to the request, which then reaches its hosts only.", default=None
    )
    query: dict[str, str | int | float | bool | None] = query_field()
    headers: dict[str, str | SecretReference] = headers_field()
    body: str | Data = field(
        default=None, label="Body", help="Text unchanged, or data as JSON; empty sends no body.", tool_mode=True
    )
    timeout_seconds: float = timeout_field()
    fail_on_error: bool = field(
        default=True,
        label="Fail on error status",
        help="A status of 400 or more fails the step; when off, it is returned like any response.",
        advanced=True,
    )
    idempotency_key: bool = key_field()
    _answer: HttpAnswer | None = PrivateAttr(default=None)

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:
        """Return a template with an effect for every method except GET, HEAD and OPTIONS."""
        return super().template(params).model_copy(update={"effect": (params or {}).get("method", "GET") not in _SAFE})

    @output(help="The JSON of the response; a stored file's description for binary content; otherwise the text.")
    async def data(self) -> Data:
        """Return the response body as data."""
        return await answer_data(self.ctx, await self._send(), subject="HTTPRequest")

    @output(help="The body as text; empty for binary content.")
    async def text(self) -> Text:
        """Return the response body as text."""
        response = await self._send()
        return "" if is_binary(response) else response.text

    @output(help="The status, for example 200.")
    async def status(self) -> Data:
        """Return the status code of the response."""
        return (await self._send()).status

    async def _send(self) -> HttpAnswer:
        """Send once for all requested outputs."""
        if self._answer is None:
            connection = None if self.connection is None else await self.ctx.connection(self.connection)
            url = with_query(request_url(self.url, connection, subject="HTTPRequest"), self.query)
            headers = await checked_headers(self.ctx, self.headers, component="HTTPRequest", url=url)
            body, media_type = _body(self.body)
            if body is not None:
                headers.setdefault("content-type", media_type)
            if self.idempotency_key and self.method not in _SAFE:
                headers.setdefault("idempotency-key", self.ctx.idempotency_key())
            await self.ctx.check_cancelled()
            http = self.ctx.http if connection is None else connection.http
            response = await http.request(
                self.method, url, headers=headers, body=body, timeout_seconds=self.timeout_seconds
            )
            if self.fail_on_error and response.status >= 400:
                raise refused("HTTPRequest", response)
            self._answer = response
        return self._answer


class URL(Component):
    """Fetches a web page and gives its readable text as Markdown, its title and its links."""

    label = "Web page"
    category = "web"
    outside = True
    icon = "link"
    keywords = (
        "website", "site", "page", "scrape", "scraper", "crawl", "fetch", "read", "download", "article", "html",
        "markdown", "browse", "link", "web", "internet", "online", "content", "summarise page",
    )  # fmt: skip

    url: str = field(label="Address", help="https://...", main=True, tool_mode=True, max_length=8_000, syntax="url")
    main_only: bool = field(
        default=True, label="Main content only", help="Remove navigation, header and footer.", advanced=True
    )
    timeout_seconds: float = timeout_field()
    _page: Page | None = PrivateAttr(default=None)

    @output(help="The page as Markdown; URLs of text, JSON, PDF and Word documents return their text.")
    async def text(self) -> Text:
        """Return the page's text."""
        return (await self._read()).markdown

    @output(help="The page's title.")
    async def title(self) -> Text:
        """Return the page's title."""
        return (await self._read()).title

    @output(help="The page's links: a list of objects with text and url.")
    async def links(self) -> Data:
        """Return the page's links."""
        return [data_of(dict(link)) for link in (await self._read()).links]

    async def _read(self) -> Page:
        """Fetch and parse once."""
        if self._page is None:
            url = checked_url(self.url, subject="URL")
            await self.ctx.check_cancelled()
            headers = {"accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.8,*/*;q=0.5"}
            response = await self.ctx.http.request("GET", url, headers=headers, timeout_seconds=self.timeout_seconds)
            if response.status >= 400:
                raise refused("URL", response)
            self._page = await read_page(self.ctx, response, main_only=self.main_only)
        return self._page


async def answer_data(ctx: RunContext, response: HttpAnswer, *, subject: str) -> Data:
    """Return the JSON of a response, the description of a stored file for binary content, otherwise the text."""
    if is_binary(response):
        await ctx.check_cancelled()
        name = urlsplit(response.url).path.rpartition("/")[2] or "download"
        return data_of(await ctx.files.save(name, response.content, response.media_type))
    if is_json_type(response.media_type) and response.content:
        return parse_json(response.text, subject=subject)
    return response.text


def checked_url(url: str, *, subject: str) -> str:
    """Return the URL with a scheme. Raises `ComponentError` when it is not a web URL."""
    text = url.strip()
    if text and "://" not in text and not text.lower().startswith(("javascript:", "data:", "mailto:", "file:")):
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in {"http", "https"} or not host or any(char.isspace() or ord(char) < 32 for char in text):
        raise ComponentError(
            f"{subject}: {clipped(url, 80)!r} is not a URL.",
            remedy="Write it as https://example.org/page.",
            field="url",
        )
    return text


def with_query(url: str, query: Mapping[str, str | float | None]) -> str:
    """Return the URL with query parameters added."""
    pairs = [(name, str(value).lower() if isinstance(value, bool) else value) for name, value in query.items()]
    added = urlencode([(name, value) for name, value in pairs if value is not None])
    if not added:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query=f"{parts.query}&{added}" if parts.query else added))


def is_binary(response: HttpAnswer) -> bool:
    """Return whether the body is binary: by its media type, else by a NUL near its beginning."""
    media = response.media_type
    if (
        media.startswith("text/")
        or is_json_type(response.media_type)
        or media.endswith(("xml", "javascript", "x-www-form-urlencoded", "yaml"))
    ):
        return False
    kind = media.partition("/")[0]
    return (
        kind in {"image", "audio", "video", "font"} or media == "application/pdf" or b"\x00" in response.content[:4096]
    )


def request_url(url: str, connection: Connection | None, *, subject: str) -> str:
    """Return the URL of a request; a path is completed with the address of the connection."""
    text = url.strip()
    return checked_url(connection.url(text) if connection and text.startswith("/") else text, subject=subject)


def _body(body: str | Data) -> tuple[bytes | None, str]:
    """Return the bytes to send and their media type."""
    if body is None or body == "":
        return None, ""
    if isinstance(body, str):
        looks_json = body.lstrip()[:1] in {"{", "["}
        return body.encode(errors="replace"), "application/json" if looks_json else "text/plain; charset=utf-8"
    return json.dumps(encode(body, PortType.DATA), ensure_ascii=False).encode(), "application/json"


def refused(subject: str, response: HttpAnswer) -> UpstreamFailed:
    """Return the error of a response with an error status."""
    excerpt = "" if is_binary(response) else clipped(text_of(response.text), 200)
    pause = pause_of(response)
    return UpstreamFailed(
        f"{subject}: {urlsplit(response.url).netloc} answered {response.status}{': ' + excerpt if excerpt else ''}.",
        remedy="Check the URL, the method and the keys in the headers.",
        upstream_status=response.status,
        **({} if pause is None else {"retry_after_seconds": pause}),
    )


def pause_of(response: HttpAnswer) -> float | None:
    """Return the seconds that the server asks to wait: `Retry-After`, else the reset of a used-up rate limit."""
    if response.status not in {403, 429, 503}:
        return None
    headers = response.headers
    pause = retry_after(headers.get("retry-after", "")) if headers.get("retry-after") else None
    for prefix in ("x-ratelimit-", "ratelimit-", "x-rate-limit-"):
        reset = headers.get(f"{prefix}reset", "").strip()
        if (
            pause is None
            and headers.get(f"{prefix}remaining", "").strip() == "0"
            and reset.isascii()
            and reset.isdigit()
        ):
            seconds = float(reset[:12])
            pause = max(0.0, seconds - time.time()) if seconds > _MOMENT else seconds
    return None if pause is None else min(pause, MOST_PAUSE)
