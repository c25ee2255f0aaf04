"""A peer's process, seen from the benchmark."""

import asyncio
import json
import sys
from types import TracebackType
from typing import Self

LINE_BYTES = 2**24


class Remote:
    """Starts a peer, tells it what to do, ends it.

    Args:
        name: One of `benchmarks.peers.__main__.PEERS`.
        postgres: A libpq URL of an empty database of its own.
        redis: URL of the Redis server.
    """

    def __init__(self, name: str, postgres: str, redis: str) -> None:
        self.name = name
        self._arguments = (name, postgres, redis)

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "benchmarks.peers",
            *self._arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
        )
        await self._line()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 20)
        except TimeoutError:
            self._process.kill()

    @property
    def pid(self) -> int:
        """Its process; workers are children of it."""
        return self._process.pid

    async def block(self, at_once: int, seconds: float) -> tuple[list[float], float]:
        """Keep so many runs going for so long: milliseconds of each, and seconds in all."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"at_once": at_once, "seconds": seconds}).encode() + b"\n")
        found = json.loads(await self._line())
        return found["milliseconds"], found["seconds"]

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended early, with exit code {await self._process.wait()}")
        return line
