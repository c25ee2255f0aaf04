"""HTTP engine: httpcore2 connections to checked addresses, httpx2 decoders. Imported at the first request.

httpx2's client is not used: its cookie jar would carry one tenant's cookies into another's requests, and it reads
proxies and passwords from the environment.
"""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import httpcore2
import httpx2

from headgate.foundation.guarded_http.addresses import AddressPolicy
from headgate.foundation.guarded_http.conversion import CONNECT_SECONDS, to_httpcore, translated
from headgate.foundation.guarded_http.errors import (
    AnswerTooLarge,
    BrokenAnswer,
    ConnectFailed,
    HostNotFound,
    ProxyFailed,
)
from headgate.foundation.guarded_http.proxy import Opening, connecting
from headgate.foundation.guarded_http.request import Request
from headgate.foundation.guarded_http.resolving import Hop, Resolver, blocking_hops, checked_hops, system_resolver
from headgate.foundation.guarded_http.slots import IN_ALL
from headgate.foundation.guarded_http.transport import BlockingTransport, GuardedTransport, SharedTransport

KEEP_ALIVE_SECONDS = 4.0
"""Below the 5 s after which servers on Node (Flowise) and uvicorn (MCP) close an idle connection: a request sent at
that moment gets no response, and whether it was processed is unknown.
"""
WRITE_SECONDS = 30.0
"""Write timeout for one chunk of a request."""
_DECODED = frozenset({"gzip", "deflate", "identity"})
MAX_ENCODINGS = 2
_FAILURES = (httpcore2.NetworkError, httpcore2.TimeoutException)


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections to checked addresses; the name is only used for TLS and the `Host` header."""

    def __init__(self, policy: AddressPolicy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that accepts."""
        failure: ConnectFailed | None = None
        for hop in await checked_hops(host, port, policy=self._policy, resolver=self._resolver):
            try:
                with connecting(host, port, hop.tunnel, _FAILURES):
                    return await self._open(hop, timeout or CONNECT_SECONDS, local_address, socket_options)
            except ProxyFailed:
                raise
            except ConnectFailed as error:
                failure = error
        raise failure or HostNotFound(f"{host} has no IP address.")

    async def _open(self, hop: Hop, *rest: Any) -> httpcore2.AsyncNetworkStream:  # noqa: ANN401 - httpcore2's own arguments
        stream = await self._network.connect_tcp(hop.address, hop.port, *rest)
        try:
            if hop.tunnel is not None:
                opening = Opening(hop.tunnel)
                await stream.write(hop.tunnel.request, CONNECT_SECONDS)
                while not opening.is_open(await stream.read(1, CONNECT_SECONDS)):
                    pass
        except BaseException:
            await stream.aclose()
            raise
        return stream

    async def sleep(self, seconds: float) -> None:
        """Wait between httpcore2's attempts."""
        await asyncio.sleep(seconds)


class BlockingBackend(httpcore2.NetworkBackend):
    """Opens connections to checked addresses from a blocking thread, not the event loop's."""

    def __init__(self, policy: AddressPolicy, resolver: Resolver) -> None:
        self._policy = policy
        self._resolver = resolver
        self._network = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        """Connect to the first address that accepts."""
        failure: ConnectFailed | None = None
        for hop in blocking_hops(host, port, policy=self._policy, resolver=self._resolver):
            try:
                with connecting(host, port, hop.tunnel, _FAILURES):
                    return self._open(hop, timeout or CONNECT_SECONDS, local_address, socket_options)
            except ProxyFailed:
                raise
            except ConnectFailed as error:
                failure = error
        raise failure or HostNotFound(f"{host} has no IP address.")

    def _open(self, hop: Hop, *rest: Any) -> httpcore2.NetworkStream:  # noqa: ANN401 - httpcore2's own arguments
        stream = self._network.connect_tcp(hop.address, hop.port, *rest)
        try:
            if hop.tunnel is not None:
                opening = Opening(hop.tunnel)
                stream.write(hop.tunnel.request, CONNECT_SECONDS)
                while not opening.is_open(stream.read(1, CONNECT_SECONDS)):
                    pass
        except BaseException:
            stream.close()
            raise
        return stream

    def sleep(self, seconds: float) -> None:
        """Wait between httpcore2's attempts."""
        time.sleep(seconds)


class Reply:
    """A response whose head was received."""

    def __init__(self, origin: str, method: str, response: httpcore2.Response) -> None:
        self.status = response.status
        self.headers = _headers(response.headers)
        self._origin = origin
        self._has_body = method != "HEAD"
        self._response = response

    async def read(self, limit: int) -> bytes:
        """Return the decompressed body. Raises `AnswerTooLarge` as soon as either form exceeds `limit` bytes."""
        self._refuse_unknown_encodings()
        announced = self.headers.get("content-length", "")
        if self._has_body and announced.isdigit() and int(announced[:18]) > limit:
            raise self._too_large(limit)
        content = bytearray()
        response = httpx2.Response(
            self.status,
            headers={"content-encoding": self.headers.get("content-encoding", "identity")},
            stream=_Capped(self._response, self._too_large(limit), limit),
        )
        try:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > limit:
                    raise self._too_large(limit)
        except httpx2.DecodingError as error:
            raise BrokenAnswer(f"The response of {self._origin} cannot be decompressed.") from error
        return bytes(content)

    def _too_large(self, limit: int) -> AnswerTooLarge:
        return AnswerTooLarge(
            f"The response of {self._origin} is larger than {limit} bytes.",
            remedy="Request less data, or ask the operator to raise HEADGATE_HTTP__MAX_RESPONSE_BYTES.",
        )

    def _refuse_unknown_encodings(self) -> None:
        codings = [coding.strip().lower() for coding in self.headers.get("content-encoding", "identity").split(",")]
        if len(codings) > MAX_ENCODINGS or not _DECODED.issuperset(codings):
            raise BrokenAnswer(f"The response of {self._origin} uses a compression that was not requested.")


