"""What isolation costs: one call of own code in a worker, against the same function called where the server runs.

A `Python` node's function, and a component's two calls: describe (its template) and produce (an output). The raw floor
in the same run: the same called in this process, and a plain `python -I -c` process for each call.

    python -m benchmarks.sandbox [--quick | --smoke] [--json FILE]
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
import types
from collections.abc import Awaitable, Callable
from typing import Any

import psutil
import uvloop
from rich.console import Console
from rich.table import Table

from benchmarks import measure as shared
from benchmarks.measure import Options
from headgate.sandbox.limits import Limits, PoolSize
from headgate.sandbox.pool import SandboxPool
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sdk.crossing import DESCRIBE, PRODUCE, pack
from headgate.sdk.hosting import produce

CODE = """
def run(inputs):
    words = inputs["text"].split()
    return {"words": len(words), "longest": max(words, key=len)}
"""
INPUTS: dict[str, Any] = {"inputs": {"text": "the quick brown fox jumps over the lazy dog"}}
COMPONENT = '''
from headgate.sdk import Component, Data, Text, field, output

class Words(Component):
    """Counts words and finds the longest."""

    text: Text = field(label="Text")

    @output()
    def found(self) -> Data:
        words = self.text.split()
        return {"words": len(words), "longest": max(words, key=len)}
'''
PRODUCED: dict[str, Any] = {"values": {"text": pack(INPUTS["inputs"]["text"])}, "outputs": ["found"]}
PLAIN = f"{CODE}\nimport json, sys\nprint(json.dumps(run(**json.loads(sys.argv[1]))))"
SPARE_SECONDS = 0.05
"""Between one-shot calls, so that a spare worker has been forked and locked down again."""


def main() -> None:
    """Measure and print."""
    options = shared.arguments(__doc__ or "")
    figures = uvloop.run(measure(options))
    show(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


async def measure(options: Options) -> list[dict[str, Any]]:
    """One record a row: `what`, `ms` (median), `p95_ms`, `aim_ms` where there is one, or another `value` and `unit`."""
    calls, starts = options.choose((20_000, 20), (2000, 5), (200, 1))
    rows = [
        timed("floor: the function in this process", in_process(calls)),
        timed("floor: a plain `python -I -c` process", [plain_process() for _ in range(starts * 4)]),
    ]
    zygotes, firsts = [], []
    for _ in range(starts):
        zygote, first = await cold_start()
        zygotes.append(zygote)
        firsts.append(first)
    rows.append(timed("zygote start, once a server", zygotes))
    rows.append(timed("first call of all, zygote included", firsts))
    pool = SandboxPool(size=PoolSize(running=4, spare=2, idle=8), limits=Limits())
    try:
        rows += await calls_of(pool, calls)
        rows += await component_calls(pool, calls)
        rows.append({"what": "memory of an idle worker", "value": idle_megabytes(), "unit": "MB"})
    finally:
        await pool.aclose()
    return rows


async def calls_of(pool: SandboxPool, calls: int) -> list[dict[str, Any]]:
    """Reused, one-shot and parallel calls of a warm pool."""
    runner = pool.runner("benchmark")
    reused = await repeat(calls, lambda _: runner.call(CODE, "run", INPUTS))
    one_shot = await repeat(
        calls // 50, lambda number: runner.call(f"{CODE}\n# {number}", "run", INPUTS), pause=SPARE_SECONDS
    )
    unspared = SandboxPool(size=PoolSize(spare=0))
    try:
        forked = await repeat(
            calls // 100, lambda number: unspared.runner("b").call(f"{CODE}\n# {number}", "run", INPUTS)
        )
    finally:
        await unspared.aclose()
    began = time.perf_counter()
    await asyncio.gather(*(runner.call(CODE, "run", INPUTS) for _ in range(calls)))
    rate = calls / (time.perf_counter() - began)
    return [
        timed("reused worker", reused, aim=0.2),
        timed("prewarmed one-shot, code compiled", one_shot, aim=3.0),
        timed("one-shot without a spare: fork and lock down", forked[1:]),
        {"what": "reused workers, 4 at a time", "value": round(rate), "unit": "calls/s"},
    ]


async def component_calls(pool: SandboxPool, calls: int) -> list[dict[str, Any]]:
    """A component's describe and produce: reused and one-shot."""
    runner, manifest = pool.runner("benchmark"), derive_manifest(COMPONENT)

    def call(host: str, arguments: dict[str, Any], *, new: bool = False) -> Callable[[int], Awaitable[object]]:
        def one(number: int) -> Awaitable[object]:
            code = f"{COMPONENT}\n# {host} {number}" if new else COMPONENT
            return runner.call_host(code, host, arguments, manifest=manifest)

        return one

    rows = [timed("floor: produce in this process", await produced_in_process(calls // 4))]
    for name, host, arguments in (("describe", DESCRIBE, {}), ("produce", PRODUCE, PRODUCED)):
        reused = await repeat(calls // 4, call(host, arguments))
        fresh = await repeat(calls // 100, call(host, arguments, new=True), pause=SPARE_SECONDS)
        rows.append(timed(f"component's {name}, reused worker", reused))
        rows.append(timed(f"component's {name}, prewarmed one-shot", fresh))
    return rows


async def produced_in_process(calls: int) -> list[float]:
    """Seconds of the component's own calls in this process."""
    module = types.ModuleType("benchmarked")
    sys.modules[module.__name__] = module
    exec(COMPONENT, vars(module))  # our own code

    return await repeat(calls, lambda _: produce(module, PRODUCED))


async def repeat(count: int, call: Callable[[int], Awaitable[object]], *, pause: float = 0.0) -> list[float]:
    """Seconds of each call, after one that warms up."""
    await call(-1)
    seconds = []
    for number in range(count):
        if pause:
            await asyncio.sleep(pause)
        began = time.perf_counter()
        await call(number)
        seconds.append(time.perf_counter() - began)
    return seconds


async def cold_start() -> tuple[float, float]:
    """Seconds until the zygote can fork, and until a new pool's first call is answered."""
    began = time.perf_counter()
    pool = SandboxPool()
    try:
        await pool.start()
        ready = time.perf_counter() - began
        await pool.runner("benchmark").call(CODE, "run", INPUTS)
        return ready, time.perf_counter() - began
    finally:
        await pool.aclose()


def in_process(calls: int) -> list[float]:
    """Seconds of each call in this process."""
    namespace: dict[str, Any] = {}
    exec(CODE, namespace)  # our own code
    seconds = []
    for _ in range(calls):
        began = time.perf_counter()
        namespace["run"](**INPUTS)
        seconds.append(time.perf_counter() - began)
    return seconds


def plain_process() -> float:
    """Seconds of one call in a process of its own, isolated from nothing."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", PLAIN, json.dumps(INPUTS)], check=True, capture_output=True)
    return time.perf_counter() - began


def idle_megabytes() -> float:
    """Memory that only one worker uses (the rest is shared with the zygote), median over this process's workers."""
    me = psutil.Process(os.getpid())
    workers = [worker for zygote in me.children() for worker in zygote.children()]
    private: list[int] = [worker.memory_full_info().uss for worker in workers]
    return round(statistics.median(private) / 1e6, 1)


def timed(what: str, seconds: list[float], *, aim: float | None = None) -> dict[str, Any]:
    """A row of median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    row = {
        "what": what,
        "ms": statistics.median(ordered) * 1000,
        "p95_ms": ordered[int(len(ordered) * 0.95)] * 1000,
        "calls": len(ordered),
    }
    return row | {"aim_ms": aim} if aim else row


def show(figures: list[dict[str, Any]]) -> None:
    """Print the table, with ratios to a plain process."""
    plain = figures[1]["ms"]
    table = Table(title="Sandbox: one call of own code", title_justify="left")
    for column in ("what", "median", "p95", "aim", "/ process"):
        table.add_column(column, justify="left" if column == "what" else "right", no_wrap=True)
    for row in figures:
        if "ms" in row:
            aim = f"< {row['aim_ms']:g} ms" if "aim_ms" in row else ""
            cells = [f"{row['ms']:.3f} ms", f"{row['p95_ms']:.3f} ms", aim, f"{row['ms'] / plain:.4f}"]
        else:
            cells = [f"{row['value']:g} {row['unit']}"]
        table.add_row(row["what"], *cells)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
