"""Runs over HTTP: what a client sees, on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from headgate.features.access.permissions import Role
from headgate.features.flows.routes import router as flows_router
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.evidence.service import Notary
from headgate.features.runs.evidence.verify import verify
from headgate.features.runs.routes import router as runs_router
from headgate.features.triggers.transfer import TriggerTransfer
from headgate.foundation.crypto import EvidenceSigner, SecretBox
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from headgate.foundation.signing import read_public_key
from headgate.graph.model import Flow, FlowSettings, FormField, Node, OutputType, StepPolicy
from headgate.sandbox.documents import maker
from tests.integration.features.runs.conformance import appears
from tests.support.api import api
from tests.support.engine import make_chain, make_flow, store_flow
from tests.support.readiness import rules_of
from tests.support.rows import execute
from tests.support.secret_reads import NotedReads
from tests.support.tenants import add_colleague, add_tenant

_KEYS = Settings(_env_file=None, secret_key=SecretStr("A" * 43 + "="), evidence_key=SecretStr("A" * 43 + "="))
NOTARY = Notary(SecretBox(new_ring(_KEYS)), EvidenceSigner(new_ring(_KEYS)), lambda _: NotedReads())


@pytest.fixture
async def client(database: Database, engine: ExecutionBackend) -> AsyncIterator[httpx2.AsyncClient]:
    parts: dict[str, Any] = {
        "database": database,
        "engine": engine,
        "registry": engine.services.components,
        "notary": NOTARY,
        "trigger_transfer": TriggerTransfer(NOTARY.box),
        "rules": rules_of(database, engine.services.components),
    }
    async with api(flows_router, runs_router, **parts) as found:
        yield found


async def run(client: httpx2.AsyncClient, flow_id: str, **body: Any) -> dict[str, Any]:
    """Start a run and wait for it."""
    answer = await client.post(f"/flows/{flow_id}/runs", json={"wait": True, **body})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def sse(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, kind and data of server-sent events."""
    found = []
    for block in text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        found.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return found


