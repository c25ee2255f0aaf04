"""The events of runs that workers carry out, heard from servers that do not: live, and resumed on another one."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.foundation.settings import Settings
from tests.integration.faults.cluster import Cluster
from tests.integration.faults.installation import QUIET_SECONDS
from tests.support.databases import Postgres, make_settings

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(60 + QUIET_SECONDS), pytest.mark.postgres]
DURABLE = {"run_queued", "run_started", "step_started", "step_completed", "run_completed"}
WORDS = "one two three four five"
Told = tuple[str, str, dict[str, Any]]
"""Id, kind and data of a server-sent event."""


@pytest.fixture
def settings(postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
    with postgres.fresh() as url:
        yield make_settings(tmp_path, url)


def speaking_flow(folder: Path) -> dict[str, Any]:
    """Says its words as tokens, then waits for a file."""
    return {
        "name": "Speaking",
        "nodes": [
            {"id": "heard", "type": "ChatInput"},
            {"id": "speak", "type": "Speak"},
            {"id": "gate", "type": "Gate", "params": {"folder": str(folder)}},
        ],
        "edges": [
            {"source": "heard", "output": "text", "target": "speak", "input": "input"},
            {"source": "speak", "output": "text", "target": "gate", "input": "input"},
        ],
    }


async def listen(url: str, run_id: str, last_id: str = "") -> AsyncIterator[Told]:
    """Server-sent events as they come, to the end of the stream."""
    path, headers = f"{url}/api/v1/flow-runs/{run_id}/events", {"Last-Event-ID": last_id} if last_id else {}
    async with httpx2.AsyncClient(timeout=60) as client, client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        members: dict[str, str] = {}
        async for line in answer.aiter_lines():
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                members[name] = value
            elif members:
                yield members["id"], members["event"], json.loads(members["data"])
                members = {}


def words(told: list[Told]) -> list[str]:
    """The tokens among them."""
    return [data["text"] for _, kind, data in told if kind == "token"]


class TestStream:
    async def test_of_a_worker_is_live_on_any_server_and_goes_on_behind_the_last_id(
        self, cluster: Cluster, tmp_path: Path
    ) -> None:
        one, other = await cluster.up(), await cluster.up()
        flow = await cluster.make_flow(one, speaking_flow(tmp_path))
        cluster.command("worker", "--concurrency", "2")
        async with httpx2.AsyncClient(base_url=one.url, timeout=30) as client:
            run_id = (await client.post(f"/api/v1/flows/{flow}/runs", json={"text": WORDS})).json()["id"]
        live: list[Told] = []
        async for told in listen(other.url, run_id):
            live.append(told)
            if told[1] == "step_started" and told[2]["step_id"] == "gate":
                # Nothing is over yet: the gate is shut.
                break
        # Of a step that lasts milliseconds the end may be read before its tokens come; then they are left out.
        assert words(live) == WORDS.split()[: len(words(live))]
        assert "run_completed" not in {kind for _, kind, _ in live}
        at = next(number for number, told in enumerate(live) if told[1] == "step_completed")
        again: list[Told] = []
        async for told in listen(one.url, run_id, live[at][0]):
            again.append(told)
            (tmp_path / "gate.open").touch()
        # The step has ended: its result says all, and no token comes again.
        assert words(again) == []
        stored = [event for event in live[at + 1 :] if event[1] in DURABLE]
        assert again[: len(stored)] == stored
        assert again[-1][1] == "run_completed"
        assert len({place for place, _, _ in again}) == len(again)
        # Whoever comes after the end hears it from the beginning.
        late = [told async for told in listen(other.url, run_id)]
        assert [int(place) for place, _, _ in late] == list(range(1, len(late) + 1))
        assert late[-1] == again[-1]
