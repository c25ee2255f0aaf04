"""Discovery on the real Flowise: what the server says, what a model is told of it, and how long asking takes."""

import asyncio
import json
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
from pydantic import SecretStr
from tests.flowise.server.account import make_key
from tests.flowise.server.process import ROOT, FlowiseProcess, Installed

from benchmarks.measure import Report, percentile
from headgate.agents.codev.domains.flowise.catalogue import Catalogue, Memory
from headgate.agents.codev.domains.flowise.client import FlowiseClient, Server
from headgate.foundation.settings import HttpSettings, OutgoingSettings

CHARACTERS_A_TOKEN = 4
SHARE_AIM, CACHED_AIM_MS = 0.05, 1.0
"""Of the raw answer at most; a cached answer at most."""


def discover(report: Report, rounds: int) -> None:
    """Rows for nodes and templates; none where Flowise is not installed."""
    if not (ROOT / ".tools/flowise/.installed").exists():
        print("Flowise is not installed, so discovery is left out: `make test-flowise` installs it.")
        return
    with tempfile.TemporaryDirectory() as folder, FlowiseProcess(Installed.found(), Path(folder)) as flowise:
        asyncio.run(_measure(report, flowise.origin, make_key(flowise.origin), rounds))


async def _measure(report: Report, origin: str, key: str, rounds: int) -> None:
    client = FlowiseClient(
        Server("bench", origin, SecretStr(key), vouched=True), HttpSettings(), OutgoingSettings(), 60
    )
    catalogue, fresh = Catalogue(client, Memory(300), "bench"), Catalogue(client, Memory(0), "bench")
    async with httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, trust_env=False) as bare:
        try:
            for what, path, cached, asked, told in (
                ("nodes", "/nodes", catalogue.nodes, fresh.nodes, lambda one: one.slim()),
                ("templates", "/marketplaces/templates", catalogue.templates, fresh.templates, lambda one: one.about),
            ):
                found: Any = await cached()
                slim = len(json.dumps([told(one) for one in found.values()], separators=(",", ":")))
                address = f"{origin}/api/v1{path}"
                raw = len((await bare.get(address)).content)
                _sizes(report, what, raw, slim)
                floor, uncached = await _in_turns(lambda at=address: bare.get(at), asked, max(5, rounds // 5))
                _times(report, what, floor, uncached, await _each(cached, rounds))
        finally:
            await client.close()


async def _in_turns(
    one: Callable[[], Awaitable[Any]], other: Callable[[], Awaitable[Any]], rounds: int
) -> tuple[list[float], list[float]]:
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        found[0].extend(await _each(one, 1))
        found[1].extend(await _each(other, 1))
    return found


async def _each(work: Callable[[], Awaitable[Any]], rounds: int) -> list[float]:
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        await work()
        took.append((time.perf_counter() - began) * 1000)
    return took


def _sizes(report: Report, what: str, raw: int, slim: int) -> None:
    report.add(
        f"Flowise's {what}: {raw:,} bytes (about {raw // CHARACTERS_A_TOKEN:,} tokens), "
        f"told {slim:,} (about {slim // CHARACTERS_A_TOKEN:,})",
        *[""] * 7,
        f"{SHARE_AIM:.0%} of it",
        values={"raw": raw, "slim": slim, "share": slim / raw},
        bar=(f"{what}: told of what Flowise says", slim / raw / SHARE_AIM),
    )


def _times(report: Report, what: str, floor: list[float], uncached: list[float], cached: list[float]) -> None:
    for name, took, aim in ((f"{what}, asked", uncached, 0.0), (f"{what}, remembered", cached, CACHED_AIM_MS)):
        middle, high, bare = percentile(took, 0.5), percentile(took, 0.95), percentile(floor, 0.5)
        report.add(
            name,
            f"{middle:.3f}",
            f"{high:.3f}",
            "",
            f"{bare:.1f}",
            "",
            "" if aim else f"{middle / bare:.2f}x",
            "",
            f"{aim:g} ms" if aim else "",
            values={"p50": middle, "p95": high, "floor_p50": bare},
            bar=(name, middle / aim) if aim else None,
        )
