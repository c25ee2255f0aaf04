"""Groups by error, filters, actions on groups, assignment, saved views, and the cost of the list with many rows."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import event, insert, select

from headgate.features.access.principal import Principal
from headgate.features.accounts.standing import access_of
from headgate.features.accounts.tables import User
from headgate.features.attention.fingerprints import fingerprint, normalised
from headgate.features.attention.service import list_attention
from headgate.features.jobs.leases import clock
from headgate.features.runs.tables import flow_runs, flow_step_results
from headgate.foundation.ids import lowest_id, new_id
from tests.integration.features.attention.conftest import BROKEN, act, flow_of, items, results, run
from tests.support.rows import execute, run_row
from tests.support.team import FLOW, Team

MINUTE = 60_000_000
OTHER = BROKEN.replace("name: Import", "name: Other")


class TestFingerprints:
    def test_ignore_ids_numbers_addresses_case_and_spaces(self) -> None:
        first = "Order 17 of eva@example.org failed  after 3.5 s: 01900000-0000-7000-8000-000000000001"
        second = "order 9 of bo@example.org failed after 12 s: 01900000-0000-7000-8000-00000000000f"
        assert normalised(first) == normalised(second) == "order * of * failed after * s: *"
        assert fingerprint("timeout", "call", first) == fingerprint("timeout", "call", second)

    def test_ignore_quoted_values_and_the_start_of_a_text(self) -> None:
        assert normalised("It isn't there: 'a b' is \"x\", “y”. It's gone.") == "it isn't there: * is *, *. it's gone."
        assert normalised("The text is not JSON. It begins: any\ncontent. Check it.") == (
            "the text is not json. it begins: *"
        )

    @pytest.mark.parametrize("other", [("x", "call", "Failed"), ("timeout", "x", "Failed"), ("timeout", "call", "x")])
    def test_tell_code_step_and_message_apart(self, other: tuple[str, str, str]) -> None:
        assert fingerprint("timeout", "call", "Failed") != fingerprint(*other)

    def test_ids_of_a_time_are_above_its_bound(self) -> None:
        at = clock() // 1000
        assert lowest_id(at - 1) < new_id() < lowest_id(at + 60_000)
        assert lowest_id(-5) == "00000000-0000-0000-0000-000000000000"


class TestGroups:
    async def test_are_of_one_error_of_one_step_although_numbers_differ(self, house: Team) -> None:
        flow_id = await flow_of(house)
        for text in ("no JSON", "[1, 2, x]", "[1, 2, 3, 4, x]"):
            await run(house, flow_id, text)
        found = await items(house)
        assert [(item["step_id"], item["count"]) for item in found] == [("parse", 2), ("parse", 1)]
        await execute(
            house.database, "UPDATE flow_runs SET error_message = 'Row ' || substr(id, 1, 8) || ' is no JSON'"
        )
        assert [item["count"] for item in await items(house)] == [3]

    async def test_name_the_first_version_that_failed_so(self, house: Team) -> None:
        flow_id = await flow_of(house)
        await run(house, flow_id, '{"a": 1}')
        await _publish(house, flow_id, lambda definition: definition | {"description": "Changed."})
        await run(house, flow_id)
        assert [item["since_release"] for item in await items(house)] == [2]


class TestFilters:
    async def test_narrow_by_kind_flow_owner_assignee_and_age(self, house: Team) -> None:
        flow_id, other = await flow_of(house), await flow_of(house, OTHER)
        run_id = await run(house, flow_id)
        await run(house, other, "{")
        assert len(await items(house)) == 2
        body = {"name": "Nightly", "config": {"kind": "schedule", "cron": "0 7 * * *"}}
        trigger = await house.make("publisher", f"/flows/{other}/triggers", **body)
        await house.make("publisher", f"/triggers/{trigger['id']}/pause", reason="It moves.")
        publisher, editor = house.people["publisher"].id, house.people["editor"].id

        async def kinds(**asked: Any) -> list[str]:
            return sorted(item["kind"] for item in await items(house, **asked))

        assert await kinds(kind="trigger") == ["trigger"]
        assert await kinds(kind=["trigger", "failed_runs"]) == ["failed_runs", "failed_runs", "trigger"]
        assert await kinds(flow_id=other) == ["failed_runs", "trigger"]
        assert await kinds(flow_id=flow_id) == ["failed_runs"]
        assert len(await kinds(owner_id=publisher)) == 3
        assert await kinds(owner_id=editor) == []
        assert await kinds(assigned_to=editor) == []
        assert len(await kinds(assigned_to="nobody")) == 3
        assert len(await kinds(within_hours=1)) == 3
        assert await kinds(older_hours=1) == []
        await execute(
            house.database,
            "UPDATE flow_runs SET created_at = created_at - :age WHERE id = :id",
            age=120 * MINUTE,
            id=run_id,
        )
        assert await kinds(older_hours=1) == ["failed_runs"]
        assert len(await kinds(within_hours=1)) == 2

    @pytest.mark.parametrize("asked", [{"kind": "x"}, {"within_hours": -1}, {"older_hours": "nan"}])
    async def test_are_refused_when_they_make_no_sense(self, house: Team, asked: dict[str, Any]) -> None:
        assert (await house.ask("viewer", "GET", "/attention", params=asked)).status_code == 422


class TestOtherKinds:
    async def test_runs_whose_worker_is_dead_can_be_cancelled(self, house: Team) -> None:
        run_id = await run(house, await flow_of(house, FLOW))
        at = clock()
        await execute(
            house.database, "UPDATE flow_runs SET status = 'running', finished_at = NULL WHERE id = :id", id=run_id
        )
        lost = (
            "UPDATE flow_step_results SET status = 'running', worker_id = 'gone', lease_until = :at"
            " WHERE flow_run_id = :id"
        )
        await execute(house.database, lost, at=at - MINUTE, id=run_id)
        assert await items(house, kind="stuck_runs") == []
        await execute(house.database, lost, at=at - 6 * MINUTE, id=run_id)
        [item] = await items(house, kind="stuck_runs")
        assert (item["count"], item["run_id"]) == (1, run_id)
        assert await act(house, "cancel", item["key"]) == [(True, None)]
        assert (await run_row(house.database, run_id)).status == "cancelled"

    async def test_budgets_that_are_exhausted(self, house: Team) -> None:
        flow_id = await flow_of(house, FLOW + "settings:\n  daily_budget:\n    tokens: 1000\n")
        await run(house, flow_id, "hello")
        account = (
            "INSERT INTO budget_accounts (subject, kind, tenant_id, flow_id, used, changed_at)"
            " SELECT 'flow:' || id || :day, 'tokens', tenant_id, id, :used, 0 FROM flows WHERE id = :id"
        )
        await execute(house.database, account, day=f":{datetime.now(UTC):%Y-%m-%d}", used=940, id=flow_id)
        assert await items(house) == []
        await execute(house.database, "UPDATE budget_accounts SET used = 960 WHERE kind = 'tokens'")
        [item] = await items(house)
        assert (item["kind"], item["code"], item["message"], item["flow_id"]) == ("budget", "tokens", "96 %", flow_id)


class TestActions:
    async def test_resume_every_run_of_a_group_with_the_fixed_version(self, house: Team) -> None:
        flow_id = await flow_of(house)
        failed = [await run(house, flow_id, f"text {number}") for number in range(3)]
        [item] = await items(house)
        same = await results(house, "resume", item["key"])
        assert [(one["id"], one["done"], one["new_run_id"]) for one in same["items"]] == [
            (run_id, True, None) for run_id in reversed(failed)
        ]
        for run_id in failed:
            await house.ask("viewer", "GET", f"/flow-runs/{run_id}/events")  # until it is over
        await _publish(house, flow_id, _without_parsing)
        fixed = await results(house, "resume", item["key"], published=True)
        new = [one["new_run_id"] for one in fixed["items"]]
        assert len({*new} - {None}) == 3
        for run_id in new:
            await house.ask("viewer", "GET", f"/flow-runs/{run_id}/events")
            assert (await run_row(house.database, run_id)).status == "completed"

    async def test_rerun_a_group_and_say_what_was_refused_of_each(self, house: Team) -> None:
        flow_id = await flow_of(house)
        run_id = await run(house, flow_id)
        [item] = await items(house)
        answer = await results(house, "rerun", item["key"], "failed_runs:x:y", "trigger:x", "queued_runs:x")
        [done, *refused] = answer["items"]
        assert (done["key"], done["id"], done["done"], answer["left"]) == (item["key"], run_id, True, 0)
        assert (await run_row(house.database, done["new_run_id"])).source_run_id == run_id
        codes = [one["problem"]["code"] for one in refused]
        assert codes == ["attention_item_not_found", "attention_action_invalid", "attention_action_invalid"]
        await house.ask("viewer", "GET", f"/flow-runs/{done['new_run_id']}/events")
        [again] = await items(house)
        assert (again["key"], again["count"], again["run_id"]) == (item["key"], 1, done["new_run_id"])
        assert await act(house, "rerun", item["key"], who="viewer") == [(False, "permission_missing")]
        assert await act(house, "rerun", item["key"], who="stranger") == [(False, "attention_item_not_found")]

    async def test_change_at_most_200_runs_and_say_how_many_are_left(self, house: Team) -> None:
        flow_id = await flow_of(house, FLOW)
        await _copies(house, await run(house, flow_id), 205, status="queued", age=20 * MINUTE)
        [item] = await items(house, kind="queued_runs")
        assert item["count"] == 205
        answer = await results(house, "cancel", item["key"])
        assert (len(answer["items"]), answer["left"]) == (200, 5)
        assert all(one["done"] for one in answer["items"])
        [rest] = await items(house, kind="queued_runs")
        assert rest["count"] == 5

    async def test_resume_paused_triggers_of_a_selection(self, house: Team) -> None:
        flow_id = await flow_of(house, FLOW)
        for name in ("One", "Two"):
            body = {"name": name, "config": {"kind": "schedule", "cron": "0 7 * * *"}}
            trigger = await house.make("publisher", f"/flows/{flow_id}/triggers", **body)
            await house.make("publisher", f"/triggers/{trigger['id']}/pause", reason="It moves.")
        keys = [item["key"] for item in await items(house)]
        assert await act(house, "resume", *keys) == [(False, "permission_missing")] * 2
        assert await act(house, "resume", *keys, who="publisher") == [(True, None)] * 2
        assert await items(house) == []


class TestAssignment:
    async def test_is_seen_by_everyone_and_can_be_taken_back(self, house: Team) -> None:
        await run(house, await flow_of(house))
        [item] = await items(house)
        editor = house.people["editor"]
        assert await act(house, "assign", item["key"], user_id=editor.id) == [(True, None)]
        [assigned] = await items(house, "owner", assigned_to=editor.id)
        assert assigned["assignee_id"] == editor.id
        assert assigned["assignee"]
        events = (await house.get("admin", "/audit", params={"action": "attention.assigned"}))["items"]
        assert [entry["resource"]["id"] for entry in events] == [item["key"]]
        assert await act(house, "assign", item["key"]) == [(True, None)]
        assert [entry["assignee_id"] for entry in await items(house)] == [None]

    async def test_is_refused_for_viewers_and_to_users_who_do_not_see_the_item(self, house: Team) -> None:
        await run(house, await flow_of(house))
        [item] = await items(house)
        stranger = house.people["stranger"].id
        assert await act(house, "assign", item["key"], user_id=stranger) == [(False, "assignee_invalid")]
        assert await act(house, "assign", item["key"], user_id=new_id()) == [(False, "assignee_invalid")]
        own = {"user_id": house.people["viewer"].id}
        assert await act(house, "assign", item["key"], who="viewer", **own) == [(False, "permission_missing")]
        assert await act(house, "assign", item["key"], who="stranger") == [(False, "attention_item_not_found")]


class TestSavedViews:
    async def test_are_of_one_user_replaced_by_name_and_deleted(self, house: Team) -> None:
        settings = {"filters": {"kind": ["failed_runs", "trigger"], "assigned_to": "nobody"}, "columns": []}
        body = {"place": "attention", "name": " Mine ", "settings": settings}
        view = (await house.ask("viewer", "PUT", "/saved-views", json=body)).json()
        assert (view["name"], view["settings"]) == ("Mine", settings)
        again = {**body, "settings": {"filters": {}, "columns": ["cost"]}}
        assert (await house.ask("viewer", "PUT", "/saved-views", json=again)).json()["id"] == view["id"]
        listed = await house.get("viewer", "/saved-views", params={"place": "attention"})
        assert [(one["name"], one["settings"]["columns"]) for one in listed["items"]] == [("Mine", ["cost"])]
        assert (await house.get("viewer", "/saved-views", params={"place": "runs"}))["items"] == []
        assert (await house.get("owner", "/saved-views", params={"place": "attention"}))["items"] == []
        assert (await house.ask("owner", "DELETE", f"/saved-views/{view['id']}")).status_code == 404
        assert (await house.ask("viewer", "DELETE", f"/saved-views/{view['id']}")).status_code == 204
        assert (await house.get("viewer", "/saved-views", params={"place": "attention"}))["items"] == []

    @pytest.mark.parametrize("name", ["a\x00b", "a\u200bb", "  ", "invoice\u202egpj.exe"])
    async def test_have_names_that_can_be_seen(self, house: Team, name: str) -> None:
        body = {"place": "runs", "name": name, "settings": {}}
        assert (await house.ask("viewer", "PUT", "/saved-views", json=body)).status_code == 422
        body = {"place": "runs", "name": "", "settings": {"filters": {"q": "a\x00b"}}}
        assert (await house.ask("viewer", "PUT", "/saved-views", json=body)).status_code == 422

    async def test_are_at_most_fifty(self, house: Team) -> None:
        for number in range(50):
            body = {"place": "runs", "name": str(number), "settings": {}}
            assert (await house.ask("viewer", "PUT", "/saved-views", json=body)).status_code == 200
        refused = await house.ask("viewer", "PUT", "/saved-views", json={**body, "name": "x"})
        assert (refused.status_code, refused.json()["code"]) == (409, "too_many_saved_views")
        assert (await house.ask("viewer", "PUT", "/saved-views", json=body)).status_code == 200


class TestCost:
    async def test_is_the_same_number_of_queries_for_one_failure_and_for_thousands(self, house: Team) -> None:
        flow_id = await flow_of(house)
        run_id = await run(house, flow_id)
        few = await _queries(house)
        await _copies(house, run_id, 6_000, status="failed", messages=True)
        many = await _queries(house)
        assert many == few
        attention = await house.get("viewer", "/attention")
        assert attention["more"] == ["failed_runs"]
        assert len(attention["items"]) == 50
        assert all(item["counts_more"] for item in attention["items"])
        statements: list[str] = []
        event.listen(
            house.database.engine.sync_engine, "before_cursor_execute", lambda *told: statements.append(told[2])
        )
        body = {"action": "dismiss", "keys": [item["key"] for item in attention["items"]]}
        answer = await house.ask("viewer", "POST", "/attention/actions", json=body)
        assert {result["done"] for result in answer.json()["items"]} == {True}
        assert len(statements) < 5 * many + len(body["keys"]), "the list is read once for all of them"


async def _publish(house: Team, flow_id: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Publish another version of a flow."""
    flow = await house.get("publisher", f"/flows/{flow_id}")
    body = {"revision": flow["revision"], "definition": change(flow["definition"])}
    saved = await house.ask("publisher", "PATCH", f"/flows/{flow_id}/draft", json=body)
    assert saved.status_code == 200, saved.text
    await house.make("publisher", f"/flows/{flow_id}/publish")


