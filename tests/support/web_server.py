"""A real HTTP server on a loopback address, scripted path by path down to the bytes on the wire."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Handler = Callable[["Received", asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebServer:
    """What it was asked and what it answers; an unknown path is 404."""

    host: str
    port: int = 0
    scheme: str = "http"
    requests: list[Received] = field(default_factory=list)
    connections: int = 0
    routes: dict[str, list[bytes | Handler]] = field(default_factory=dict)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    anything: bytes | None = None
    """The answer of every other path, in place of 404."""

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def url(self, path: str) -> str:
        return self.origin + path

    def on(self, path: str, *answers: bytes | Handler) -> None:
        """Answers of a path in turn; the last one stays."""
        self.routes[path] = list(answers)

    def seen(self, path: str) -> list[Received]:
        return [request for request in self.requests if request.path == path]

    async def received(self, count: int) -> None:
        """Wait until this many requests came."""
        while len(self.requests) < count:
            self.arrived.clear()
            await self.arrived.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                self.arrived.set()
                answers = self.routes.get(request.path, [self.anything or answer(404)])
                found = answers.pop(0) if len(answers) > 1 else answers[0]
                if isinstance(found, bytes):
                    writer.write(found)
                    await writer.drain()
                else:
                    await found(request, writer)
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def answer(status: int = 200, body: bytes | str = b"", **headers: str) -> bytes:
    """A whole answer; `content_type="text/plain"` becomes a header."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Scripted", f"Content-Length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def redirect(location: str, status: int = 302, **headers: str) -> bytes:
    return answer(status, location=location, **headers)


@asynccontextmanager
async def web_server(
    host: str = "127.0.0.1", *, port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[WebServer]:
    """Run one for the length of a block."""
    found = WebServer(host=host, scheme="https" if tls else "http")
    handlers: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    async def tracked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        writers.append(writer)
        try:
            await found.serve(reader, writer)
        except asyncio.CancelledError:
            pass  # the end of the test; asyncio's streams would log it as an error
        finally:
            handlers.discard(task)

    server = await asyncio.start_server(tracked, host, port, ssl=tls)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        for task in list(handlers):
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)
        for writer in writers:
            writer.transport.abort()  # a client that reads nothing more would keep it open
        with suppress(TimeoutError):
            async with asyncio.timeout(1):  # Python 3.11's `wait_closed` waits for nothing
                while getattr(server, "_active_count", 0):  # noqa: ASYNC110 - nothing tells of it
                    await asyncio.sleep(0.001)


async def _read(reader: asyncio.StreamReader) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)
