"""ASGI middleware: checks sizes, hosts and origins before routing."""

import asyncio

from headgate.entrypoints.http.errors import problem
from headgate.entrypoints.http.hosts import Names
from headgate.entrypoints.http.wire import App, Message, Receive, Scope, Send
from headgate.foundation.errors import HeadgateError, TooLarge
from headgate.foundation.settings import ServerSettings

UPLOADS = "/api/v1/files"
FRAMES = ("/w/", "/forms/")
"""Path prefixes of widgets on external pages, and of public forms."""
FORM_OVERHEAD_BYTES = 65_536
"""Overhead of a form around a file."""
MOST_PATH_BYTES = 8_192
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class BodyTooLarge(TooLarge):
    """The request body is over the limit."""

    code = "body_too_large"
    title = "Too large"


class AddressTooLong(TooLarge):
    """The path with its query is over the limit."""

    code = "address_too_long"
    status = 414
    title = "URL too long"


class BodyTooSlow(HeadgateError):
    """The client stopped sending in the middle of its body."""

    code = "body_too_slow"
    status = 408
    title = "Request timed out"


class Guards:
    """Checks a request before the application sees it.

    It must name this server (a page on the web cannot point its own name here), and what asks for a change must not be
    another site's page.
    """

    def __init__(self, app: App, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        self._names = Names(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check and pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope)
        try:
            self._check(scope, limit)
        except HeadgateError as error:
            await problem(error, {"Connection": "close"})(scope, receive, send)
            return
        body = _BoundBody(receive, limit, self._settings.read_seconds)
        await self._app(scope, body, _answered(scope, send, body))

    def _limit(self, scope: Scope) -> int:
        path = scope["path"].rstrip("/")
        return (
            self._settings.max_upload_bytes + FORM_OVERHEAD_BYTES if path == UPLOADS else self._settings.max_body_bytes
        )

    def _check(self, scope: Scope, limit: int) -> None:
        if len(scope.get("raw_path") or scope["path"]) + len(scope["query_string"]) > MOST_PATH_BYTES:
            raise AddressTooLong(
                f"The URL is longer than {MOST_PATH_BYTES} bytes.", remedy=("Send long values in the body.")
            )
        length = _one(scope, b"content-length") or "0"
        # Its length first: Python reads no number of thousands of digits.
        if not (length.isascii() and length.isdigit()) or len(length) > 18 or int(length) > limit:
            raise _too_large(limit)
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        self._names.check_host(hosts, (scope.get("server") or ("",))[0])
        if scope["method"] not in _SAFE:
            origin = _one(scope, b"origin")
            if scope["path"].startswith(FRAMES):
                return  # sandboxed frames have no origin, and send no cookie; their routes look at it themselves
            if origin or _one(scope, b"sec-fetch-site") == "cross-site":
                self._names.check_origin(origin, hosts[0])


def _one(scope: Scope, name: bytes) -> str:
    return ", ".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(
        f"The request body is larger than {limit} bytes.", remedy="Upload files to /api/v1/files.", limit=limit
    )


class _BoundBody:
    """Reads a body that may have no honest length and no end, up to a limit of size and of waiting."""

    def __init__(self, receive: Receive, limit: int, seconds: float) -> None:
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._seen = 0
        self._more = True
        self.fault: HeadgateError | None = None
        """What was wrong with it."""

    async def __call__(self) -> Message:
        if not self._more:  # the body is whole; what comes next is that the client has gone, whenever that is
            return await self._receive()
        try:
            async with asyncio.timeout(self._seconds):
                message = await self._receive()
        except TimeoutError:
            self.fault = BodyTooSlow(f"The request body was not received within {self._seconds:g} seconds.")
            raise self.fault from None
        self._more = message["type"] == "http.request" and message.get("more_body", False)
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:
            self.fault = _too_large(self._limit)
            raise self.fault
        return message


def _answered(scope: Scope, send: Send, body: _BoundBody) -> Send:
    """Respond to an invalid body, independent of the framework's error."""
    started = refused = False

    async def write(message: Message) -> None:
        nonlocal started, refused
        if body.fault is not None and not started:
            started = refused = True
            await problem(body.fault, {"Connection": "close"})(scope, body, send)
        if message["type"] == "http.response.start":
            started = True
        if not refused:
            await send(message)

    return write
