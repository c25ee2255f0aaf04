"""The guard as an httpx2 transport, for libraries with their own clients.

Imported with `wire`, at the first request.
"""

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import cast

import httpcore2
import httpx2

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.conversion import CONNECT_SECONDS, to_httpcore, translated
from headgate.foundation.guarded_http.headers import REFUSED
from headgate.foundation.guarded_http.request import make_request

EVENT_STREAM = "text/event-stream"


class _Limits:
    """Checks of each request and response, blocking or asynchronous.

    Args:
        max_bytes: Maximum size of a response.
        max_stream_bytes: Maximum size of an event stream.
    """

    def __init__(self, *, max_bytes: int, max_stream_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._max_stream_bytes = max_stream_bytes

    def _checked(self, request: httpx2.Request, content: bytes | None) -> tuple[str, httpcore2.Request]:
        """Return the server as named in errors, and the request to send. Raises like `make_request`."""
        headers = {name: value for name, value in request.headers.items() if name not in REFUSED}
        checked = make_request(request.method, str(request.url), {**headers, "accept-encoding": "identity"}, content)
        httpcore_request = to_httpcore(checked)
        httpcore_request.extensions = {"timeout": _timeouts(request)}
        return checked.target.origin, httpcore_request

    def _limit(self, response: httpcore2.Response) -> int:
        media = next((value for name, value in response.headers if name.lower() == b"content-type"), b"")
        return self._max_stream_bytes if media.lower().startswith(EVENT_STREAM.encode()) else self._max_bytes


class GuardedTransport(_Limits, httpx2.AsyncBaseTransport):
    """Sends requests of an `httpx2.AsyncClient` with the same checks as every other request.

    URL, headers and method are parsed and checked again for each request, including redirects. Nothing is decompressed
    and nothing is retried. A refusal is an `httpx2.ConnectError` whose cause is the `HeadgateError`.

    Args:
        pool: Connections to checked addresses; closed with the transport.
        max_bytes: Maximum size of a response.
        max_stream_bytes: Maximum size of an event stream.
    """

    def __init__(self, pool: httpcore2.AsyncConnectionPool, *, max_bytes: int, max_stream_bytes: int) -> None:
        super().__init__(max_bytes=max_bytes, max_stream_bytes=max_stream_bytes)
        self._pool = pool

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the client reads the response body as a stream."""
        content = await request.aread() or None
        with _refusals(request):
            origin, httpcore_request = self._checked(request, content)
            with translated(origin):
                response = await self._pool.handle_async_request(httpcore_request)
        body = _Body(response, request, self._limit(response))
        if _is_compressed(response):
            await body.aclose()
            raise httpx2.DecodingError("The response is compressed, which was not requested.", request=request)
        return httpx2.Response(response.status, headers=response.headers, stream=body, request=request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


class BlockingTransport(_Limits, httpx2.BaseTransport):
    """Sends requests of a blocking `httpx2.Client`.

    Args:
        pool: Connections to checked addresses; closed with the transport.
        max_bytes: Maximum size of a response.
        max_stream_bytes: Maximum size of an event stream.
    """

    def __init__(self, pool: httpcore2.ConnectionPool, *, max_bytes: int, max_stream_bytes: int) -> None:
        super().__init__(max_bytes=max_bytes, max_stream_bytes=max_stream_bytes)
        self._pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the client reads the response body as a stream."""
        content = request.read() or None
        with _refusals(request):
            origin, httpcore_request = self._checked(request, content)
            with translated(origin):
                response = self._pool.handle_request(httpcore_request)
        body = _BlockingBody(response, request, self._limit(response))
        if _is_compressed(response):
            body.close()
            raise httpx2.DecodingError("The response is compressed, which was not requested.", request=request)
        return httpx2.Response(response.status, headers=response.headers, stream=body, request=request)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class SharedTransport(httpx2.AsyncBaseTransport, httpx2.BaseTransport):
    """Both transports, for short-lived clients: closing a client keeps the connections open for others.

    Args:
        waiting: For asynchronous clients.
        blocking: For blocking clients.
    """

    def __init__(self, waiting: GuardedTransport, blocking: BlockingTransport) -> None:
        self._waiting = waiting
        self._blocking = blocking

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request."""
        return await self._waiting.handle_async_request(request)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request, blocking this thread."""
        return self._blocking.handle_request(request)

    async def close_connections(self) -> None:
        """Close every connection; called by the owner."""
        await self._waiting.aclose()
        self._blocking.close()


class _Body(httpx2.AsyncByteStream):
    """The response body as a stream of limited size."""

    def __init__(self, response: httpcore2.Response, request: httpx2.Request, limit: int) -> None:
        self._response = response
        self._request = request
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _broken(self._request):
            async for chunk in cast(
                "AsyncIterable[bytes]", self._response.stream
            ):  # some clients read on after the end
                self._left -= len(chunk)
                _require_room(self._left, self._request)
                yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()


class _BlockingBody(httpx2.SyncByteStream):
    """The response body as a blocking stream of limited size."""

    def __init__(self, response: httpcore2.Response, request: httpx2.Request, limit: int) -> None:
        self._response = response
        self._request = request
        self._left = limit

    def __iter__(self) -> Iterator[bytes]:
        with _broken(self._request):
            for chunk in cast("Iterable[bytes]", self._response.stream):
                self._left -= len(chunk)
                _require_room(self._left, self._request)
                yield chunk

    def close(self) -> None:
        self._response.close()


@contextmanager
def _refusals(request: httpx2.Request) -> Iterator[None]:
    try:
        yield
    except HeadgateError as error:
        raise httpx2.ConnectError(str(error), request=request) from error


@contextmanager
def _broken(request: httpx2.Request) -> Iterator[None]:
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout("The server sent no data for too long.", request=request) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise httpx2.ReadError("The connection was interrupted.", request=request) from error


def _require_room(remaining: int, request: httpx2.Request) -> None:
    if remaining < 0:
        raise httpx2.ReadError("The response is larger than the limit.", request=request)


def _is_compressed(response: httpcore2.Response) -> bool:
    return any(name.lower() == b"content-encoding" and value != b"identity" for name, value in response.headers)


def _timeouts(request: httpx2.Request) -> dict[str, float | None]:
    """Return the client's timeouts; the connect timeout is at most the default."""
    timeouts: dict[str, float | None] = dict(request.extensions.get("timeout", {}))
    timeouts["connect"] = min(timeouts.get("connect") or CONNECT_SECONDS, CONNECT_SECONDS)
    timeouts["pool"] = None  # waiting for a connection does not count as request time
    return timeouts
