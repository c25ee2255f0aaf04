"""The event loop of a worker child: one for the life of the process, on its own thread.

Celery runs tasks on the main thread, where signals arrive too (its soft time limit). Everything asynchronous runs on
the loop, so that pools and clients are created once and reused by later tasks. Nothing is created before the fork.
"""

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Generic, TypeVar

from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

if sys.platform == "win32":
    new_event_loop = asyncio.new_event_loop
else:
    from uvloop import new_event_loop

CLOSE_SECONDS = 5.0
"""How long closing the parts may take when the child ends."""
Parts = TypeVar("Parts")
T = TypeVar("T")
log = get_logger(__name__)


class Child(Generic[Parts]):
    """Loop and parts of one worker child.

    Args:
        open_parts: Opens what tasks need: pools, clients, the heartbeat. Called on the loop, after the fork.
    """

    def __init__(self, open_parts: Callable[[], AbstractAsyncContextManager[Parts]]) -> None:
        self._open_parts = open_parts
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._opening: asyncio.Lock | None = None
        self._context: AbstractAsyncContextManager[Parts] | None = None
        self._parts: Parts | None = None

    @property
    def started(self) -> bool:
        """Whether this process has a loop: a child has one, the worker's main process does not."""
        return self._loop is not None

    @property
    def parts(self) -> Parts | None:
        """The opened parts, or None."""
        return self._parts

    def start(self) -> None:
        """Start the loop and begin to open the parts; return immediately."""
        self._loop = new_event_loop()
        self._opening = asyncio.Lock()
        self._thread = threading.Thread(target=self._run, args=(self._loop,), name="headgate-loop", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open_early(), self._loop)

    def stop(self) -> None:
        """Close the parts, stop the loop."""
        if self._loop is None or self._thread is None:
            return
        closing = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
        try:
            closing.result(CLOSE_SECONDS)
        except Exception:
            log.exception("a worker child did not close cleanly")
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1.0)

    def submit(self, work: Callable[[Parts], Awaitable[T]]) -> "concurrent.futures.Future[T]":
        """Run a coroutine on the loop with the opened parts. Fails with `Unavailable` when they cannot be opened."""
        if self._loop is None:
            raise RuntimeError("this process has no event loop: it is not a worker child")
        return asyncio.run_coroutine_threadsafe(self._with_parts(work), self._loop)

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        loop.run_forever()

    async def _with_parts(self, work: Callable[[Parts], Awaitable[T]]) -> T:
        return await work(await self._opened())

    async def _opened(self) -> Parts:
        if self._parts is not None:
            return self._parts
        if self._opening is None:
            raise RuntimeError("the event loop was not started")
        async with self._opening:
            if self._parts is None:
                context = self._open_parts()
                self._parts = await context.__aenter__()
                self._context = context
            return self._parts

    async def _open_early(self) -> None:
        try:
            await self._opened()
        except HeadgateError as error:
            # The first task retries.
            log.warning("worker child not ready", problem=str(error))
        except Exception:
            log.exception("worker child not ready")

    async def _close(self) -> None:
        context, self._context, self._parts = self._context, None, None
        if context is not None:
            await context.__aexit__(None, None, None)
