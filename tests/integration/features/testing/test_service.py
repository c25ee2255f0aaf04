"""A flow's tests over the real application: kept, run as real runs, required before publishing; on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import select, update

from headgate.features.access.principal import LOCAL, Principal
from headgate.features.audit.tables import AuditEvent
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.jobs.queue import Queue
from headgate.features.runs import service as runs
from headgate.features.runs.transitions import RunKey
from headgate.features.testing import repository, service
from headgate.features.testing.errors import StaleTests
from headgate.features.testing.runner import TestRuns
from headgate.features.testing.tables import TestResultRow
from headgate.foundation.database import Database
from headgate.foundation.errors import Unauthenticated, Unavailable
from headgate.foundation.ids import new_id
from headgate.foundation.settings import LimitSettings, Settings
from headgate.graph.cases import Expectation, TestCase
from tests.support.jobs import open_jobs
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import asking, running

FLOW = "name: Talk\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"
STEP = (
    "name: Talk\nnodes:\n  heard: ChatInput\n  step: Python\n    source: |\n      def run(inputs):\n          {line}\n"
    "  said: ChatOutput\nedges:\n  heard.message -> step.inputs\n  step.text -> said.input\n"
)
SLOW = STEP.replace("{line}", "return sum(1 for _ in iter(int, 1))")
GREETS = {"name": "greets", "text": "hello there", "expect": {"contains": ["Hello"]}}
PARTS = {"name": "parts", "text": "goodbye", "expect": {"equals": "goodbye", "excludes": ["hello"]}}
WRONG = {"name": "wrong", "text": "goodbye", "expect": {"contains": ["hello"]}}


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    async with running(settings) as found:
        yield found


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    async with asking(app) as found:
        found.base_url = found.base_url.join("/api/v1/")
        yield found


@pytest.fixture
async def flow_id(client: httpx2.AsyncClient) -> str:
    return await make(client)


async def make(client: httpx2.AsyncClient, spec: str = FLOW) -> str:
    answer = await client.post("flows", json={"spec": spec})
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["id"]
    return found


async def put(client: httpx2.AsyncClient, flow_id: str, *cases: dict[str, Any]) -> dict[str, Any]:
    revision = (await client.get(f"flows/{flow_id}/tests")).json()["revision"]
    answer = await client.put(f"flows/{flow_id}/tests", json={"revision": revision, "cases": list(cases)})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def run(client: httpx2.AsyncClient, flow_id: str, **wanted: Any) -> dict[str, Any]:
    answer = await client.post(f"flows/{flow_id}/tests/run", json={"wait": True, **wanted})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def change(client: httpx2.AsyncClient, flow_id: str, **settings: Any) -> None:
    """Change the draft's settings; a description changes nothing of what it does, so that it is given as one too."""
    flow = (await client.get(f"flows/{flow_id}")).json()
    definition = flow["definition"] | {"settings": flow["definition"]["settings"] | settings}
    answer = await client.patch(f"flows/{flow_id}/draft", json={"revision": flow["revision"], "definition": definition})
    assert answer.status_code == 200, answer.text


async def publish(client: httpx2.AsyncClient, flow_id: str) -> tuple[int, dict[str, Any]]:
    answer = await client.post(f"flows/{flow_id}/publish", json={})
    return answer.status_code, answer.json()


