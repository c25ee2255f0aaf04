"""Ten differently worded requests become ten different flows, which run: the offline builder, the real engine."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.integration.http.conftest import app, client

__all__ = ["app", "client"]
REQUESTS: list[dict[str, Any]] = json.loads((Path(__file__).parents[3] / "data" / "offline_requests.json").read_text())
IMPOSSIBLE = ("make me a sandwich", "what will the weather be in Oslo next week?", "who won the election?", "asdf qwer")


async def asked(client: httpx2.AsyncClient, request: str, **more: Any) -> dict[str, Any]:
    body = {"input_value": request, "provider": "offline", "apply": True} | more
    answer = await client.post("/api/v1/agentic/assist", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def ran(client: httpx2.AsyncClient, flow_id: str, wanted: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The run and everything that came out of it, as text."""
    body: dict[str, Any] = {"text": wanted.get("text", ""), "form_data": wanted.get("form", {}), "wait": True}
    if "upload" in wanted:
        upload = wanted["upload"]
        stored = await client.post("/api/v1/files", files={"file": (upload["name"], upload["content"].encode())})
        assert stored.status_code == 201, stored.text
        body["file_ids"] = [stored.json()["id"]]
    run = (await client.post(f"/api/v1/flows/{flow_id}/runs", json=body)).json()
    assert run["status"] == "completed", run
    texts = [str(output.get("text")) for output in run["output"]["outputs"].values()]
    files = (await client.get("/api/v1/files", params={"flow_run_id": run["id"]})).json()["items"]
    texts += [(await client.get(f"/api/v1/artifacts/{file['id']}")).text for file in files]
    run["file_names"] = [file["name"] for file in files]
    return run, "\n".join(texts)


class TestTenRequests:
    @pytest.mark.parametrize("wanted", REQUESTS, ids=[str(number) for number in range(1, len(REQUESTS) + 1)])
    async def test_builds_a_flow_that_runs(self, client: httpx2.AsyncClient, wanted: dict[str, Any]) -> None:
        data = await asked(client, wanted["request"])
        assert data["saved"] is True, data["result"]
        flow = (await client.get(f"/api/v1/flows/{data['flow_id']}")).json()
        assert flow["issues"] == []
        types = {node["type"] for node in flow["definition"]["nodes"]}
        assert set(wanted["types"]) <= types
        run, text = await ran(client, data["flow_id"], wanted)
        assert wanted.get("file") in [None, *run["file_names"]]
        for words in wanted["expect"]:
            assert words in text
        for words in wanted.get("absent", ()):
            assert words not in text

    async def test_the_flows_differ(self, client: httpx2.AsyncClient) -> None:
        shapes = set()
        for wanted in REQUESTS:
            flow = (await asked(client, wanted["request"]))["flow"]
            shapes.add(tuple((node["type"], json.dumps(node.get("params"), sort_keys=True)) for node in flow["nodes"]))
        assert len(shapes) == len(REQUESTS)


class TestImpossible:
    @pytest.mark.parametrize("request_", IMPOSSIBLE)
    async def test_is_refused_honestly_with_examples(self, client: httpx2.AsyncClient, request_: str) -> None:
        data = await asked(client, request_)
        assert data["flow"] is None
        assert data["flow_id"] is None
        assert data["changes"] == []
        assert "cannot" in data["result"]
        assert data["declined"]
        assert len(data["choices"]) >= 3
        assert all(f"\n- {choice}" in data["result"] for choice in data["choices"])
        assert "ffline builder" in data["result"]


class TestEdits:
    async def test_change_the_flow_that_was_built(self, client: httpx2.AsyncClient) -> None:
        built = await asked(client, REQUESTS[0]["request"])
        edited = await asked(client, "wait 1 second before saving the report", flow_id=built["flow_id"])
        assert edited["revision"] == 2
        assert any("Wait" in line for line in edited["changes"])
        run, _ = await ran(client, built["flow_id"], {})
        assert "Wait" in [step["type"] for step in run["steps"]]

    async def test_and_runs_in_one_request(self, client: httpx2.AsyncClient) -> None:
        data = await asked(client, "calculate 6*7 and run it")
        assert data["run_status"] == "completed"
        assert "42" in data["result"]