class _Capped(httpx2.AsyncByteStream):
    """The raw body, up to a number of bytes: a compressed body may decompress to nothing."""

    def __init__(self, response: httpcore2.Response, too_large: AnswerTooLarge, limit: int) -> None:
        self._response = response
        self._too_large = too_large
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._response.aiter_stream():
            self._left -= len(chunk)
            if self._left < 0:
                raise self._too_large
            yield chunk


class Wire:
    """Sends requests with two pools: repeatable requests reuse connections, all others open a new one.

    A reused connection may turn out to be closed; only a repeatable request can recover from that.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        resolver: Resolver,
        tls: ssl.SSLContext | None = None,
        *,
        connections: int = IN_ALL,
    ) -> None:
        self._connections = connections
        self._backend = CheckedBackend(policy, resolver)
        self._resolver = resolver
        self._tls = tls or trusted(policy)
        self._kept = self._new_pool(keep=20)
        self._fresh = self._new_pool(keep=0)

    @asynccontextmanager
    async def open(self, request: Request) -> AsyncIterator[Reply]:
        """Send a request; the connection is released when the block ends.

        Raises `ConnectFailed`, `ConnectionDropped`, `BrokenAnswer`, `AddressRefused`, `HostNotFound`.
        """
        origin = request.target.origin
        pool = self._kept if request.is_idempotent else self._fresh
        with translated(origin):
            async with AsyncExitStack() as stack:
                response = await pool.handle_async_request(to_httpcore(request))
                stack.push_async_callback(response.aclose)
                yield Reply(origin, request.method, response)

    def streaming_client(
        self, headers: Mapping[str, str], *, read_seconds: float, max_bytes: int, max_stream_bytes: int
    ) -> httpx2.AsyncClient:
        """Return an httpx2 client with separate connections; see `GuardedHttp.streaming_client`."""
        client = httpx2.AsyncClient(
            transport=GuardedTransport(self._new_pool(keep=4), max_bytes=max_bytes, max_stream_bytes=max_stream_bytes),
            headers=dict(headers),
            timeout=httpx2.Timeout(WRITE_SECONDS, read=read_seconds, pool=None),
            follow_redirects=False,
            trust_env=False,
        )
        client.cookies.jar.set_policy(
            DefaultCookiePolicy(allowed_domains=[])
        )  # one tenant's cookies would be sent for another
        return client

    def library_transport(self, policy: AddressPolicy, *, max_bytes: int, keep: int) -> SharedTransport:
        """Return a transport for clients of other libraries, with separate connections that the caller closes."""
        waiting = self._new_pool(keep=keep, backend=CheckedBackend(policy, self._resolver))
        return SharedTransport(
            GuardedTransport(waiting, max_bytes=max_bytes, max_stream_bytes=max_bytes),
            blocking_transport(policy, self._resolver, self._tls, max_bytes=max_bytes),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._kept.aclose()
        await self._fresh.aclose()

    def _new_pool(self, *, keep: int, backend: CheckedBackend | None = None) -> httpcore2.AsyncConnectionPool:
        return httpcore2.AsyncConnectionPool(
            ssl_context=self._tls,
            network_backend=backend or self._backend,
            max_connections=self._connections,
            max_keepalive_connections=keep,
            keepalive_expiry=KEEP_ALIVE_SECONDS,
        )


def blocking_transport(
    policy: AddressPolicy,
    resolver: Resolver = system_resolver,
    tls: ssl.SSLContext | None = None,
    *,
    max_bytes: int,
) -> BlockingTransport:
    """Return a transport for blocking clients; each connection serves one request."""
    pool = httpcore2.ConnectionPool(
        ssl_context=tls or trusted(policy),
        network_backend=BlockingBackend(policy, resolver),
        max_keepalive_connections=0,
    )
    return BlockingTransport(pool, max_bytes=max_bytes, max_stream_bytes=max_bytes)


def trusted(policy: AddressPolicy) -> ssl.SSLContext:
    """Return the system's certificate authorities and the operator's. Raises `Unavailable`."""
    context = httpx2.create_ssl_context()
    policy.trust(context)
    return context


def _headers(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return names in lower case; values of one name joined (RFC 9110, 5.3)."""
    headers: dict[str, str] = {}
    for name, value in raw:
        key = name.decode("ascii", "replace").lower()
        text = _text(value)
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
