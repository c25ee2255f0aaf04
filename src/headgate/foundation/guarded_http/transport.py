"""The guard under somebody else's client: a transport of httpx2 for libraries that bring their own protocol.

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
    """What is checked of every request and answer, blocking or not.

    Args:
        max_bytes: Largest answer.
        max_stream_bytes: Largest event stream.
    """

    def __init__(self, *, max_bytes: int, max_stream_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._max_stream_bytes = max_stream_bytes

    def _checked(self, request: httpx2.Request, content: bytes | None) -> tuple[str, httpcore2.Request]:
        """The server as errors name it, and the request to send. Raises what `make_request` raises."""
        given = {name: value for name, value in request.headers.items() if name not in REFUSED}
        checked = make_request(request.method, str(request.url), {**given, "accept-encoding": "identity"}, content)
        sent = to_httpcore(checked)
        sent.extensions = {"timeout": _timeouts(request)}
        return checked.target.origin, sent

    def _limit(self, response: httpcore2.Response) -> int:
        media = next((value for name, value in response.headers if name.lower() == b"content-type"), b"")
        return self._max_stream_bytes if media.lower().startswith(EVENT_STREAM.encode()) else self._max_bytes


class GuardedTransport(_Limits, httpx2.AsyncBaseTransport):
    """Sends what an `httpx2.AsyncClient` asks for, under the same checks as every other request.

    Address, headers and method are read and checked anew for each request, the one after a redirect too. Nothing is
    decompressed and nothing is tried again. A refusal is an `httpx2.ConnectError` whose cause is the `HeadgateError`.

    Args:
        pool: Connections over checked addresses; closed with the transport.
        max_bytes: Largest answer.
        max_stream_bytes: Largest event stream.
    """

    def __init__(self, pool: httpcore2.AsyncConnectionPool, *, max_bytes: int, max_stream_bytes: int) -> None:
        super().__init__(max_bytes=max_bytes, max_stream_bytes=max_stream_bytes)
        self._pool = pool

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the body of the answer is read by the client, as it comes."""
        content = await request.aread() or None
        with _refusals(request):
            origin, sent = self._checked(request, content)
            with translated(origin):
                response = await self._pool.handle_async_request(sent)
        body = _Body(response, request, self._limit(response))
        if _is_compressed(response):
            await body.aclose()
            raise httpx2.DecodingError("The answer is compressed, which was not asked for.", request=request)
        return httpx2.Response(response.status, headers=response.headers, stream=body, request=request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


class BlockingTransport(_Limits, httpx2.BaseTransport):
    """The same for an `httpx2.Client`, for libraries that block their own thread.

    Args:
        pool: Connections over checked addresses; closed with the transport.
        max_bytes: Largest answer.
        max_stream_bytes: Largest event stream.
    """

    def __init__(self, pool: httpcore2.ConnectionPool, *, max_bytes: int, max_stream_bytes: int) -> None:
        super().__init__(max_bytes=max_bytes, max_stream_bytes=max_stream_bytes)
        self._pool = pool

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the body of the answer is read by the client, as it comes."""
        content = request.read() or None
        with _refusals(request):
            origin, sent = self._checked(request, content)
            with translated(origin):
                response = self._pool.handle_request(sent)
        body = _BlockingBody(response, request, self._limit(response))
        if _is_compressed(response):
            body.close()
            raise httpx2.DecodingError("The answer is compressed, which was not asked for.", request=request)
        return httpx2.Response(response.status, headers=response.headers, stream=body, request=request)

    def close(self) -> None:
        """Close every connection."""
        self._pool.close()


class SharedTransport(httpx2.AsyncBaseTransport, httpx2.BaseTransport):
    """Both, for clients that come and go: closing a client leaves the connections to those that use them.

    Args:
        waiting: For asynchronous clients.
        blocking: For blocking ones.
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
        """Close every connection; for who made it."""
        await self._waiting.aclose()
        self._blocking.close()


class _Body(httpx2.AsyncByteStream):
    """The answer's body as it comes, up to a number of bytes."""

    def __init__(self, response: httpcore2.Response, request: httpx2.Request, limit: int) -> None:
        self._response = response
        self._request = request
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _broken(self._request):
            async for piece in cast("AsyncIterable[bytes]", self._response.stream):  # some read on after the end
                self._left -= len(piece)
                _require_room(self._left, self._request)
                yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


class _BlockingBody(httpx2.SyncByteStream):
    """The same, blocking."""

    def __init__(self, response: httpcore2.Response, request: httpx2.Request, limit: int) -> None:
        self._response = response
        self._request = request
        self._left = limit

    def __iter__(self) -> Iterator[bytes]:
        with _broken(self._request):
            for piece in cast("Iterable[bytes]", self._response.stream):
                self._left -= len(piece)
                _require_room(self._left, self._request)
                yield piece

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
        raise httpx2.ReadTimeout("The server sent nothing for too long.", request=request) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise httpx2.ReadError("The connection broke.", request=request) from error


def _require_room(left: int, request: httpx2.Request) -> None:
    if left < 0:
        raise httpx2.ReadError("The answer is larger than may be read.", request=request)


def _is_compressed(response: httpcore2.Response) -> bool:
    return any(name.lower() == b"content-encoding" and value != b"identity" for name, value in response.headers)


def _timeouts(request: httpx2.Request) -> dict[str, float | None]:
    """The client's own limits; a connection has to be there at least as soon as for any other request."""
    wanted: dict[str, float | None] = dict(request.extensions.get("timeout", {}))
    wanted["connect"] = min(wanted.get("connect") or CONNECT_SECONDS, CONNECT_SECONDS)
    wanted["pool"] = None  # waiting for a connection does not count as request time
    return wanted
