"""What a peer must do, in its process."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

STEPS = 10
Run = Callable[[], Awaitable[None]]


class Peer(Protocol):
    """Carries out runs of ten steps that do nothing, each written down."""

    async def open(self) -> None:
        """Connect, make tables, start what is needed."""
        ...

    async def run(self) -> None:
        """One run, to its stored end."""
        ...

    async def close(self) -> None:
        """End all that was started."""
        ...


async def keep_going(run: Run, at_once: int, seconds: float) -> tuple[list[float], float]:
    """Keep so many runs going for so long: milliseconds of each, and the seconds it took to the end of the last."""
    took: list[float] = []
    began = time.perf_counter()

    async def one() -> None:
        while not took or time.perf_counter() < began + seconds:
            started = time.perf_counter()
            await run()
            took.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(one() for _ in range(at_once)))
    return took, time.perf_counter() - began
