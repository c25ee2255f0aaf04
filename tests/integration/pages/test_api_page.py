"""The walk on the page of the API: graph, stream, steps and evidence of a run."""

import json
from typing import Any

import httpx2
import pytest

from tests.integration.http.conftest import created
from tests.integration.pages.conftest import flow_of

LETTER = flow_of("reference/api.md", "Welcome letter")


@pytest.fixture
async def run(client: httpx2.AsyncClient) -> dict[str, Any]:
    """The page's run, at its end."""
    flow = await created(client, LETTER)
    start = {"form_data": {"name": "Ann", "city": "Lund"}, "wait": True}
    found: dict[str, Any] = (await client.post(f"/api/v1/flows/{flow['id']}/runs", json=start)).json()
    return found


def told(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, kind and data of each server-sent event."""
    found = []
    for event in text.strip().split("\n\n"):
        members = dict(line.split(": ", 1) for line in event.splitlines())
        found.append((members["id"], members["event"], json.loads(members["data"])))
    return found


class TestGraph:
    async def test_of_a_draft_says_what_is_a_step(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, flow_of("start/guide.md", "Sums in words"))
        graph = (await client.get(f"/api/v1/flows/{flow['id']}/graph")).json()
        kinds = {node["id"]: node["kind"] for node in graph["nodes"]}
        assert kinds == {"ask": "step", "sums": "configuration", "agent": "step", "out": "step"}
        assert graph["version"] is None
        assert {edge["id"]: edge["kind"] for edge in graph["edges"]}["sums.tool -> agent.tools"] == "tool"

    async def test_of_a_run_is_that_of_its_version(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> None:
        path = f"/api/v1/flows/{run['flow_id']}"
        flow = (await client.get(path)).json()
        changed = flow["definition"] | {"nodes": flow["definition"]["nodes"][:1], "edges": []}
        await client.patch(f"{path}/draft", json={"revision": flow["revision"], "definition": changed})
        graph = (await client.get(f"{path}/graph", params={"run_id": run["id"]})).json()
        assert {node["id"]: node["run"]["status"] for node in graph["nodes"]} == {
            "letter": "completed",
            "out": "completed",
        }
        assert graph["version"] == run["version"]
        assert [edge["taken"] for edge in graph["edges"]] == [True]


class TestStream:
    async def test_tells_a_run_from_its_beginning(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> None:
        answer = await client.get(f"/api/v1/flow-runs/{run['id']}/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = told(answer.text)
        assert [kind for _, kind, _ in events] == [
            "run_started",
            "step_started",
            "step_completed",
            "step_started",
            "step_completed",
            "run_completed",
        ]
        assert events[-1][2]["text"] == "Dear Ann, welcome to Lund!"

    async def test_goes_on_behind_the_last_event_seen(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> None:
        path = f"/api/v1/flow-runs/{run['id']}/events"
        whole = told((await client.get(path)).text)
        rest = told((await client.get(path, headers={"Last-Event-ID": whole[2][0]})).text)
        assert rest == whole[3:]


class TestEvidence:
    async def test_holds_what_ran_and_is_the_same_again(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> None:
        path = f"/api/v1/flow-runs/{run['id']}/evidence"
        first = await client.get(path)
        assert first.content == (await client.get(path)).content
        document = first.json()
        assert set(document) == {"format", "run", "definition_snapshot", "step_results", "seal"}
        assert document["run"]["input"]["form_data"] == {"name": "Ann", "city": "Lund"}
        versions = (await client.get(f"/api/v1/flows/{run['flow_id']}/versions")).json()["items"]
        assert document["run"]["definition_checksum"] == versions[0]["checksum"]

    async def test_outlives_the_flow(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> None:
        assert (await client.delete(f"/api/v1/flows/{run['flow_id']}")).status_code == 204
        assert (await client.get(f"/api/v1/flow-runs/{run['id']}/evidence")).status_code == 200

    async def test_of_a_step_has_its_output_and_tries(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> None:
        step = (await client.get(f"/api/v1/flow-runs/{run['id']}/steps/letter")).json()
        assert step["output"]["text"] == "Dear Ann, welcome to Lund!"
        assert [one["status"] for one in step["tries"]] == ["completed"]


class TestCancel:
    async def test_of_a_run_that_is_over_changes_nothing(self, client: httpx2.AsyncClient, run: dict[str, Any]) -> None:
        answer = (await client.post(f"/api/v1/flow-runs/{run['id']}/cancel")).json()
        assert answer == {"id": run["id"], "status": "completed", "changed": False}
