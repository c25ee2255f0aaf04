"""Readers of a run's events while its server is killed and started again, cut off every few events."""

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.integration.faults.installation import QUIET_SECONDS, Installation
from tests.integration.faults.test_cluster_streams import Told, listen

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(120 + QUIET_SECONDS)]
BEFORE, AFTER = 6, 12
"""Steps before and after the one at which the server is killed."""
READERS = 8
EVENTS_A_CONNECTION = 3


def long_flow(folder: Path) -> dict[str, Any]:
    """Says its words, does some steps, waits for a file, and does some more."""
    steps = [f"s{number}" for number in range(BEFORE)] + ["gate"] + [f"t{number}" for number in range(AFTER)]
    nodes = [{"id": step, "type": "Echo"} for step in steps if step != "gate"]
    chain = ["heard", "speak", *steps]
    return {
        "name": "Long",
        "nodes": [
            {"id": "heard", "type": "ChatInput"},
            {"id": "speak", "type": "Speak"},
            {"id": "gate", "type": "Gate", "params": {"folder": str(folder)}},
            *nodes,
        ],
        "edges": [
            {"source": before, "output": "text", "target": step, "input": "input"} for before, step in pairwise(chain)
        ],
    }


class Reader:
    """Reads a run to its end, over as many connections as it takes.

    Args:
        run_id: The run.
        most: Events after which it disconnects; 0: it stays.
    """

    def __init__(self, run_id: str, most: int = 0) -> None:
        self._run_id = run_id
        self._most = most
        self.seen: list[Told] = []
        self.connections = 0
        self.at_gate = asyncio.Event()

    async def read(self, installation: Installation) -> None:
        """Read until the end; from the server that was started last."""
        while not self.seen or self.seen[-1][1] != "run_completed":
            self.connections += 1
            try:
                await self._read_some(installation.servers[-1].url)
            except httpx2.TransportError:
                await asyncio.sleep(0.05)

    async def _read_some(self, url: str) -> None:
        count = 0
        async for event in listen(url, self._run_id, self.seen[-1][0] if self.seen else ""):
            self.seen.append(event)
            if event[2].get("step_id") == "gate":
                self.at_gate.set()
            count += 1
            if count == self._most:
                return

    @property
    def durable(self) -> list[int]:
        """The numbers of the events of the run's log that it saw."""
        return [int(place) for place, _, _ in self.seen if "." not in place]


class TestReaders:
    async def test_see_each_event_once_and_in_order_though_the_server_is_killed(
        self, installation: Installation, tmp_path: Path
    ) -> None:
        server = await installation.up()
        flow = await installation.make_flow(server, long_flow(tmp_path))
        async with httpx2.AsyncClient(base_url=server.url, timeout=30) as client:
            run_id = (await client.post(f"/api/v1/flows/{flow}/runs", json={"text": "one two three"})).json()["id"]
        readers = [Reader(run_id), *(Reader(run_id, EVENTS_A_CONNECTION) for _ in range(READERS))]
        reading = [asyncio.create_task(one.read(installation)) for one in readers]
        for reader in readers:
            await reader.at_gate.wait()
        installation.kill(server)
        await installation.up()
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*reading)
        last = readers[0].durable[-1]
        assert last > 2 * (BEFORE + AFTER)
        for reader in readers:
            assert reader.durable == list(range(1, last + 1))
            kinds = [kind for _, kind, _ in reader.seen]
            assert (kinds.count("run_completed"), kinds[-1]) == (1, "run_completed")
            ended = [told["step_id"] for _, kind, told in reader.seen if kind == "step_completed"]
            assert len(ended) == len(set(ended)) == BEFORE + AFTER + 3
            attempts = [
                told["attempt"]
                for _, kind, told in reader.seen
                if (kind, told.get("step_id")) == ("step_started", "gate")
            ]
            assert attempts == [1, 2]
        assert all(one.connections > last // EVENTS_A_CONNECTION for one in readers[1:])
