"""The same start with the same `Idempotency-Key` is one run, on both databases and over the real application."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from sqlalchemy import func, select, update

from headgate.features.idempotency.tables import idempotency_keys
from headgate.features.runs.tables import flow_runs
from headgate.foundation.settings import Settings
from tests.integration.features.attention.conftest import BROKEN
from tests.support.team import FLOW, Team, team

pytestmark = pytest.mark.both_databases

FAILING = {
    "name": "Failing",
    "nodes": [
        {"id": "heard", "type": "ChatInput", "policy": {"output_type": "json"}},
        {"id": "said", "type": "ChatOutput"},
    ],
    "edges": [{"source": "heard", "output": "text", "target": "said", "input": "input"}],
}
DAY = 24 * 3600 * 1_000_000


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as client:
        yield client


async def published(us: Team, **definition: Any) -> str:
    flow_id = str((await us.make("editor", "/flows", **(definition or {"spec": FLOW})))["id"])
    await us.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


async def send(us: Team, path: str, key: str, who: str = "runner", **body: Any) -> httpx2.Response:
    return await us.ask(who, "POST", path, json=body, headers={"Idempotency-Key": key})


async def start(us: Team, flow_id: str, key: str, who: str = "runner", **body: Any) -> httpx2.Response:
    return await send(us, f"/flows/{flow_id}/runs", key, who, version="published", **body)


async def runs_of(us: Team) -> int:
    async with us.database.reading() as session:
        return int((await session.execute(select(func.count()).select_from(flow_runs))).scalar_one())


class TestRuns:
    @pytest.mark.parametrize("wait", [False, True])
    async def test_the_second_request_gets_the_first_run(self, us: Team, wait: bool) -> None:
        flow_id = await published(us)
        first = await start(us, flow_id, "key", text="hello", wait=wait)
        second = await start(us, flow_id, "key", text="hello", wait=wait)
        assert (first.status_code, second.status_code) == (201, 201)
        assert first.json()["id"] == second.json()["id"]
        assert "idempotency-replayed" not in first.headers
        assert second.headers["idempotency-replayed"] == "true"
        assert await runs_of(us) == 1

    async def test_requests_at_the_same_moment_make_one_run(self, us: Team) -> None:
        flow_id = await published(us)
        answers = await asyncio.gather(*(start(us, flow_id, "key", text="hello", wait=True) for _ in range(8)))
        assert {one.status_code for one in answers} == {201}
        assert {one.json()["status"] for one in answers} == {"completed"}
        assert len({one.json()["id"] for one in answers}) == 1
        assert sum("idempotency-replayed" not in one.headers for one in answers) == 1
        assert await runs_of(us) == 1

    async def test_another_body_or_path_is_refused(self, us: Team) -> None:
        flow_id, other = await published(us), await published(us)
        await start(us, flow_id, "key", text="hello")
        for answer in (await start(us, flow_id, "key", text="bye"), await start(us, other, "key", text="hello")):
            assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")
        assert await runs_of(us) == 1

    async def test_the_order_of_members_makes_no_other_body(self, us: Team) -> None:
        flow_id, path = await published(us), ""
        path = f"/flows/{flow_id}/runs"
        for content in ('{"text": "a", "version": "published"}', '{"version":"published","text":"a"}'):
            headers = {"Idempotency-Key": "key", "Content-Type": "application/json"}
            answer = await us.ask("runner", "POST", path, content=content, headers=headers)
            assert answer.status_code == 201
        assert await runs_of(us) == 1

    async def test_a_start_that_was_refused_leaves_the_key_free(self, us: Team) -> None:
        flow_id = await published(us)
        assert (await start(us, flow_id, "key", file_ids=["00000000-0000-7000-8000-00000000dead"])).status_code == 404
        assert (await start(us, flow_id, "key", text="hello")).status_code == 201

    async def test_a_key_lasts_a_day(self, us: Team) -> None:
        flow_id = await published(us)
        first = (await start(us, flow_id, "key", text="hello")).json()["id"]
        async with us.database.writing() as session:
            age = update(idempotency_keys)
            await session.execute(age.values(created_at=idempotency_keys.c.created_at - DAY + 60_000_000))
        assert (await start(us, flow_id, "key", text="hello")).json()["id"] == first
        async with us.database.writing() as session:
            await session.execute(update(idempotency_keys).values(created_at=idempotency_keys.c.created_at - 10**8))
        assert (await start(us, flow_id, "key", text="hello")).json()["id"] != first

    async def test_maintenance_removes_old_keys(self, us: Team) -> None:
        flow_id = await published(us)
        for key in ("old", "new"):
            await start(us, flow_id, key, text="hello")
        async with us.database.writing() as session:
            old = update(idempotency_keys).where(idempotency_keys.c.key == "old")
            await session.execute(old.values(created_at=idempotency_keys.c.created_at - DAY - 1))
        assert (await us.app.state.maintenance.run_job("idempotency_keys", dry=True)).keys == 1
        assert (await us.app.state.maintenance.run_job("idempotency_keys")).keys == 1
        async with us.database.reading() as session:
            assert (await session.execute(select(idempotency_keys.c.key))).scalars().all() == ["new"]

    @pytest.mark.parametrize("key", ["", " ", "k" * 256, "a\tb", "å"])
    async def test_a_key_that_is_none_is_refused(self, us: Team, key: str) -> None:
        flow_id = await published(us)
        headers = [(b"idempotency-key", key.encode("latin-1"))]
        body = {"version": "published"}
        answer = await us.ask("runner", "POST", f"/flows/{flow_id}/runs", json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_invalid")
        assert await runs_of(us) == 0

    async def test_another_user_gets_it_only_with_read_access(self, us: Team) -> None:
        flow_id = await published(us)
        first = await start(us, flow_id, "key", text="hello")
        assert (await start(us, flow_id, "key", "owner", text="hello")).json()["id"] == first.json()["id"]
        refused = await start(us, flow_id, "key", "stranger", text="hello")
        assert refused.status_code in {404, 409}
        assert first.json()["id"] not in refused.text
        assert await runs_of(us) == 1


class TestReruns:
    async def test_a_rerun_is_one_run(self, us: Team) -> None:
        flow_id = await published(us)
        past = (await start(us, flow_id, "first", text="hello", wait=True)).json()["id"]
        path = f"/flow-runs/{past}/rerun"
        answers = await asyncio.gather(*(send(us, path, "again", wait=True) for _ in range(3)))
        assert {one.status_code for one in answers} == {201}
        assert len({one.json()["id"] for one in answers}) == 1
        assert await runs_of(us) == 2

    async def test_a_resume_happens_once(self, us: Team) -> None:
        flow_id = await published(us, definition=FAILING)
        past = (await start(us, flow_id, "first", text="no JSON", wait=True)).json()["id"]
        answers = [await send(us, f"/flow-runs/{past}/resume", "again", wait=True) for _ in range(2)]
        assert [one.status_code for one in answers] == [200, 200]
        details = [{name: answer.json()[name] for name in ("how", "reason", "from_step")} for answer in answers]
        assert details[0] == details[1]
        assert {one.json()["run"]["resumes"] for one in answers} == {1}

    async def test_a_part_of_a_flow_is_run_once(self, us: Team) -> None:
        flow_id = str((await us.make("editor", "/flows", spec=FLOW))["id"])
        path = f"/flows/{flow_id}/runs"
        answers = [await send(us, path, "key", "editor", text="hi", only_step="heard") for _ in range(2)]
        assert len({one.json()["id"] for one in answers}) == 1
        assert await runs_of(us) == 1


class TestTests:
    async def test_a_flows_tests_run_once(self, us: Team) -> None:
        flow_id = str((await us.make("editor", "/flows", spec=FLOW))["id"])
        cases = [{"name": "echoes", "text": "hi", "expect": {"contains": ["hi"]}}]
        revision = (await us.get("editor", f"/flows/{flow_id}/tests"))["revision"]
        test_set = {"revision": revision, "cases": cases}
        assert (await us.ask("editor", "PUT", f"/flows/{flow_id}/tests", json=test_set)).status_code == 200
        path = f"/flows/{flow_id}/tests/run"
        answers = await asyncio.gather(*(send(us, path, "key", "editor", wait=True) for _ in range(3)))
        assert {one.status_code for one in answers} == {200}
        assert len({one.json()["id"] for one in answers}) == 1
        assert await runs_of(us) == 1


class TestCompletions:
    async def test_a_completion_is_one_run_streamed_or_whole(self, us: Team) -> None:
        await published(us)
        for stream in (False, True):
            body = {"model": "Talk", "messages": [{"role": "user", "content": "hello"}], "stream": stream}
            headers = {"Idempotency-Key": f"key-{stream}"}
            url = "http://127.0.0.1:7411/v1/chat/completions"
            answers = [await us.ask("runner", "POST", url, json=body, headers=headers) for _ in range(2)]
            assert [one.status_code for one in answers] == [200, 200], answers[1].text
            assert len({one.headers["x-headgate-run-id"] for one in answers}) == 1
            assert answers[1].headers["idempotency-replayed"] == "true"
            assert [_said(one, stream=stream) for one in answers] == ["hello", "hello"]
        assert await runs_of(us) == 2


def _said(answer: httpx2.Response, *, stream: bool) -> str:
    if not stream:
        return str(answer.json()["choices"][0]["message"]["content"])
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n") if line.startswith("data: {")]
    choices = [choice for line in lines for choice in json.loads(line)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


class TestBulkActions:
    async def test_change_runs_once_at_the_same_moment_too(self, us: Team) -> None:
        flow_id = await published(us)
        run_id = (await start(us, flow_id, "start", text="hello", wait=True)).json()["id"]
        body: dict[str, Any] = {"action": "rerun", "run_ids": [run_id]}
        first = await send(us, "/flow-runs/actions", "key", **body)
        assert first.json()["items"][0]["new_run_id"] is not None
        assert "idempotency-replayed" not in first.headers
        second = await send(us, "/flow-runs/actions", "key", **body)
        assert (second.status_code, second.json()) == (200, first.json())
        assert second.headers["idempotency-replayed"] == "true"
        assert await runs_of(us) == 2
        many = await asyncio.gather(*(send(us, "/flow-runs/actions", "many", **body) for _ in range(6)))
        codes = {one.status_code: one.json().get("code") for one in many}
        assert set(codes) <= {200, 409}
        assert codes.get(409) in {None, "idempotency_key_in_progress"}
        assert await runs_of(us) == 3
        other = await send(us, "/flow-runs/actions", "key", **{**body, "action": "cancel"})
        assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
        stranger = await send(us, "/flow-runs/actions", "key", "editor", **body)
        assert (stranger.status_code, stranger.json()["code"]) == (409, "idempotency_key_reused")

    async def test_on_items_that_need_a_human_are_done_once(self, us: Team) -> None:
        flow_id = await published(us, spec=BROKEN)
        await start(us, flow_id, "start", text="no JSON", wait=True)
        (item,) = (await us.get("runner", "/attention"))["items"]
        body: dict[str, Any] = {"action": "rerun", "keys": [item["key"]]}
        first, second = [await send(us, "/attention/actions", "key", **body) for _ in range(2)]
        assert first.json()["items"][0]["done"]
        assert second.json() == first.json()
        assert second.headers["idempotency-replayed"] == "true"
        assert await runs_of(us) == 2


class TestAssistant:
    async def test_a_turn_is_answered_again_with_its_result(self, us: Team) -> None:
        body = {"input_value": "Build a flow that greets me", "provider": "offline"}
        first = await send(us, "/agentic/assist", "key", "editor", **body)
        second = await send(us, "/agentic/assist", "key", "editor", **body)
        assert (first.status_code, second.status_code) == (200, 200)
        assert second.json() == first.json()
        assert second.headers["idempotency-replayed"] == "true"
        other = await send(us, "/agentic/assist", "key", "editor", **{**body, "input_value": "Something else"})
        assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")

    async def test_a_streamed_turn_ends_with_the_same_event(self, us: Team) -> None:
        body = {"input_value": "Build a flow that greets me", "provider": "offline"}
        first = await send(us, "/agentic/assist/stream", "key", "editor", **body)
        second = await send(us, "/agentic/assist/stream", "key", "editor", **body)
        events = [
            json.loads(line.removeprefix("data: "))
            for one in (first, second)
            for line in one.text.split("\n")
            if line.startswith("data: ")
        ]
        done = [event for event in events if event["event"] == "complete"]
        assert len(done) == 2
        assert done[0] == done[1]
        assert "event: progress" not in second.text

    async def test_a_turn_in_progress_is_a_conflict_with_a_time_to_ask_again(self, us: Team) -> None:
        body = {"input_value": "Build a flow that greets me", "provider": "offline"}
        await send(us, "/agentic/assist", "key", "editor", **body)
        async with us.database.writing() as session:
            await session.execute(
                update(idempotency_keys).values(answer=None, pending_until=idempotency_keys.c.created_at + DAY)
            )
        answer = await send(us, "/agentic/assist", "key", "editor", **body)
        assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_in_progress")
        assert int(answer.headers["retry-after"]) > 0

    async def test_a_turn_without_a_result_is_started_again(self, us: Team) -> None:
        body = {"input_value": "hi", "flow_id": "00000000-0000-7000-8000-00000000dead"}
        for _ in range(2):
            assert (await send(us, "/agentic/assist", "key", "editor", **body)).status_code == 404
        async with us.database.reading() as session:
            assert (await session.execute(select(idempotency_keys.c.key))).scalars().all() == []
