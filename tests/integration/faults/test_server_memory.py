"""The memory of a server that has finished many streaming runs."""

import asyncio

import httpx2
import psutil
import pytest

from tests.integration.faults.installation import QUIET_SECONDS, Installation

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(180 + QUIET_SECONDS)]
RUNS, AT_ONCE = 120, 8
TOKENS = " ".join(f"w{number}" for number in range(2_000))
MOST_GROWTH_BYTES = 20 << 20
"""It grows by 7 MB; by 29 MB where the events of finished runs are kept."""
FLOW = {
    "name": "Speaking",
    "nodes": [{"id": "heard", "type": "ChatInput"}, {"id": "speak", "type": "Speak"}],
    "edges": [{"source": "heard", "output": "text", "target": "speak", "input": "input"}],
}


class TestMemory:
    async def test_does_not_grow_with_the_tokens_of_finished_runs(self, installation: Installation) -> None:
        server = await installation.up()
        flow = await installation.make_flow(server, FLOW)
        process = psutil.Process(server.process.pid)
        todo = iter(range(RUNS))

        async def one_after_the_other(client: httpx2.AsyncClient) -> None:
            for _ in todo:
                answer = await client.post(f"/api/v1/flows/{flow}/runs", json={"text": TOKENS, "wait": True})
                assert answer.json()["status"] == "completed"

        async with httpx2.AsyncClient(base_url=server.url, timeout=60) as client:
            for _ in range(20):
                await installation.run(server, flow, TOKENS)
            before = process.memory_info().rss
            await asyncio.gather(*(one_after_the_other(client) for _ in range(AT_ONCE)))
        assert process.memory_info().rss - before < MOST_GROWTH_BYTES
