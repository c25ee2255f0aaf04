"""Guard for libraries that use httpx (Ollama, Groq, Google, watsonx.ai): adapts the guarded httpx2 transport.

Imported with the libraries that depend on httpx.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import cast

import httpx
import httpx2

from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http.transport import SharedTransport


class ClassicTransport(httpx.AsyncBaseTransport, httpx.BaseTransport):
    """Sends requests of an `httpx.AsyncClient` or `httpx.Client` through the guard.

    A refusal is raised as the `HeadgateError` itself: these libraries replace connection errors with their own.

    Args:
        inner: The guarded transport; it stays open when a client is closed.
    """

    def __init__(self, inner: SharedTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        content = await request.aread()
        with _classic_errors(request):
            response = await self._inner.handle_async_request(_newer(request, content))
        stream = _Stream(cast("httpx2.AsyncByteStream", response.stream), request)
        return httpx.Response(response.status_code, headers=response.headers.raw, stream=stream, request=request)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request, blocking this thread."""
        content = request.read()
        with _classic_errors(request):
            response = self._inner.handle_request(_newer(request, content))
        stream = _BlockingStream(cast("httpx2.SyncByteStream", response.stream), request)
        return httpx.Response(response.status_code, headers=response.headers.raw, stream=stream, request=request)


class _Stream(httpx.AsyncByteStream):
    """The response body as a stream."""

    def __init__(self, inner: httpx2.AsyncByteStream, request: httpx.Request) -> None:
        self._inner = inner
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _classic_errors(self._request):
            async for chunk in self._inner:
                yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BlockingStream(httpx.SyncByteStream):
    """The response body as a blocking stream."""

    def __init__(self, inner: httpx2.SyncByteStream, request: httpx.Request) -> None:
        self._inner = inner
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        with _classic_errors(self._request):
            yield from self._inner

    def close(self) -> None:
        self._inner.close()


def _newer(request: httpx.Request, content: bytes) -> httpx2.Request:
    return httpx2.Request(
        request.method,
        str(request.url),
        headers=request.headers.raw,
        content=content or None,
        extensions={"timeout": request.extensions.get("timeout", {})},
    )


@contextmanager
def _classic_errors(request: httpx.Request) -> Iterator[None]:
    try:
        yield
    except httpx2.TransportError as error:
        if isinstance(error.__cause__, HeadgateError):
            raise error.__cause__ from None
        raise _classic(error)(str(error), request=request) from error


def _classic(error: httpx2.TransportError) -> type[httpx.TransportError]:
    """Return the httpx error of the same name."""
    counterpart: type[httpx.TransportError] = getattr(httpx, type(error).__name__, httpx.TransportError)
    return counterpart
