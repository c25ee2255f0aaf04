"""The HTTP client of flows."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from ssl import SSLContext
from typing import TYPE_CHECKING

import headgate
from headgate.foundation.guarded_http.addresses import AddressPolicy, Network
from headgate.foundation.guarded_http.answer import HttpAnswer
from headgate.foundation.guarded_http.credential import Credential
from headgate.foundation.guarded_http.errors import (
    ConnectFailed,
    ConnectionDropped,
    RequestTimedOut,
    TooManyRedirects,
)
from headgate.foundation.guarded_http.headers import names
from headgate.foundation.guarded_http.local_proxy import LocalProxy
from headgate.foundation.guarded_http.request import Request, is_redirect, make_request, redirected
from headgate.foundation.guarded_http.resolving import Resolver, checked_hops, resolve_checked, system_resolver
from headgate.foundation.guarded_http.retries import PAUSES, pause_after, spread
from headgate.foundation.guarded_http.slots import RequestSlots
from headgate.foundation.guarded_http.targets import parse_target
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import MEBIBYTE, HttpSettings, OutgoingSettings

if TYPE_CHECKING:  # imported at the first request; it takes a third of the start-up time
    import socket

    import httpx2

    from headgate.foundation.guarded_http import relay as relays
    from headgate.foundation.guarded_http.transport import SharedTransport
    from headgate.foundation.guarded_http.wire import Reply, Wire
else:
    relays = lazy_module("headgate.foundation.guarded_http.relay")

_DEFAULT_HEADERS = (
    ("User-Agent", f"headgate/{headgate.__version__}"),
    ("Accept", "*/*"),
    ("Accept-Encoding", "gzip, deflate"),
)


STREAM_SECONDS = 300.0
"""Read timeout within an event stream; servers send a comment regularly."""
STREAM_BYTES = 64 * MEBIBYTE
KEPT = 4


class GuardedHttp:
    """HTTP client for public addresses only. Create one per event loop and close it with the loop.

    A name is resolved once per connection, each of its addresses is checked, and the connection goes to a checked
    address, so a DNS response that changes in between has no effect. Redirects are parsed and checked like the first
    URL. Response sizes are limited while they are read, and a request with all its retries and redirects has one
    deadline. Every HTTP status is a response; only the absence of a response raises.

    Args:
        settings: Limits and the allowed networks.
        outgoing: The operator's proxy and certificate authorities.
        resolver: Resolves names.
        pauses: Seconds before each retry.
        sleep: Waits; replaced in tests.
        tls: Trusted certificates; None for the system's.
        slots: Limits of concurrent requests.
        kept: Idle connections that clients of other libraries share.
    """

    def __init__(
        self,
        settings: HttpSettings,
        outgoing: OutgoingSettings,
        *,
        resolver: Resolver = system_resolver,
        pauses: Sequence[float] = PAUSES,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        tls: SSLContext | None = None,
        slots: RequestSlots | None = None,
        keep_open: int = KEPT,
    ) -> None:
        self._keep_open = keep_open
        self._settings = settings
        self._slots = slots or RequestSlots(per_host=settings.max_connections_per_host)
        self._outgoing = outgoing
        self._policy = AddressPolicy.of(outgoing, settings.allowed_internal_cidrs)
        self._resolver = resolver
        self._pauses = tuple(pauses)
        self._sleep = sleep
        self._tls = tls
        self._wire: Wire | None = None
        self._shared: dict[tuple[Network, ...] | None, SharedTransport] = {}

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
        credential: Credential | None = None,
    ) -> HttpAnswer:
        """Send a request, with its redirects and retries, within `timeout_seconds` or the setting, whichever is less.

        The time starts once the request has a slot; waiting for one does not count.

        Idempotent requests, and those with an `Idempotency-Key`, are retried after a broken connection and after 429,
        502, 503 and 504; any request is retried when no connection was made.

        A `credential` is added to the request and to each redirect; neither goes to a server that is not one of its
        hosts. The URL of the response does not contain it.

        Raises `UpstreamFailed` when the server cannot be reached or its response is invalid, `Forbidden` when it may
        not be reached, `Invalid` when the request cannot be sent, `TooLarge` when the response exceeds the limit.
        """
        request = _with_defaults(make_request(method, url, headers, body))
        if credential is not None:
            credential.check(request)
        seconds = min(timeout_seconds, self._settings.timeout_seconds)
        async with self._slots.slot(request.target.host):
            deadline = asyncio.get_running_loop().time() + seconds
            try:
                async with asyncio.timeout_at(deadline):
                    return await self._follow(request, deadline, credential)
            except TimeoutError as error:
                raise RequestTimedOut(
                    f"{request.target.origin} did not send a complete response within {seconds:g} seconds."
                ) from error

    async def post_once(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout_seconds: float = 30.0
    ) -> int:
        """Send one POST and return the status of the response, without reading its body.

        For callers that count attempts: nothing is retried and redirects are not followed, since most of them would not
        preserve the method and the body. Raises like `request`.
        """
        request = _with_defaults(make_request("POST", url, headers, body))
        seconds = min(timeout_seconds, self._settings.timeout_seconds)
        async with self._slots.slot(request.target.host):
            try:
                async with asyncio.timeout(seconds), self._load().open(request) as reply:
                    return reply.status
            except TimeoutError as error:
                raise RequestTimedOut(f"{request.target.origin} did not respond within {seconds:g} seconds.") from error

    async def check(self, url: str) -> None:
        """Raise `AddressRefused` or `BadUrl` when a request to this URL would be refused; sends nothing."""
        target = parse_target(url)
        await checked_hops(target.host, target.port, policy=self._policy, resolver=self._resolver)

    async def addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of a server for a connection that another library makes. Raises like `check`."""
        checked = await resolve_checked(host, port, policy=self._policy, resolver=self._resolver)
        return [str(address) for address in checked]

    @asynccontextmanager
    async def local_proxy(self, servers: Iterable[str], *, most_bytes: int) -> AsyncIterator[LocalProxy]:
        """Open a proxy on loopback for a library with its own HTTP client, which reaches these servers only.

        Args:
            servers: URLs of the servers; their addresses are checked now, and for each connection.
            most_bytes: How much they may send altogether.

        Raises `AddressRefused`, `HostNotFound`.
        """
        urls = [url for url in servers if "*" not in url]
        for url in urls:
            await self.check(url)
        policies = {relays.server_of(url): self._policy for url in urls}
        relay = relays.Relay(policies.get, self._resolver, most_bytes=most_bytes)
        try:
            yield LocalProxy(relay.url, self._policy.ca_file)
        finally:
            relay.close()

    def program_proxy(self, listening: "socket.socket", allows: Callable[[str, int], bool]) -> "relays.Relay":
        """Open a proxy for a program that can connect to nothing but `listening`; the caller closes it.

        Args:
            listening: A socket in the program's network.
            allows: Whether it may reach a host on a port; the host's addresses are checked like all others.
        """
        return relays.Relay(
            lambda server: self._policy if allows(*server) else None, self._resolver, listening=listening
        )

    def streaming_client(
        self,
        *,
        headers: Mapping[str, str] | None = None,
        read_seconds: float = STREAM_SECONDS,
        max_bytes: int | None = None,
        max_stream_bytes: int = STREAM_BYTES,
    ) -> "httpx2.AsyncClient":
        """Return a guarded httpx2 client for a library that keeps responses open (server-sent events).

        Each of its requests, including redirects, is checked like ours: address, resolution, headers, method. It uses
        no proxies and no cookies, follows no redirects itself, decompresses nothing and retries nothing. The caller
        closes it::

            from mcp.client.streamable_http import streamable_http_client

            await http.check(url)  # raises AddressRefused or BadUrl, suitable for display
            async with http.streaming_client(headers={"Authorization": token}) as client:
                async with streamable_http_client(url, http_client=client) as streams:
                    ...

        Args:
            headers: Sent with each request. Raises `HeaderRefused`.
            read_seconds: Read timeout within a response.
            max_bytes: Maximum size of a response that is not an event stream; None for the setting.
            max_stream_bytes: Maximum size of an event stream.

        Its requests raise httpx2's errors; a refusal is an `httpx2.ConnectError` whose cause is a `HeadgateError`.
        """
        default_headers = _with_defaults(make_request("GET", "http://example.org", headers, None)).headers
        return self._load().streaming_client(
            dict(default_headers),
            read_seconds=read_seconds,
            max_bytes=max_bytes or self._settings.max_response_bytes,
            max_stream_bytes=max_stream_bytes,
        )

    def library_transport(self, networks: Sequence[Network] | None = None) -> "SharedTransport":
        """The shared transport for clients of model libraries: asynchronous and blocking, closed with this client.

        Its requests raise httpx2's errors; a refusal is an `httpx2.ConnectError` whose cause is a `HeadgateError`. A
        client that uses it must neither follow redirects itself nor read the environment.

        Args:
            networks: The internal networks that its addresses may be in; None for those of the settings.
        """
        key = None if networks is None else tuple(networks)
        if key not in self._shared:
            policy = self._policy if key is None else AddressPolicy.of(self._outgoing, key)
            self._shared[key] = self._load().library_transport(policy, max_bytes=STREAM_BYTES, keep=self._keep_open)
        return self._shared[key]

    async def close(self) -> None:
        """Close every connection."""
        while self._shared:
            _, shared = self._shared.popitem()
            await shared.close_connections()
        if self._wire is not None:
            await self._wire.close()
            self._wire = None

    async def _follow(self, request: Request, deadline: float, credential: Credential | None) -> HttpAnswer:
        for _ in range(self._settings.max_redirects + 1):
            sent = request if credential is None else credential.signed(request)
            response = replace(await self._send(sent, deadline), url=request.target.url)
            if not is_redirect(response.status, response.headers):
                return response
            request = redirected(request, response.status, response.headers["location"])
        raise TooManyRedirects(
            f"There were more than {self._settings.max_redirects} redirects, the last one to {request.target.origin}.",
            remedy="Use the URL of the final page.",
        )

    async def _send(self, request: Request, deadline: float) -> HttpAnswer:
        """Send one hop with its retries. The body of a redirect is not read."""
        for pause in self._pauses:
            wait: float | None = None
            try:
                async with self._load().open(request) as reply:
                    if request.is_idempotent:
                        wait = _before(deadline, pause_after(reply.status, reply.headers, pause))
                    if wait is None:
                        return await self._answer(request, reply)
            except (ConnectFailed, ConnectionDropped) as failure:
                wait = _before(deadline, spread(pause))
                if wait is None or not (request.is_idempotent or isinstance(failure, ConnectFailed)):
                    raise
            await self._sleep(wait)
        async with self._load().open(request) as reply:
            return await self._answer(request, reply)

    async def _answer(self, request: Request, reply: "Reply") -> HttpAnswer:
        redirects = is_redirect(reply.status, reply.headers)
        content = b"" if redirects else await reply.read(self._settings.max_response_bytes)
        return HttpAnswer(
            status=reply.status,
            headers=reply.headers,
            content=content,
            media_type=reply.headers.get("content-type", "").partition(";")[0].strip().lower()
            or "application/octet-stream",
            url=request.target.url,
        )

    def _load(self) -> "Wire":
        """Import the HTTP library and open the pools."""
        if self._wire is None:
            from headgate.foundation.guarded_http.wire import Wire  # noqa: PLC0415 - heavy, see above

            self._wire = Wire(self._policy, self._resolver, self._tls, connections=self._slots.in_all)
        return self._wire


def _with_defaults(request: Request) -> Request:
    header_names = names(request.headers)
    defaults = tuple((name, value) for name, value in _DEFAULT_HEADERS if name.lower() not in header_names)
    return replace(request, headers=request.headers + defaults)


def _before(deadline: float, wait: float | None) -> float | None:
    """Wait, unless the deadline would come first."""
    if wait is None or asyncio.get_running_loop().time() + wait >= deadline:
        return None
    return wait
