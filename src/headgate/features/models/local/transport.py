"""HTTP transports that bring a request to the local model's process, starting it and holding it for the call."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import cast

import httpx2

from headgate.features.models.local.server import Endpoint, LocalModelServer

_POLL_SECONDS = 0.05


class LocalTransport(httpx2.BaseTransport):
    """For blocking clients."""

    def __init__(self, server: LocalModelServer, path: Path) -> None:
        self._server = server
        self._path = path
        self._inner = httpx2.HTTPTransport(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the model is held until the answer is closed."""
        while (endpoint := self._server.try_acquire(self._path)) is None:
            time.sleep(_POLL_SECONDS)
        try:
            answer = self._inner.handle_request(_addressed(request, endpoint))
        except BaseException:
            self._server.release(endpoint)
            raise
        answer.stream = _Held(cast("httpx2.SyncByteStream", answer.stream), self._server, endpoint)
        return answer

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()


class AsyncLocalTransport(httpx2.AsyncBaseTransport):
    """For asynchronous clients."""

    def __init__(self, server: LocalModelServer, path: Path) -> None:
        self._server = server
        self._path = path
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False, limits=httpx2.Limits(max_keepalive_connections=0))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the model is held until the answer is closed."""
        endpoint = await self._acquire()
        try:
            answer = await self._inner.handle_async_request(_addressed(request, endpoint))
        except BaseException:
            self._server.release(endpoint)
            raise
        answer.stream = _AsyncHeld(cast("httpx2.AsyncByteStream", answer.stream), self._server, endpoint)
        return answer

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _acquire(self) -> Endpoint:
        while True:
            starting = asyncio.ensure_future(asyncio.to_thread(self._server.try_acquire, self._path))
            try:
                endpoint = await asyncio.shield(starting)
            except asyncio.CancelledError:
                starting.add_done_callback(self._give_back)  # the thread continues and may still acquire the model
                raise
            if endpoint is not None:
                return endpoint
            await asyncio.sleep(_POLL_SECONDS)

    def _give_back(self, starting: "asyncio.Future[Endpoint | None]") -> None:
        if starting.cancelled() or starting.exception() is not None:
            return
        endpoint = starting.result()
        if endpoint is not None:
            self._server.release(endpoint)


class _Held(httpx2.SyncByteStream):
    """A response that releases the model when it is closed."""

    def __init__(self, inner: httpx2.SyncByteStream, server: LocalModelServer, endpoint: Endpoint) -> None:
        self._inner = inner
        self._server = server
        self._endpoint = endpoint

    def __iter__(self) -> Iterator[bytes]:
        yield from self._inner

    def close(self) -> None:
        try:
            self._inner.close()
        finally:
            self._server.release(self._endpoint)


class _AsyncHeld(httpx2.AsyncByteStream):
    """The response for asynchronous clients."""

    def __init__(self, inner: httpx2.AsyncByteStream, server: LocalModelServer, endpoint: Endpoint) -> None:
        self._inner = inner
        self._server = server
        self._endpoint = endpoint

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for block in self._inner:
            yield block

    async def aclose(self) -> None:
        try:
            await self._inner.aclose()
        finally:
            self._server.release(self._endpoint)


def _addressed(request: httpx2.Request, endpoint: Endpoint) -> httpx2.Request:
    real = httpx2.URL(endpoint.url)
    request.url = request.url.copy_with(scheme=real.scheme, host=real.host, port=real.port)
    request.headers["host"] = f"{real.host}:{real.port}"
    request.headers["authorization"] = f"Bearer {endpoint.token}"
    return request
