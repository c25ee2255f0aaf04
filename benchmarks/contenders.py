"""Whoever carries out runs, measured in turns so that what disturbs one disturbs all."""

import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.measure import cpu_seconds, median, percentile

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
"""What the system's count of processor time is exact to: nobody did anything in less."""
Block = Callable[[int, float], Awaitable[tuple[list[float], float]]]
"""Keeps so many runs going for so many seconds: milliseconds of each run, and the seconds it took."""


@dataclass
class Figures:
    """What one contender did, block by block."""

    milliseconds: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    database_ms: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def as_values(self) -> dict[str, float]:
        """Percentiles over all runs, medians over the blocks. `cpu_ms` holds the database server's share too."""
        return {
            "p50_ms": percentile(self.milliseconds, 0.5),
            "p95_ms": percentile(self.milliseconds, 0.95),
            "rate": median(self.rates),
            "cpu_ms": median(self.cpu_ms) + median(self.database_ms),
            "database_ms": median(self.database_ms),
        }


@dataclass(frozen=True)
class Contender:
    """Somebody who carries out runs.

    Args:
        name: As it is printed.
        block: Does the work.
        own: Processes that work for it, with all their children.
        here: A process that works for it alone, without its children: this one, whose children are others' workers.
    """

    name: str
    block: Block
    own: tuple[int, ...] = ()
    here: tuple[int, ...] = ()

    def cpu(self) -> float:
        """Processor seconds so far, without the database's."""
        return cpu_seconds(*self.own) + cpu_seconds(*self.here, alone=True)


async def take_turns(
    contenders: Sequence[Contender],
    at_once: Mapping[int, float],
    blocks: Sequence[float],
    *,
    database: tuple[int, ...] = (),
    settle: Callable[[], None] = lambda: None,
) -> dict[tuple[str, int], Figures]:
    """Let each do its blocks, one contender after the other.

    Args:
        contenders: Who.
        at_once: How many runs at once, each with how much longer its blocks are.
        blocks: Seconds of each block.
        database: Processes of the database server, whose work is shown apart.
        settle: Done once, after all have warmed up.
    """
    found = {(one.name, number): Figures() for number in at_once for one in contenders}
    for number in at_once:
        for one in contenders:
            await one.block(number, min(0.2, *blocks))
    settle()
    for seconds in blocks:
        for number, longer in at_once.items():
            for one in contenders:
                own, shared = one.cpu(), cpu_seconds(*database)
                took, lasted = await one.block(number, seconds * longer)
                figures = found[one.name, number]
                figures.rates.append(len(took) / lasted)
                figures.cpu_ms.append(max(one.cpu() - own, TICK_SECONDS) / len(took) * 1000)
                figures.database_ms.append((cpu_seconds(*database) - shared) / len(took) * 1000)
                figures.milliseconds += took
    return found