class TestStart:
    async def test_answers_with_the_finished_run_when_asked_to_wait(
        self, client: httpx2.AsyncClient, database: Database
    ) -> None:
        version = await store_flow(database, make_chain(3, s2={"mark": "!"}))
        found = await run(client, version.flow_id, text="hej", session_id="chat")
        assert (found["status"], found["text"], found["version"]) == ("completed", "hej!", 1)
        assert found["output"]["text"] == "hej!"
        assert found["output"]["outputs"]["s3"]["text"] == "hej!"
        assert found["input"] == {"text": "hej", "form_data": {}, "file_ids": []}
        assert [(step["step_id"], step["type"], step["status"]) for step in found["steps"]] == [
            ("s1", "Start", "completed"),
            ("s2", "Echo", "completed"),
            ("s3", "Echo", "completed"),
        ]
        assert found["ms"] > 0
        assert found["error"] is None

    async def test_answers_at_once_when_not(
        self, client: httpx2.AsyncClient, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)}))
        answer = await client.post(f"/flows/{version.flow_id}/runs", json={})
        assert answer.json()["status"] == "running"
        (tmp_path / "gate.open").touch()

    async def test_runs_the_version_that_is_wanted(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow_id = (await store_flow(database, make_chain(2, s2={"mark": "1"}))).flow_id
        assert (await client.post(f"/flows/{flow_id}/publish", json={})).status_code < 300
        draft = make_chain(2, s2={"mark": "2"}).model_dump(mode="json")
        saved = await client.patch(f"/flows/{flow_id}/draft", json={"revision": 1, "definition": draft})
        assert saved.status_code == 200, saved.text
        found = [(await run(client, flow_id, version=wanted))["text"] for wanted in ("draft", "published", 1, 2)]
        assert found == ["2", "1", "1", "2"]

    async def test_takes_up_changes_of_the_draft(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow_id = (await store_flow(database, make_chain(2, s2={"mark": "1"}))).flow_id
        draft = make_chain(2, s2={"mark": "2"}).model_dump(mode="json")
        await client.patch(f"/flows/{flow_id}/draft", json={"revision": 1, "definition": draft})
        assert (await run(client, flow_id))["version"] == 2

    async def test_remembers_the_chat(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow = make_flow({"start": "Start", "said": "Recall"}, ["start.text -> said.input"])
        version = await store_flow(database, flow)
        for text in ("one", "two"):
            await run(client, version.flow_id, text=text, session_id="chat")
        await run(client, version.flow_id, text="elsewhere", session_id="other")
        found = await run(client, version.flow_id, text="three", session_id="chat")
        assert found["text"] == "user:one assistant:one user:two assistant:user:one assistant:one two three"

    async def test_remembers_no_chat_of_somebody_else_in_a_session_of_that_name(
        self, client: httpx2.AsyncClient, database: Database, engine: ExecutionBackend
    ) -> None:
        flow = make_flow({"start": "Start", "said": "Recall"}, ["start.text -> said.input"])
        version = await store_flow(database, flow)
        await run(client, version.flow_id, text="mine", session_id="chat")
        editor = await add_colleague(database, "editor", Role.EDITOR)
        async with api(runs_router, principal=editor, database=database, engine=engine) as theirs:
            assert (await run(theirs, version.flow_id, text="theirs", session_id="chat"))["text"] == "theirs"
            found = await run(theirs, version.flow_id, text="again", session_id="chat")
            assert found["text"] == "user:theirs assistant:theirs again"
        assert (await run(client, version.flow_id, text="two", session_id="chat"))["text"].count("theirs") == 0

    @pytest.mark.parametrize(
        ("body", "status", "code"),
        [
            ({"version": 7}, 404, "version_not_found"),
            ({"version": "published"}, 404, "version_not_found"),
            ({"file_ids": ["00000000-0000-7000-8000-000000000009"]}, 404, "file_not_found"),
            ({"file_ids": ["../../etc/passwd"]}, 404, "file_not_found"),
            ({"form_data": {"nmae": "x"}}, 422, "run_input_invalid"),
            ({"form_data": {"name": 5}}, 422, "run_input_invalid"),
            ({"form_data": {}}, 422, "run_input_invalid"),
            ({"text": "a\x00b"}, 422, None),
            ({"surprise": 1}, 422, None),
            ({"session_id": "x" * 200}, 422, None),
        ],
    )
    async def test_refuses_what_does_not_fit(
        self, client: httpx2.AsyncClient, database: Database, body: dict[str, Any], status: int, code: str | None
    ) -> None:
        flow = make_chain(2).model_copy(update={"form": (FormField(id="name", required=True),)})
        version = await store_flow(database, flow)
        answer = await client.post(
            f"/flows/{version.flow_id}/runs",
            json=({"form_data": {"name": "Anna"}} if "form_data" not in body else {}) | body,
        )
        assert answer.status_code == status, answer.text
        if code is not None:
            assert answer.json()["code"] == code
        assert (await client.get("/flow-runs")).json()["items"] == []

    async def test_refuses_a_document_before_anything_is_paid_where_it_could_not_be_made(
        self, client: httpx2.AsyncClient, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(maker, "find_spec", lambda name: None)
        policy = StepPolicy(output_type=OutputType.PDF)
        version = await store_flow(database, make_flow({"a": Node(id="a", type="Start", policy=policy)}))
        answer = await client.post(f"/flows/{version.flow_id}/runs", json={})
        assert (answer.status_code, answer.json()["code"]) == (422, "documents_not_installed")
        assert "'a'" in answer.json()["detail"]
        assert answer.json()["remedy"]


class TestRead:
    async def test_tells_why_a_run_failed(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow = make_flow({"start": "Start", "bad": "Broken"}, ["start.text -> bad.input"])
        found = await run(client, (await store_flow(database, flow)).flow_id)
        assert found["status"] == "failed"
        assert found["error"] == {"code": "invalid", "message": "This step cannot work. Take it out."}
        assert found["steps"][1]["error"]["code"] == "invalid"
        assert found["output"] is None

    async def test_lists_runs_in_pages_and_by_flow_and_status(
        self, client: httpx2.AsyncClient, database: Database
    ) -> None:
        good = (await store_flow(database, make_chain(1))).flow_id
        bad = make_flow({"start": "Start", "bad": "Broken"}, ["start.text -> bad.input"])
        other = (await store_flow(database, bad)).flow_id
        ids = [(await run(client, flow_id, text="x"))["id"] for flow_id in (good, other, good)]
        first = (await client.get("/flow-runs", params={"limit": 2})).json()
        rest = (await client.get("/flow-runs", params={"limit": 2, "cursor": first["next_cursor"]})).json()
        assert [one["id"] for one in first["items"] + rest["items"]] == ids[::-1]
        assert rest["next_cursor"] is None
        failed = (await client.get("/flow-runs", params={"status": "failed"})).json()["items"]
        assert [one["id"] for one in failed] == [ids[1]]
        of_flow = (await client.get("/flow-runs", params={"flow_id": good})).json()["items"]
        assert [one["id"] for one in of_flow] == [ids[2], ids[0]]
        assert (await client.get("/flow-runs", params={"status": "odd"})).status_code == 422

    async def test_shows_one_step_with_all_it_left(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow = make_flow({"start": "Start", "say": "Speak"}, ["start.text -> say.input"])
        found = await run(client, (await store_flow(database, flow)).flow_id, text="one two")
        step = (await client.get(f"/flow-runs/{found['id']}/steps/say")).json()
        assert (step["effective_prompt"], step["output"]["text"]) == ("one two", "one two")
        assert step["log"][0]["message"] == "spoke"
        assert [attempt["status"] for attempt in step["tries"]] == ["completed"]
        missing = await client.get(f"/flow-runs/{found['id']}/steps/nothing")
        assert (missing.status_code, missing.json()["code"]) == (404, "step_not_found")

    async def test_gives_the_same_evidence_every_time(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow = make_flow({"start": "Start", "say": "Speak"}, ["start.text -> say.input"])
        found = await run(client, (await store_flow(database, flow)).flow_id, text="one two")
        first, second = [(await client.get(f"/flow-runs/{found['id']}/evidence")).content for _ in range(2)]
        assert first == second
        evidence = json.loads(first)
        assert evidence["run"]["flow_run_id"] == found["id"]
        assert evidence["run"]["input"]["text"] == "one two"
        assert [node["id"] for node in evidence["definition_snapshot"]["nodes"]] == ["start", "say"]
        said = evidence["step_results"][1]
        assert (said["effective_prompt"], said["output"]["text"]) == ("one two", "one two")
        assert said["model_parameters"]["api_key"] == "[redacted]"
        assert said["latency_ms"] >= 0
        assert [len(step["attempts"]) for step in evidence["step_results"]] == [1, 1]
        assert verify(first, read_public_key((await client.get("/evidence-keys")).json()[0]["public_key"])).good


class TestCancel:
    async def test_cancels_once(self, client: httpx2.AsyncClient, database: Database, tmp_path: Path) -> None:
        version = await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)}))
        run_id = (await client.post(f"/flows/{version.flow_id}/runs", json={})).json()["id"]
        await appears(tmp_path / "gate.started")
        for changed in (True, False):
            answer = await client.post(f"/flow-runs/{run_id}/cancel")
            assert answer.json() == {"id": run_id, "status": "cancelled", "changed": changed}
        assert (await client.get(f"/flow-runs/{run_id}")).json()["steps"][0]["status"] == "cancelled"


class TestDeadline:
    async def test_is_the_earlier_one_of_the_start_and_the_flow(
        self, client: httpx2.AsyncClient, database: Database
    ) -> None:
        flow = make_chain(1).model_copy(update={"settings": FlowSettings(run_deadline_seconds=60)})
        flow_id = (await store_flow(database, flow)).flow_id
        for given, seconds in ((None, 60), (3600, 60), (5, 5)):
            found = await run(client, flow_id, deadline_seconds=given)
            took = datetime.fromisoformat(found["deadline_at"]) - datetime.fromisoformat(found["created_at"])
            assert took.total_seconds() == seconds
        evidence = (await client.get(f"/flow-runs/{found['id']}/evidence")).json()["run"]
        assert evidence["deadline_at"].startswith(found["deadline_at"][:19])

    @pytest.mark.parametrize("seconds", [0, -1, 1e12, "soon"])
    async def test_must_be_a_time_to_come(
        self, client: httpx2.AsyncClient, database: Database, seconds: object
    ) -> None:
        flow_id = (await store_flow(database, make_chain(1))).flow_id
        answer = await client.post(f"/flows/{flow_id}/runs", json={"deadline_seconds": seconds})
        assert answer.status_code == 422


class TestBreakpoints:
    async def test_stop_a_run_until_it_is_continued(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow_id = (await store_flow(database, make_chain(4))).flow_id
        start = {"text": "x", "wait": True, "stop_before": ["s2", "s4", "s2"]}
        answer = await client.post(f"/flows/{flow_id}/runs", json=start)
        assert answer.status_code == 202
        waits, path = answer.json()["waits_for"], f"/flow-runs/{answer.json()['id']}/breakpoints/continue"
        assert (waits["reason"], waits["step_id"], waits["until"]) == ("breakpoint", "s2", None)
        assert "/breakpoints/continue" in waits["remedy"]
        shown = await client.get(f"/flow-runs/{answer.json()['id']}")
        step = shown.json()["steps"][1]
        assert (step["status"], step["waiting"]["reason"]) == ("waiting", "breakpoint")
        for then, step_id in (("next", "s2"), ("breakpoints", "s3"), ("end", "s4")):
            moved = await client.post(path, json={"then": then})
            assert moved.status_code == 200, moved.text
            assert (moved.json()["changed"], moved.json()["steps"]) == (True, [step_id])
            if then != "end":
                await stops(client, answer.json()["id"])
        events = sse((await client.get(f"/flow-runs/{answer.json()['id']}/events")).text)
        reasons = [data["reason"] for _, kind, data in events if kind == "step_waiting"]
        assert (reasons, events[-1][1]) == (["breakpoint"] * 3, "run_completed")
        late = await client.post(path)
        assert (late.status_code, late.json()["code"]) == (409, "run_over")

    async def test_have_no_effect_on_a_run_that_is_not_stopped(
        self, client: httpx2.AsyncClient, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow({"g": "Gate", "e": "Echo"}, ["g.text -> e.input"], g={"folder": str(tmp_path)})
        flow_id = (await store_flow(database, flow)).flow_id
        for start in ({}, {"stop_before": ["e"]}):
            run_id = (await client.post(f"/flows/{flow_id}/runs", json=start)).json()["id"]
            await appears(tmp_path / "gate.started")
            (tmp_path / "gate.started").unlink()
            answer = await client.post(f"/flow-runs/{run_id}/breakpoints/continue")
            assert answer.json() == {"id": run_id, "status": "running", "changed": False, "steps": []}

    async def test_can_be_set_before_steps_of_the_flow_alone(
        self, client: httpx2.AsyncClient, database: Database
    ) -> None:
        path = f"/flows/{(await store_flow(database, make_chain(2))).flow_id}/runs"
        answer = await client.post(path, json={"stop_before": ["s1", "s9"]})
        assert (answer.status_code, answer.json()["code"]) == (422, "run_input_invalid")
        assert "'s9'" in answer.json()["detail"]
        for start in ({"stop_before": ["s1"] * 1_001}, {"stop_before": "s1"}, {"stop_before": ["s" * 65]}):
            assert (await client.post(path, json=start)).status_code == 422
        for body in ({"then": "s2"}, {"after": "next"}):
            answer = await client.post(f"/flow-runs/{new_id()}/breakpoints/continue", json=body)
            assert answer.status_code == 422
        missing = await client.post(f"/flow-runs/{new_id()}/breakpoints/continue")
        assert (missing.status_code, missing.json()["code"]) == (404, "run_not_found")

    async def test_cost_a_run_without_them_no_query(
        self, client: httpx2.AsyncClient, database: Database, engine: ExecutionBackend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[str] = []

        async def stops_before(run_id: str, step_id: str) -> bool:
            asked.append(step_id)
            return False

        monkeypatch.setattr(engine.store, "stops_before", stops_before)
        flow_id = (await store_flow(database, make_chain(3))).flow_id
        await run(client, flow_id)
        assert asked == []
        await run(client, flow_id, stop_before=["s2"])
        assert asked == ["s1", "s2", "s3"]


async def stops(client: httpx2.AsyncClient, run_id: str) -> None:
    """Wait until a run waits."""
    async with asyncio.timeout(20):
        while (await client.get(f"/flow-runs/{run_id}")).json()["status"] != "waiting":  # noqa: ASYNC110
            await asyncio.sleep(0.01)


class TestPause:
    async def test_pauses_and_continues_once(
        self, client: httpx2.AsyncClient, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow({"g": "Gate", "e": "Echo"}, ["g.text -> e.input"], g={"folder": str(tmp_path)})
        version = await store_flow(database, flow)
        run_id = (await client.post(f"/flows/{version.flow_id}/runs", json={"text": "x"})).json()["id"]
        await appears(tmp_path / "gate.started")
        for changed in (True, False):
            answer = await client.post(f"/flow-runs/{run_id}/pause")
            assert answer.json() == {"id": run_id, "status": "paused", "changed": changed, "runs": int(changed)}
        (listed,) = (await client.get("/flow-runs", params={"status": "paused"})).json()["items"]
        assert listed["id"] == run_id
        for changed in (True, False):
            answer = await client.post(f"/flow-runs/{run_id}/continue")
            assert answer.json() == {"id": run_id, "status": "running", "changed": changed, "runs": int(changed)}
        (tmp_path / "gate.open").touch()
        events = sse((await client.get(f"/flow-runs/{run_id}/events")).text)
        assert [kind for _, kind, _ in events if kind.startswith("run_")] == [
            "run_started",
            "run_paused",
            "run_continued",
            "run_completed",
        ]
        (pause,) = (await client.get(f"/flow-runs/{run_id}/evidence")).json()["run"]["pauses"]
        assert pause["paused_at"] < pause["continued_at"]

    @pytest.mark.parametrize("deed", ["pause", "continue"])
    async def test_of_a_run_that_is_over_is_a_conflict(
        self, client: httpx2.AsyncClient, database: Database, deed: str
    ) -> None:
        over = await run(client, (await store_flow(database, make_chain(2))).flow_id)
        answer = await client.post(f"/flow-runs/{over['id']}/{deed}")
        assert (answer.status_code, answer.json()["code"]) == (409, "run_over")
        assert "completed" in answer.json()["detail"]
        missing = await client.post(f"/flow-runs/{new_id()}/{deed}")
        assert (missing.status_code, missing.json()["code"]) == (404, "run_not_found")


class TestSeveralRuns:
    async def test_are_changed_each_with_its_own_result(
        self, client: httpx2.AsyncClient, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow({"g": "Gate", "e": "Echo"}, ["g.text -> e.input"], g={"folder": str(tmp_path)})
        version = await store_flow(database, flow)
        active = (await client.post(f"/flows/{version.flow_id}/runs", json={"text": "x"})).json()["id"]
        await appears(tmp_path / "gate.started")
        over = (await run(client, (await store_flow(database, make_chain(2))).flow_id))["id"]
        missing = new_id()

        async def changed(action: str) -> list[tuple[str, str | None, bool, str | None]]:
            body = {"action": action, "run_ids": [active, over, missing, active]}
            answer = await client.post("/flow-runs/actions", json=body)
            assert answer.status_code == 200, answer.text
            return [
                (one["run_id"], one["status"], one["changed"], (one["problem"] or {}).get("code"))
                for one in answer.json()["items"]
            ]

        gone, refused = (missing, None, False, "run_not_found"), (over, None, False, "run_over")
        assert await changed("pause") == [(active, "paused", True, None), refused, gone]
        assert await changed("continue") == [(active, "running", True, None), refused, gone]
        assert await changed("cancel") == [(active, "cancelled", True, None), (over, "completed", False, None), gone]
        (tmp_path / "gate.open").touch()

    @pytest.mark.parametrize("body", [{"action": "delete", "run_ids": ["a"]}, {"action": "pause", "run_ids": []}])
    async def test_are_named_and_what_is_done_is_known(self, client: httpx2.AsyncClient, body: dict[str, Any]) -> None:
        assert (await client.post("/flow-runs/actions", json=body)).status_code == 422


class TestEvents:
    async def test_tells_everything_in_order(self, client: httpx2.AsyncClient, database: Database) -> None:
        flow = make_flow(
            {"start": "Start", "fork": "Fork", "say": "Speak", "no": "Echo"},
            ["start.text -> fork.input", "fork.left -> say.input", "fork.right -> no.input"],
        )
        found = await run(client, (await store_flow(database, flow)).flow_id, text="left")
        answer = await client.get(f"/flow-runs/{found['id']}/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = sse(answer.text)
        assert [kind for _, kind, _ in events] == [
            "run_started",
            "step_started",
            "step_completed",
            "step_started",
            "step_completed",
            "step_skipped",
            "step_started",
            "step_completed",
            "run_completed",
        ]
        completed = events[-2][2]
        assert (completed["step_id"], completed["type"], completed["preview"]) == ("say", "Speak", "left")
        assert (completed["tokens_input"], completed["tokens_output"]) == (3, 4)
        assert events[-1][2]["text"] == "left"

    async def test_goes_on_behind_the_last_event_seen(self, client: httpx2.AsyncClient, database: Database) -> None:
        found = await run(client, (await store_flow(database, make_chain(3))).flow_id)
        path = f"/flow-runs/{found['id']}/events"
        whole = sse((await client.get(path)).text)
        rest = sse((await client.get(path, headers={"Last-Event-ID": whole[3][0]})).text)
        assert rest == whole[4:]

    async def test_continues_behind_the_last_event_seen_after_a_restart(
        self, client: httpx2.AsyncClient, database: Database, make_engine: Any
    ) -> None:
        flow = make_flow({"start": "Start", "bad": "Broken"}, ["start.text -> bad.input"])
        found = await run(client, (await store_flow(database, flow)).flow_id, text="hej")
        path = f"/flow-runs/{found['id']}/events"
        seen = sse((await client.get(path)).text)
        after = await make_engine()
        async with api(runs_router, database=database, engine=after) as restarted:
            replayed = sse((await restarted.get(path, headers={"Last-Event-ID": seen[2][0]})).text)
        assert replayed == seen[3:]
        assert [kind for _, kind, _ in replayed] == ["step_started", "step_failed", "run_failed"]
        assert seen[2][2]["preview"] == "hej"
        assert replayed[2][2] == {
            "code": "invalid",
            "message": "This step cannot work. Take it out.",
            "step_id": "bad",
        }

    async def test_follows_a_run_that_another_process_took_up(
        self, database: Database, make_engine: Any, tmp_path: Path
    ) -> None:
        first = await make_engine()
        flow = make_flow(
            {"start": "Start", "g": "Gate", "end": "Echo"},
            ["start.text -> g.input", "g.text -> end.input"],
            g={"folder": str(tmp_path)},
        )
        version = await store_flow(database, flow)
        async with api(runs_router, database=database, engine=first) as before:
            run_id = (await before.post(f"/flows/{version.flow_id}/runs", json={"text": "x"})).json()["id"]
            await appears(tmp_path / "gate.started")
        await first.close(grace_seconds=0)
        second = await make_engine()
        async with api(runs_router, database=database, engine=second) as client:
            reading = asyncio.create_task(client.get(f"/flow-runs/{run_id}/events"))
            await asyncio.sleep(0.1)
            (tmp_path / "gate.open").touch()
            events = sse((await reading).text)
        kinds = [(kind, data.get("step_id")) for _, kind, data in events]
        assert kinds.count(("step_completed", "start")) == 1
        assert ("step_completed", "g") in kinds
        assert kinds[-1] == ("run_completed", None)


class TestGraph:
    async def test_draws_the_draft(self, client: httpx2.AsyncClient, database: Database) -> None:
        version = await store_flow(database, _forked())
        found = (await client.get(f"/flows/{version.flow_id}/graph")).json()
        assert (found["version"], found["run_id"]) == (None, None)
        assert [(node["id"], node["kind"], node["order"]) for node in found["nodes"]] == [
            ("start", "step", 1),
            ("fork", "step", 2),
            ("left", "step", 3),
            ("right", "step", 4),
        ]
        assert {edge["taken"] for edge in found["edges"]} == {None}

    async def test_draws_the_version_of_a_run_with_its_results(
        self, client: httpx2.AsyncClient, database: Database
    ) -> None:
        version = await store_flow(database, _forked())
        made = await run(client, version.flow_id, text="left")
        changed = make_chain(1).model_dump(mode="json")
        await client.patch(f"/flows/{version.flow_id}/draft", json={"revision": 1, "definition": changed})
        found = (await client.get(f"/flows/{version.flow_id}/graph", params={"run_id": made["id"]})).json()
        assert found["version"] == 1
        assert {node["id"]: node["run"]["status"] for node in found["nodes"]} == {
            "start": "completed",
            "fork": "completed",
            "left": "completed",
            "right": "skipped",
        }
        assert {edge["id"]: edge["taken"] for edge in found["edges"]} == {
            "start.text -> fork.input": True,
            "fork.left -> left.input": True,
            "fork.right -> right.input": False,
        }

    async def test_does_not_draw_a_run_of_another_flow(self, client: httpx2.AsyncClient, database: Database) -> None:
        made = await run(client, (await store_flow(database, make_chain(1))).flow_id)
        other = await store_flow(database, make_chain(1))
        answer = await client.get(f"/flows/{other.flow_id}/graph", params={"run_id": made["id"]})
        assert (answer.status_code, answer.json()["code"]) == (404, "run_not_found")


class TestTenants:
    async def test_never_see_the_runs_of_others(
        self, client: httpx2.AsyncClient, database: Database, engine: ExecutionBackend
    ) -> None:
        version = await store_flow(database, make_chain(2))
        made = await run(client, version.flow_id, text="secret")
        stranger = await add_tenant(database)
        parts: dict[str, Any] = {"registry": engine.services.components, "notary": NOTARY}
        async with api(runs_router, principal=stranger, database=database, engine=engine, **parts) as theirs:
            answers = [
                await theirs.get(f"/flow-runs/{made['id']}"),
                await theirs.get(f"/flow-runs/{made['id']}/events"),
                await theirs.get(f"/flow-runs/{made['id']}/evidence"),
                await theirs.get(f"/flow-runs/{made['id']}/steps/s1"),
                await theirs.post(f"/flow-runs/{made['id']}/cancel"),
                await theirs.post(f"/flow-runs/{made['id']}/pause"),
                await theirs.post(f"/flow-runs/{made['id']}/continue"),
                await theirs.post(f"/flow-runs/{made['id']}/breakpoints/continue"),
                await theirs.post(f"/flows/{version.flow_id}/runs", json={}),
                await theirs.get(f"/flows/{version.flow_id}/graph"),
                await theirs.get(f"/flows/{version.flow_id}/graph", params={"run_id": made["id"]}),
            ]
            assert [answer.status_code for answer in answers] == [404] * 11
            assert not any("secret" in answer.text for answer in answers)
            assert (await theirs.get("/flow-runs")).json()["items"] == []
            assert (await theirs.get("/flow-runs", params={"flow_id": version.flow_id})).json()["items"] == []

    async def test_cannot_start_a_run_with_the_file_of_another(
        self, client: httpx2.AsyncClient, database: Database
    ) -> None:
        stranger = await add_tenant(database)
        file_id = new_id()
        await execute(
            database,
            "INSERT INTO files (id, tenant_id, name, media_type, size_bytes, sha256, created_at)"
            " VALUES (:id, :tenant, 'a', 'text/plain', 1, '', 0)",
            id=file_id,
            tenant=stranger.tenant_id,
        )
        version = await store_flow(database, make_chain(1))
        answer = await client.post(f"/flows/{version.flow_id}/runs", json={"file_ids": [file_id]})
        assert (answer.status_code, answer.json()["code"]) == (404, "file_not_found")


class TestDeletedFlows:
    async def test_take_no_run_but_keep_their_evidence(self, client: httpx2.AsyncClient, database: Database) -> None:
        version = await store_flow(database, make_chain(1))
        made = await run(client, version.flow_id)
        assert (await client.delete(f"/flows/{version.flow_id}")).status_code == 204
        assert (await client.post(f"/flows/{version.flow_id}/runs", json={})).status_code == 404
        assert (await client.get(f"/flow-runs/{made['id']}")).json()["status"] == "completed"
        assert (await client.get(f"/flow-runs/{made['id']}/evidence")).status_code == 200


def _forked() -> Flow:
    return make_flow(
        {"start": "Start", "fork": "Fork", "left": "Echo", "right": "Echo"},
        ["start.text -> fork.input", "fork.left -> left.input", "fork.right -> right.input"],
    )
