"""Dry runs enter the flows that steps run: paths, waits, costs and problems, with the caller's permissions."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import Settings
from tests.integration.http.conftest import created
from tests.support.team import FLOW, team

SCORE = """name: Score
nodes:
  write: AIStep
    prompt: Write a text of a hundred words about the sea.
    model: openai/gpt-5-mini
  ask: Approval
    timeout_hours: 2
  send: WebhookOut
    url: https://hooks.example.org/x
edges:
  write.output -> ask.value
  ask.approve -> send.payload
"""
CALLER = """name: Caller
nodes:
  once: RunFlow
    flow: Score
  rounds: Loop
    flow: Score
    value: x
    until: score >= `8`
    most: 5
  listed: ForEach
    flow: Score
    items: ["a", "b", "c"]
  unknown: ForEach
    flow: Score
  all: CombineText
edges:
  once.result -> unknown.items
  rounds.text -> all.parts
  listed.text -> all.parts
  unknown.text -> all.parts
"""


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    made = create_app(settings)
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as asking:
        await asking.put("/api/v1/variables/OPENAI_API_KEY", json={"value": "sk-1"})
        yield asking


async def publish(client: httpx2.AsyncClient, spec: str) -> str:
    flow_id: str = (await created(client, spec))["id"]
    answer = await client.post(f"/api/v1/flows/{flow_id}/publish", json={})
    assert answer.status_code == 200, answer.text
    return flow_id


async def dry_run(client: httpx2.AsyncClient, flow_id: str, **start: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/v1/flows/{flow_id}/dry-run", json=start)
    assert answer.status_code == 200, answer.text
    preview: dict[str, Any] = answer.json()
    return preview


def calls_in(preview: dict[str, Any]) -> dict[str, Any]:
    return {step["step_id"]: call for step in preview["path"] for call in step["calls"]}


class TestCalls:
    async def test_show_the_path_waits_and_destinations_of_the_called_flow(self, client: httpx2.AsyncClient) -> None:
        score = await publish(client, SCORE)
        preview = await dry_run(client, (await created(client, CALLER))["id"])
        called = calls_in(preview)["once"]
        assert (called["flow_id"], called["version"], called["name"], called["problem"]) == (score, 1, "Score", "")
        steps = {step["step_id"]: step for step in called["preview"]["path"]}
        assert steps["ask"]["waits_for"]["seconds"] == 7200
        assert steps["write"]["models"][0]["model"] == "openai/gpt-5-mini"
        hosts = {(host["step_id"], host["host"], host["purpose"]) for host in preview["reach"]["hosts"]}
        assert ("once", "hooks.example.org", "flow") in hosts
        assert ("once", "OPENAI_API_KEY") in {(one["step_id"], one["name"]) for one in preview["reach"]["secrets"]}

    async def test_count_runs_and_multiply_costs_where_the_count_is_known(self, client: httpx2.AsyncClient) -> None:
        await publish(client, SCORE)
        preview = await dry_run(client, (await created(client, CALLER))["id"])
        counts = {
            step: (call["repeats"], call["at_least"], call["at_most"]) for step, call in calls_in(preview).items()
        }
        assert counts == {
            "once": ("once", 1, 1), "rounds": ("round", 1, 5), "listed": ("item", 3, 3), "unknown": ("item", 0, None)
        }  # fmt: skip
        totals = calls_in(preview)["once"]["totals"]
        assert totals["cost_usd_at_least"] > 0
        assert preview["totals"]["tokens_input_at_least"] == 5 * totals["tokens_input_at_least"]
        assert preview["totals"]["cost_usd_at_least"] == pytest.approx(5 * totals["cost_usd_at_least"])
        assert preview["totals"]["model_calls_at_least"] == 5

    async def test_show_each_version_once(self, client: httpx2.AsyncClient) -> None:
        await publish(client, SCORE)
        called = calls_in(await dry_run(client, (await created(client, CALLER))["id"]))
        assert [step for step, call in called.items() if call["preview"] is not None] == ["once"]
        assert all(call["shown_before"] and call["totals"] for step, call in called.items() if step != "once")

    async def test_go_on_in_the_flows_that_called_flows_run(self, client: httpx2.AsyncClient) -> None:
        await publish(client, SCORE)
        await publish(client, CALLER)
        outer = await created(client, "name: Outer\nnodes:\n  go: RunFlow\n    flow: Caller\n    text: x\n")
        preview = await dry_run(client, outer["id"])
        inner = calls_in(calls_in(preview)["go"]["preview"])["once"]
        assert inner["preview"]["path"][0]["step_id"] == "write"
        assert preview["totals"]["model_calls_at_least"] == 5

    async def test_reads_the_pinned_version(self, client: httpx2.AsyncClient) -> None:
        flow_id = await publish(client, SCORE)
        flow = (await client.get(f"/api/v1/flows/{flow_id}")).json()
        definition = flow["definition"] | {"name": "Score"}
        definition["nodes"] = [node for node in definition["nodes"] if node["id"] == "write"]
        definition["edges"] = []
        body = {"revision": flow["revision"], "definition": definition}
        assert (await client.patch(f"/api/v1/flows/{flow_id}/draft", json=body)).status_code == 200
        await client.post(f"/api/v1/flows/{flow_id}/publish", json={})
        spec = (
            "name: Two\nnodes:\n  old: RunFlow\n    flow: Score\n    version: 1\n  new: RunFlow\n    flow: Score\n"
            "edges:\n  old.text -> new.text\n"
        )
        called = calls_in(await dry_run(client, (await created(client, spec))["id"]))
        assert [len(called[step]["preview"]["path"]) for step in ("old", "new")] == [3, 1]

    async def test_a_tool_runs_when_a_model_calls_it(self, client: httpx2.AsyncClient) -> None:
        await publish(client, SCORE)
        spec = (
            "name: Agent\nnodes:\n  agent: Agent\n    input: Do it.\n    model: openai/gpt-5-mini\n"
            "  score: RunFlow\n    flow: Score\nedges:\n  score.tool -> agent.tools\n"
        )
        called = calls_in(await dry_run(client, (await created(client, spec))["id"]))["agent"]
        assert (called["node"], called["repeats"], called["at_least"], called["at_most"]) == ("score", "tool", 0, None)


class TestProblems:
    async def test_a_cycle_is_named(self, client: httpx2.AsyncClient) -> None:
        first = await publish(client, SCORE)
        await publish(client, "name: Second\nnodes:\n  call: RunFlow\n    flow: Score\n")
        flow = (await client.get(f"/api/v1/flows/{first}")).json()
        back = {"id": "back", "type": "RunFlow", "params": {"flow": "Second"}}
        definition = flow["definition"] | {"nodes": [*flow["definition"]["nodes"], back]}
        body = {"revision": flow["revision"], "definition": definition}
        assert (await client.patch(f"/api/v1/flows/{first}/draft", json=body)).status_code == 200
        preview = await dry_run(client, first)
        assert not preview["ok"]
        inner = calls_in(calls_in(preview)["back"]["preview"])["call"]
        assert (inner["problem"], inner["trail"]) == ("cycle", ["Score", "Second", "Score"])
        assert any("Score -> Second -> Score" in finding["message"] for finding in preview["findings"])

    async def test_a_called_flow_that_cannot_run_is_an_error_of_the_flow(self, client: httpx2.AsyncClient) -> None:
        await publish(client, SCORE)
        await client.delete("/api/v1/variables/OPENAI_API_KEY")
        preview = await dry_run(client, (await created(client, CALLER))["id"])
        severities = {one["node"]: one["severity"] for one in preview["findings"] if one["code"] == "called_flow"}
        assert severities == {"once": "error", "rounds": "error", "listed": "error", "unknown": "warning"}

    async def test_flows_are_entered_as_deep_as_they_may_run_each_other(self, client: httpx2.AsyncClient) -> None:
        await publish(client, "name: F0\nnodes:\n  call: ChatInput\n")
        for level in range(1, 8):
            await publish(client, f"name: F{level}\nnodes:\n  call: RunFlow\n    flow: F{level - 1}\n    text: x\n")
        deepest = await created(client, "name: F8\nnodes:\n  call: RunFlow\n    flow: F7\n    text: x\n")
        preview, names = await dry_run(client, deepest["id"]), []
        while calls := calls_in(preview):
            names.append(calls["call"]["name"])
            if calls["call"]["preview"] is None:
                break
            preview = calls["call"]["preview"]
        assert names == [f"F{level}" for level in range(7, -1, -1)]
        assert calls == {} or calls["call"]["problem"] == "depth"


class TestPermissions:
    async def test_nothing_is_shown_of_a_flow_that_the_caller_may_not_run(self, settings: Settings) -> None:
        async with team(settings) as us:
            hidden = await us.make("stranger", "/flows", spec=FLOW.replace("Talk", "Hidden"), space_id=us.elsewhere)
            await us.make("stranger", f"/flows/{hidden['id']}/publish")
            spec = "name: Mine\nnodes:\n  call: RunFlow\n    flow: Hidden\n    text: x\n"
            flow = await us.make("editor", "/flows", spec=spec, space_id=us.space)
            shown = {who: await us.make(who, f"/flows/{flow['id']}/dry-run") for who in ("editor", "admin")}
        editor, admin = (calls_in(shown[who])["call"] for who in ("editor", "admin"))
        assert (editor["problem"], editor["preview"], shown["editor"]["ok"]) == ("unavailable", None, False)
        assert (admin["problem"], len(admin["preview"]["path"])) == ("", 2)