class TestSet:
    async def test_is_replaced_as_a_whole_and_kept_in_its_order(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        assert (await client.get(f"flows/{flow_id}/tests")).json()["standing"]["state"] == "empty"
        await put(client, flow_id, PARTS, GREETS)
        found = await put(client, flow_id, GREETS, PARTS, WRONG)
        assert [case["name"] for case in found["cases"]] == ["greets", "parts", "wrong"]
        found = await put(client, flow_id, PARTS)
        assert [case["expect"]["equals"] for case in found["cases"]] == ["goodbye"]

    async def test_refuses_two_cases_of_one_name_and_more_than_fifty(
        self, client: httpx2.AsyncClient, flow_id: str
    ) -> None:
        of_nothing = (await client.get(f"flows/{flow_id}/tests")).json()["revision"]
        sent = {"revision": of_nothing, "cases": [GREETS, GREETS]}
        twice = await client.put(f"flows/{flow_id}/tests", json=sent)
        assert (twice.status_code, twice.json()["code"]) == (422, "test_set_invalid")
        sent["cases"] = [{"name": str(one)} for one in range(51)]
        assert (await client.put(f"flows/{flow_id}/tests", json=sent)).status_code == 422
        assert (await client.get(f"flows/{flow_id}/tests")).json()["cases"] == []

    async def test_takes_more_in_by_name(self, client: httpx2.AsyncClient, flow_id: str, database: Database) -> None:
        await put(client, flow_id, GREETS, PARTS)
        newer = TestCase(name="greets", text="hi", expect=Expectation(contains=["hi"]))
        async with database.writing() as session:
            assert len(await service.keep_cases(session, LOCAL, flow_id, [newer, TestCase(name="third")])) == 3
        cases = (await client.get(f"flows/{flow_id}/tests")).json()["cases"]
        assert [(case["name"], case["text"]) for case in cases] == [
            ("greets", "hi"),
            ("parts", "goodbye"),
            ("third", ""),
        ]

    async def test_is_not_replaced_by_who_read_an_older_one(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        read = await put(client, flow_id, GREETS, PARTS)
        theirs = await put(client, flow_id, GREETS, PARTS, WRONG)
        mine = {"revision": read["revision"], "cases": [{**GREETS, "text": "hello you"}, PARTS]}
        refused = await client.put(f"flows/{flow_id}/tests", json=mine)
        assert (refused.status_code, refused.json()["code"]) == (409, "stale_tests")
        assert (refused.json()["revision"], "Read the tests again" in refused.json()["remedy"]) == (
            theirs["revision"],
            True,
        )
        assert (await client.get(f"flows/{flow_id}/tests")).json()["cases"] == theirs["cases"]
        mine["revision"] = refused.json()["revision"]
        assert (await client.put(f"flows/{flow_id}/tests", json=mine)).status_code == 200
        again = await client.put(f"flows/{flow_id}/tests", json=mine)
        assert (again.status_code, again.json()["cases"][0]["text"]) == (200, "hello you")
        assert (await client.put(f"flows/{flow_id}/tests", json={"cases": []})).status_code == 422

    async def test_knows_its_order_too(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        one, other = await put(client, flow_id, GREETS, PARTS), await put(client, flow_id, PARTS, GREETS)
        assert one["revision"] != other["revision"]
        assert (await put(client, flow_id, GREETS, PARTS))["revision"] == one["revision"]

    async def test_of_two_that_are_sent_at_once_is_one(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        revision = (await client.get(f"flows/{flow_id}/tests")).json()["revision"]
        sets = [{"revision": revision, "cases": [case]} for case in (GREETS, PARTS, WRONG)]
        answers = await asyncio.gather(*(client.put(f"flows/{flow_id}/tests", json=one) for one in sets))
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409]

    async def test_takes_more_in_only_on_the_revision_that_was_named(
        self, client: httpx2.AsyncClient, flow_id: str, database: Database
    ) -> None:
        read = await put(client, flow_id, GREETS)
        await put(client, flow_id, GREETS, PARTS)
        with pytest.raises(StaleTests):
            async with database.writing() as session:
                await service.keep_cases(session, LOCAL, flow_id, [TestCase(name="greets")], revision=read["revision"])

    async def test_is_told_to_the_audit_log_when_it_changes_and_only_then(
        self, client: httpx2.AsyncClient, flow_id: str, database: Database
    ) -> None:
        await put(client, flow_id, GREETS)
        await put(client, flow_id, GREETS)
        async with database.reading() as session:
            query = select(AuditEvent).where(AuditEvent.action == "flow.tests_changed")
            found = (await session.execute(query)).scalars().all()
        assert [json.loads(one.payload)["tests"] for one in found] == [["greets"]]

    def test_has_the_same_checksum_in_any_order(self) -> None:
        first, second = TestCase(name="a", text="x"), TestCase(name="b", expect=Expectation(contains=["y"]))
        assert service.checksum_of([first, second]) == service.checksum_of([second, first])
        assert service.checksum_of([first]) != service.checksum_of([first.model_copy(update={"text": "z"})])


class TestRun:
    async def test_is_one_real_run_for_each_trial_in_a_chat_of_its_own(
        self, client: httpx2.AsyncClient, flow_id: str
    ) -> None:
        await put(client, flow_id, GREETS, PARTS)
        found = await run(client, flow_id, trials=2)
        assert (found["status"], found["of"], found["done"], found["failures"]) == ("passed", 4, 4, 0)
        lines = [(line["name"], line["trial"], line["answer"]) for line in found["lines"]]
        assert lines == [
            ("greets", 1, "hello there"),
            ("greets", 2, "hello there"),
            ("parts", 1, "goodbye"),
            ("parts", 2, "goodbye"),
        ]
        runs = [(await client.get(f"flow-runs/{line['run_id']}")).json() for line in found["lines"]]
        assert {one["status"] for one in runs} == {"completed"}
        assert {one["version"] for one in runs} == {found["version"]}
        assert len({one["session_id"] for one in runs}) == 4
        assert (await client.get(f"flow-runs/{runs[0]['id']}/evidence")).status_code == 200
        listed = (await client.get(f"flows/{flow_id}/tests/results")).json()["items"]
        assert [(one["id"], one["done"]) for one in listed] == [(found["id"], 4)]

    async def test_says_what_did_not_hold(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        await put(client, flow_id, GREETS, WRONG)
        found = await run(client, flow_id)
        assert (found["status"], found["failures"]) == ("failed", 1)
        wrong = next(line for line in found["lines"] if line["name"] == "wrong")
        assert (wrong["passed"], wrong["misses"]) == (False, ["does not contain 'hello'"])
        tests = (await client.get(f"flows/{flow_id}/tests")).json()
        assert (tests["standing"]["state"], tests["standing"]["failed"]) == ("failed", ["wrong"])

    async def test_that_cannot_be_started_or_fails_is_a_trial_that_failed(self, client: httpx2.AsyncClient) -> None:
        broken = STEP.replace("{line}", "return 1 / 0")
        flow_id = await make(client, broken)
        await put(client, flow_id, GREETS, {"name": "form", "form": {"nothing": "such"}})
        found = await run(client, flow_id)
        errors = [line["error"] for line in found["lines"]]
        assert found["status"] == "failed"
        assert "The run failed" in errors[0]
        assert "nothing" in errors[1]
        assert found["lines"][1]["run_id"] == ""

    async def test_checks_all_of_an_answer_that_is_kept_as_a_file(self, settings: Settings) -> None:
        small = LimitSettings(max_inline_text_bytes=256, max_inline_json_bytes=256, max_inline_preview_bytes=64)
        async with running(settings.model_copy(update={"limits": small})) as app, asking(app) as client:
            client.base_url = client.base_url.join("/api/v1/")
            flow_id = await make(client, STEP.replace("{line}", "return 'a' * 1000 + ' the end'"))
            end = {"name": "end", "expect": {"contains": ["the end"]}}
            await put(client, flow_id, end, {"name": "no end", "expect": {"excludes": ["the end"]}})
            found = await run(client, flow_id)
            assert {line["name"]: line["passed"] for line in found["lines"]} == {"end": True, "no end": False}

    async def test_ends_when_whoever_began_it_may_not_run_it_any_more(
        self, app: FastAPI, client: httpx2.AsyncClient, flow_id: str
    ) -> None:
        await put(client, flow_id, *({**GREETS, "name": str(one)} for one in range(9)))
        tests: TestRuns = app.state.tests
        asked = 0

        async def again() -> Principal:
            nonlocal asked
            asked += 1
            if asked > 4:
                raise Unauthenticated("The session has ended.", remedy="Sign in.")
            return LOCAL

        result_id = await tests.begin(LOCAL, flow_id, again=again)
        await tests.wait(result_id)
        found = (await client.get(f"flows/{flow_id}/tests/results/{result_id}")).json()
        assert (found["status"], found["failures"]) == ("cancelled", 0)
        assert found["done"] <= 4
        assert "The session has ended." in found["reason"]

    async def test_keeps_its_outcome_when_the_database_is_briefly_away(
        self, client: httpx2.AsyncClient, flow_id: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await put(client, flow_id, GREETS)
        finish, refusals = Queue.finish, [Unavailable("The database is away.", remedy="Wait.")] * 2

        async def refuse(queue: Queue, *given: Any, **values: Any) -> bool:
            if queue is repository.QUEUE and refusals:
                raise refusals.pop()
            return await finish(queue, *given, **values)

        monkeypatch.setattr(Queue, "finish", refuse)
        found = await run(client, flow_id)
        assert (found["status"], refusals) == ("passed", [])

    async def test_that_is_stopped_while_a_run_begins_ends_that_run(
        self, app: FastAPI, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flow_id = await make(client, SLOW)
        await put(client, flow_id, GREETS)
        tests, begins, started = app.state.tests, asyncio.Event(), runs.start_run

        async def slowly(*given: Any, **more: Any) -> RunKey:
            key = await started(*given, **more)
            begins.set()
            await asyncio.sleep(0.2)
            return key

        monkeypatch.setattr(runs, "start_run", slowly)
        result_id = await tests.begin(LOCAL, flow_id)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await begins.wait()
        await tests.cancel(LOCAL, flow_id, result_id)
        (one,) = (await client.get("flow-runs", params={"flow_id": flow_id})).json()["items"]
        assert one["status"] == "cancelled"

    async def test_needs_a_test(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        answer = await client.post(f"flows/{flow_id}/tests/run", json={})
        assert (answer.status_code, answer.json()["code"]) == (422, "no_tests")
        assert (await client.get(f"flows/{flow_id}/versions")).json()["items"] == []

    async def test_is_one_at_a_time_and_ends_its_runs_when_it_is_cancelled(self, client: httpx2.AsyncClient) -> None:
        flow_id = await make(client, SLOW)
        await put(client, flow_id, *({**GREETS, "name": str(one)} for one in range(5)))
        begun = await client.post(f"flows/{flow_id}/tests/run", json={})
        assert (begun.status_code, begun.json()["status"]) == (202, "running")
        result_id = begun.json()["id"]
        assert (await client.get(f"flows/{flow_id}/tests")).json()["running"] == result_id
        again = await client.post(f"flows/{flow_id}/tests/run", json={})
        assert (again.status_code, again.json()["code"], again.json()["result_id"]) == (409, "tests_running", result_id)
        for _ in range(100):
            live = (await client.get("flow-runs", params={"flow_id": flow_id})).json()["items"]
            if live:
                break
            await asyncio.sleep(0.05)
        ended = (await client.post(f"flows/{flow_id}/tests/results/{result_id}/cancel")).json()
        assert (ended["status"], ended["lines"]) == ("cancelled", [])
        assert ended["reason"].startswith("Cancelled by")
        live = (await client.get("flow-runs", params={"flow_id": flow_id})).json()["items"]
        assert 1 <= len(live) <= 3
        assert {one["status"] for one in live} == {"cancelled"}
        assert (await client.get(f"flows/{flow_id}/tests")).json()["running"] is None

    async def test_that_its_server_left_is_ended_by_another(
        self, app: FastAPI, client: httpx2.AsyncClient, flow_id: str, database: Database, settings: Settings
    ) -> None:
        await put(client, flow_id, GREETS)
        found = await run(client, flow_id)
        hour = 3600 * MICROSECONDS
        left = {"status": "running", "finished_at": None, "worker_id": "elsewhere", "lease_until": clock() + hour}
        await _set(database, found["id"], left)
        tests: TestRuns = app.state.tests
        async with open_jobs(database, settings.data_dir, scans=True) as jobs:
            TestRuns(database, tests._engine, jobs, tests._judge)
            assert await jobs.recover() == 0
            assert (await client.get(f"flows/{flow_id}/tests")).json()["running"] == found["id"]
            await _set(database, found["id"], {"lease_until": clock() - hour})
            async with asyncio.timeout(PATIENCE_SECONDS):
                while (await client.get(f"flows/{flow_id}/tests")).json()["running"]:  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.01)
        swept = (await client.get(f"flows/{flow_id}/tests/results/{found['id']}")).json()
        assert (swept["status"], len(swept["lines"])) == ("cancelled", 1)
        assert "ended before they were finished" in swept["reason"]
        assert (await client.get(f"flows/{flow_id}/tests")).json()["standing"]["state"] == "never"

    async def test_of_a_dead_process_does_not_keep_others_from_running_them(
        self, client: httpx2.AsyncClient, flow_id: str, database: Database
    ) -> None:
        await put(client, flow_id, GREETS)
        found = await run(client, flow_id)
        left = {"status": "running", "worker_id": "elsewhere", "lease_until": clock() - MICROSECONDS}
        await _set(database, found["id"], left)
        assert (await run(client, flow_id))["status"] == "passed"
        assert (await client.get(f"flows/{flow_id}/tests/results/{found['id']}")).json()["status"] == "cancelled"

    async def test_is_not_there_for_who_makes_up_its_id(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        for made_up in (new_id(), "x", "%00"):
            answer = await client.get(f"flows/{flow_id}/tests/results/{made_up}")
            assert answer.status_code == 404, made_up


class TestGate:
    async def test_is_open_where_the_flow_does_not_ask(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        await put(client, flow_id, WRONG)
        assert (await publish(client, flow_id))[0] == 200

    async def test_says_what_is_missing_and_opens_when_the_tests_pass(
        self, client: httpx2.AsyncClient, flow_id: str
    ) -> None:
        await change(client, flow_id, require_tests=True)
        status, refusal = await publish(client, flow_id)
        assert (status, refusal["code"], refusal["state"]) == (409, "tests_required", "empty")
        await put(client, flow_id, GREETS, WRONG)
        assert (await publish(client, flow_id))[1]["state"] == "never"
        await run(client, flow_id)
        status, refusal = await publish(client, flow_id)
        assert (status, refusal["state"], refusal["failed"]) == (409, "failed", ["wrong"])
        assert "'wrong'" in refusal["detail"]
        assert "headgate tests run" in refusal["remedy"]
        assert (await client.get(f"flows/{flow_id}")).json()["published_version"] is None
        await put(client, flow_id, GREETS, PARTS)
        assert (await publish(client, flow_id))[1]["state"] == "never"
        await run(client, flow_id)
        assert (await client.get(f"flows/{flow_id}/tests")).json()["standing"]["state"] == "passed"
        assert (await publish(client, flow_id))[0] == 200
        assert (await publish(client, flow_id))[0] == 200, "what is published already needs nothing"

    async def test_wants_as_many_trials_as_the_flow_requires(self, client: httpx2.AsyncClient, flow_id: str) -> None:
        await put(client, flow_id, GREETS)
        await change(client, flow_id, require_tests=True, required_trials=3)
        await run(client, flow_id, trials=2)
        status, refusal = await publish(client, flow_id)
        assert (status, refusal["state"]) == (409, "never")
        assert "3 trials" in refusal["detail"]
        assert (await run(client, flow_id))["trials"] == 3
        assert (await publish(client, flow_id))[0] == 200

    async def test_counts_what_passed_before_it_was_required_but_nothing_of_other_content(
        self, client: httpx2.AsyncClient, flow_id: str
    ) -> None:
        await put(client, flow_id, GREETS)
        await run(client, flow_id)
        await change(client, flow_id, require_tests=True, icon="globe")
        assert (await client.get(f"flows/{flow_id}/tests")).json()["standing"]["state"] == "passed"
        await change(client, flow_id, data_retention_days=9)
        assert (await publish(client, flow_id))[1]["state"] == "never"

    async def test_goes_by_the_newest_result(
        self, client: httpx2.AsyncClient, flow_id: str, database: Database
    ) -> None:
        await put(client, flow_id, GREETS)
        await change(client, flow_id, require_tests=True)
        await run(client, flow_id)
        second = await run(client, flow_id)
        await _set(database, second["id"], {"status": "failed"})
        assert (await publish(client, flow_id))[1]["state"] == "failed"
        await run(client, flow_id)
        assert (await publish(client, flow_id))[0] == 200


async def _set(database: Database, result_id: str, values: dict[str, Any]) -> None:
    async with database.writing() as session:
        await session.execute(update(TestResultRow).where(TestResultRow.id == result_id).values(**values))
