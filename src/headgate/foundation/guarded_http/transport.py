"""The guard under somebody else's client: a transport of httpx2 for libraries that bring their own protocol.

Imported with `wire`, at the first request.
"""

from collections.abc import AsyncIterator

import httpcore2
import httpx2

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.conversion import CONNECT_SECONDS, to_httpcore, translated
from headgate.foundation.guarded_http.headers import REFUSED
from headgate.foundation.guarded_http.request import make_request

EVENT_STREAM = "text/event-stream"


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends what an `httpx2.AsyncClient` asks for, under the same checks as every other request.

    Address, headers and method are read and checked anew for each request, the one after a redirect too. Nothing is
    decompressed and nothing is tried again. A refusal is an `httpx2.ConnectError` whose cause is the `HeadgateError`.

    Args:
        pool: Connections over checked addresses; closed with the transport.
        max_bytes: Largest answer.
        max_stream_bytes: Largest event stream.
    """

    def __init__(self, pool: httpcore2.AsyncConnectionPool, *, max_bytes: int, max_stream_bytes: int) -> None:
        self._pool = pool
        self._max_bytes = max_bytes
        self._max_stream_bytes = max_stream_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the body of the answer is read by the client, as it comes."""
        content = await request.aread() or None
        given = {name: value for name, value in request.headers.items() if name not in REFUSED}
        try:
            checked = make_request(request.method, str(request.url), {**given, "accept-encoding": "identity"}, content)
            sent = to_httpcore(checked)
            sent.extensions = {"timeout": _timeouts(request)}
            with translated(checked.target.origin):
                response = await self._pool.handle_async_request(sent)
        except HeadgateError as error:
            raise httpx2.ConnectError(str(error), request=request) from error
        body = _Body(response, request, self._limit(response))
        if any(name.lower() == b"content-encoding" and value != b"identity" for name, value in response.headers):
            await body.aclose()
            raise httpx2.DecodingError("The answer is compressed, which was not asked for.", request=request)
        return httpx2.Response(response.status, headers=response.headers, stream=body, request=request)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()

    def _limit(self, response: httpcore2.Response) -> int:
        media = next((value for name, value in response.headers if name.lower() == b"content-type"), b"")
        return self._max_stream_bytes if media.lower().startswith(EVENT_STREAM.encode()) else self._max_bytes


class _Body(httpx2.AsyncByteStream):
    """The answer's body as it comes, up to a number of bytes."""

    def __init__(self, response: httpcore2.Response, request: httpx2.Request, limit: int) -> None:
        self._response = response
        self._request = request
        self._left = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._response.aiter_stream():
                self._left -= len(piece)
                if self._left < 0:
                    raise httpx2.ReadError("The answer is larger than may be read.", request=self._request)
                yield piece
        except httpcore2.TimeoutException as error:
            raise httpx2.ReadTimeout("The server sent nothing for too long.", request=self._request) from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise httpx2.ReadError("The connection broke.", request=self._request) from error

    async def aclose(self) -> None:
        await self._response.aclose()


def _timeouts(request: httpx2.Request) -> dict[str, float | None]:
    """The client's own limits; a connection has to be there at least as soon as for any other request."""
    wanted: dict[str, float | None] = dict(request.extensions.get("timeout", {}))
    wanted["connect"] = min(wanted.get("connect") or CONNECT_SECONDS, CONNECT_SECONDS)
    wanted["pool"] = None  # waiting for a connection does not count as request time
    return wanted
