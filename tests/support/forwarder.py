"""A TCP port on loopback in front of a server that listens on a Unix socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def forwarded(path: str) -> AsyncIterator[int]:
    """The port that leads to a Unix socket."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            serving.add(task)
            task.add_done_callback(serving.discard)
        inner_reader, inner_writer = await asyncio.open_unix_connection(path)
        try:
            await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))
        finally:
            writer.close()
            inner_writer.close()

    serving: set[asyncio.Task[None]] = set()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.wait([asyncio.ensure_future(asyncio.sleep(0)), *serving], timeout=5)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while content := await reader.read(65_536):
            writer.write(content)
            await writer.drain()
        writer.write_eof()
    except OSError:
        writer.close()
