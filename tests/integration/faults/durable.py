"""Runs that wait for time, approvals and other runs, while processes are killed or stopped for longer than a lease."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from typing import Any, Protocol

import httpx2

from tests.integration.faults.deaths import Death, moment_now
from tests.integration.faults.installation import BUSY_SECONDS, Installation, Server, moment
from tests.support.fault_steps import BEGIN, END
from tests.support.forked import Forked

LEASE_SECONDS = 1.0
ZOMBIE_SECONDS = 12.5
"""How long a process is stopped: a lease and the patience with a process that is seen alive, on the same machine."""
WAIT_SECONDS = 2.5
ITEMS = 6
ROUNDS = 3
SECONDS = 0.15
"""How long a counted step takes."""


Nodes = dict[str, tuple[str, dict[str, Any]]]
"""Step to its component and parameters."""


class Mortal(Protocol):
    """A process that can be stopped, with its children in a process group of its own."""

    process: Forked

    def stop_for_a_while(self) -> None:
        """Stop it."""
        ...

    def continue_(self) -> None:
        """Continue."""
        ...


async def make_durable_flow(installation: Installation, server: Server) -> str:
    """Store and publish the flows; returns the id of the one that waits, repeats, asks and calls the others."""
    count = {"path": str(installation.counter), "seconds": SECONDS, "longest": 2 * SECONDS}
    item = await _published(installation, server, {"heard": ("ChatInput", {}), "item": ("Count", count)})
    round_ = await _published(
        installation,
        server,
        {"heard": ("ChatInput", {}), "round": ("Count", count), "longer": ("Longer", {})},
    )
    nodes: Nodes = {
        "heard": ("ChatInput", {}),
        "first": ("Count", count),
        "wait": ("Wait", {"seconds": WAIT_SECONDS}),
        "labels": ("Labels", {"many": ITEMS}),
        "each": ("ForEach", {"flow": item, "parallel": 3}),
        "again": ("Count", count),
        "loop": ("Loop", {"flow": round_, "until": "text == 'over'", "most": ROUNDS}),
        "call": ("RunFlow", {"flow": item}),
        "asked": ("Approval", {}),
        "last": ("Count", count),
    }
    inputs = {"wait": "value", "each": "items", "loop": "value", "call": "text", "asked": "value"}
    outputs = {"wait": "value", "asked": "approve"}
    return await installation.make_flow(server, _definition("Durable", nodes, inputs, outputs))


def _definition(name: str, nodes: Nodes, inputs: dict[str, str], outputs: dict[str, str]) -> dict[str, Any]:
    """A flow whose steps follow one another."""
    names = list(nodes)
    return {
        "name": name,
        "nodes": [{"id": node, "type": type_, "params": params} for node, (type_, params) in nodes.items()],
        "edges": [
            {"source": one, "output": outputs.get(one, "text"), "target": other, "input": inputs.get(other, "input")}
            for one, other in pairwise(names)
        ],
    }


async def _published(installation: Installation, server: Server, nodes: Nodes) -> str:
    flow_id = await installation.make_flow(server, _definition(" ".join(nodes), nodes, {}, {}))
    async with httpx2.AsyncClient(base_url=server.url, timeout=30) as client:
        answer = await client.post(f"/api/v1/flows/{flow_id}/publish", json={})
    assert answer.is_success, answer.text
    return flow_id


@asynccontextmanager
async def approving(servers: Callable[[], Sequence[Server]]) -> AsyncIterator[None]:
    """Approve whatever is asked for, through servers that answer, as long as the block lasts."""

    async def approve() -> None:
        while True:
            with suppress(httpx2.TransportError, IndexError):
                url = random.choice(servers()).url
                async with httpx2.AsyncClient(base_url=f"{url}/api/v1", timeout=2) as client:
                    pending = (await client.get("/approvals", params={"status": "pending"})).json().get("items", ())
                    for item in pending:
                        await client.post(f"/approvals/{item['id']}/decision", json={"decision": "approve"})
            await asyncio.sleep(0.2)

    approver = asyncio.create_task(approve())
    try:
        yield
    finally:
        approver.cancel()
        with suppress(asyncio.CancelledError):
            await approver


async def stopped_past_its_lease(installation: Installation, mortal: Mortal) -> None:
    """Stop a process until others have its work, then let it continue."""
    sent = moment_now()
    mortal.stop_for_a_while()
    await asyncio.sleep(ZOMBIE_SECONDS)
    installation.deaths.append(Death(sent, moment_now(), returned=True))
    mortal.continue_()


async def at_some_moment(installation: Installation) -> None:
    """Wait until a step is under way, and a little longer."""
    await installation.busy(1)
    await asyncio.sleep(moment(0.0, 1.0))


async def under_a_step(installation: Installation, mortal: Mortal) -> None:
    """Wait until a counted step is under way in a process, or a while has passed in which there was none."""
    with suppress(TimeoutError):
        async with asyncio.timeout(BUSY_SECONDS):
            while not any(_is_of(mortal, process) for process in installation.at_work()):  # noqa: ASYNC110
                await asyncio.sleep(0.005)


def _is_of(mortal: Mortal, process: int) -> bool:
    with suppress(ProcessLookupError):
        return os.getpgid(process) == mortal.process.pid
    return False


def check_witness(installation: Installation, runs: int) -> str:
    """Every step, item and round of every run began and ended; returns the figures.

    How often each may have begun is checked by `audit`, for the steps of every run.
    """
    begun: dict[tuple[str, str], int] = {}
    ended: set[tuple[str, str]] = set()
    for line in installation.counter.read_text().splitlines():
        label, step, what, _at, _process = line.split(" ")
        if what == BEGIN:
            begun[label, step] = begun.get((label, step), 0) + 1
        elif what == END:
            ended.add((label, step))
    expected = {place for number in range(1, runs + 1) for place in _places(f"run-{number}")}
    assert not expected - ended, f"never ended: {sorted(expected - ended)[:12]}"
    own = {place: count for place, count in begun.items() if place in expected}
    repeated = sum(own.values()) - len(own)
    return f"{len(expected)} effects of {runs} runs, {repeated} of them repeated when a process died under them"


def _places(label: str) -> set[tuple[str, str]]:
    rounds = {(label + "+" * number, "round") for number in range(ROUNDS)}
    items = {(f"{label}/{number}", "item") for number in range(ITEMS)}
    called = (label + "+" * ROUNDS, "item")
    return {(label, "first"), (label, "again"), (label, "last"), called} | rounds | items