def _without_parsing(definition: dict[str, Any]) -> dict[str, Any]:
    nodes = [node for node in definition["nodes"] if node["id"] in {"heard", "said"}]
    edge = {"source": "heard", "output": "text", "target": "said", "input": "input"}
    return definition | {"nodes": nodes, "edges": [edge]}


async def _queries(house: Team) -> int:
    """How many statements one reading of the list executes."""
    statements: list[str] = []
    async with house.database.reading() as session:
        user = await session.get_one(User, house.people["viewer"].id)
        principal = Principal(user.tenant_id, user.id, house.space, await access_of(session, user))
        connection = (await session.connection()).sync_connection
        event.listen(connection, "before_cursor_execute", lambda *told: statements.append(told[2]))
        await list_attention(session, principal)
    return len(statements)


async def _copies(house: Team, run_id: str, count: int, *, status: str, age: int = 0, messages: bool = False) -> None:
    """Copy a run with its steps; with `messages` every one has another error of ten letters' difference."""
    async with house.database.writing() as session:
        row = dict((await session.execute(select(flow_runs).where(flow_runs.c.id == run_id))).one()._mapping)
        steps = [
            dict(step._mapping)
            for step in await session.execute(
                select(flow_step_results).where(flow_step_results.c.flow_run_id == run_id)
            )
        ]
        row |= {"status": status, "created_at": row["created_at"] - age}
        if status == "queued":
            row |= {"finished_at": None, "started_at": None, "paused_at": 1}
        runs = [
            row | {"id": new_id()} | ({"error_message": "No " + _word(number)} if messages else {})
            for number in range(count)
        ]
        await session.execute(insert(flow_runs), runs)
        if messages:
            copied = [step | {"flow_run_id": one["id"]} for one in runs for step in steps]
            await session.execute(insert(flow_step_results), copied)
        else:
            await session.execute(flow_runs.delete().where(flow_runs.c.id == run_id))


def _word(number: int) -> str:
    return "".join("klmnopqrst"[int(digit)] for digit in str(number))
