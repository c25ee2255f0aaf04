"""ASGI middleware: sizes, hosts, origins and security headers, before any route is reached."""

from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import orjson

from headgate.foundation.errors import Forbidden, HeadgateError, TooLarge
from headgate.foundation.settings import ServerSettings

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

UPLOADS = "/api/v1/files"
FORM_OVERHEAD_BYTES = 65_536
"""What a form adds around a file."""
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


class BodyTooLarge(TooLarge):
    """The request body is over the limit."""

    code = "body_too_large"


class HostRefused(Forbidden):
    """The request was not addressed to this server."""

    code = "host_refused"


class OriginRefused(Forbidden):
    """A page of another site tried to change something."""

    code = "origin_refused"


class Guards:
    """Checks a request before the application sees it.

    With auto-login the server trusts whoever reaches it, so it answers only to names of this machine (a page on the web
    cannot point its own name here) and refuses changes that another site's page asks for.
    """

    def __init__(self, app: App, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check and pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {key.lower(): value for key, value in scope["headers"]}
        try:
            self._check(scope, headers)
        except HeadgateError as error:
            await _answer(send, error)
            return
        body = _CappedBody(receive, self._limit(scope))
        await self._app(scope, body, _guarded(send, body))

    def _limit(self, scope: Scope) -> int:
        path = scope["path"].rstrip("/")
        return (
            self._settings.max_upload_bytes + FORM_OVERHEAD_BYTES if path == UPLOADS else self._settings.max_body_bytes
        )

    def _check(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        length = headers.get(b"content-length", b"0")
        limit = self._limit(scope)
        if not length.isdigit() or int(length) > limit:
            raise _too_large(limit)
        host = headers.get(b"host", b"").decode("latin-1")
        if self._settings.auto_login and not self._settings.insecure and not _is_local(host):
            raise HostRefused(f"This server does not answer to '{host[:100]}'.", remedy="Open it as http://127.0.0.1.")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and scope["method"] not in _SAFE and urlsplit(origin).netloc != host:
            raise OriginRefused("Another site's page may not change anything here.")


def _is_local(host: str) -> bool:
    name = urlsplit(f"//{host}").hostname or ""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"The request body is over {limit} bytes.", remedy="Send files to /api/v1/files.", limit=limit)


class _CappedBody:
    """Reads a body that may have no honest length, up to a limit."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._seen = 0
        self.limit = limit

    @property
    def is_over(self) -> bool:
        """Whether more came than may."""
        return self._seen > self.limit

    async def __call__(self) -> MutableMapping[str, Any]:
        message = await self._receive()
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            if self.is_over:
                raise _too_large(self.limit)
        return message


def _guarded(send: Send, body: _CappedBody) -> Send:
    """Add the headers; answer for a body that was too large, whatever the framework made of the error."""
    answered = False

    async def write(message: MutableMapping[str, Any]) -> None:
        nonlocal answered
        if body.is_over and not answered and message["type"] == "http.response.start":
            answered = True
            await _answer(send, _too_large(body.limit))
        if answered:
            return
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *_HEADERS]
        await send(message)

    return write


async def _answer(send: Send, error: HeadgateError) -> None:
    body = orjson.dumps(error.problem())
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *_HEADERS,
    ]
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
