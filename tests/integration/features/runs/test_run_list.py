"""The list of runs with trigger, cost, owner and tags; its filters; exports with the rights of the caller."""

import csv
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import event

from headgate.features.access.principal import LOCAL
from headgate.features.runs import run_export
from headgate.features.runs.run_filter import EVERY_RUN, run_filter_of
from headgate.features.runs.service import page_of_runs
from headgate.foundation.errors import Invalid
from headgate.foundation.settings import Settings
from tests.support.rows import execute
from tests.support.team import FLOW, Team, team

pytestmark = pytest.mark.both_databases


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def flow_of(house: Team, name: str = "Talk", *tags: str) -> str:
    flow_id: str = (await house.make("publisher", "/flows", spec=FLOW.replace("Talk", name)))["id"]
    await house.make("publisher", f"/flows/{flow_id}/publish")
    if tags:
        await house.make("publisher", "/flow-collections", action="tag", flow_ids=[flow_id], tags=list(tags))
    return flow_id


async def run(house: Team, flow_id: str, text: str = "hello", who: str = "runner") -> str:
    run_id: str = (await house.make(who, f"/flows/{flow_id}/runs", text=text, wait=True, version="published"))["id"]
    return run_id


async def listed(house: Team, who: str = "viewer", **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await house.get(who, "/flow-runs", params=asked))["items"]
    return found


async def exported(house: Team, who: str = "viewer", **asked: Any) -> str:
    answer = await house.ask(who, "GET", "/flow-runs/export", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.text


class TestDetails:
    async def test_are_release_owner_tags_trigger_and_cost(self, house: Team) -> None:
        run_id = await run(house, await flow_of(house, "Talk", "billing", "a"))
        model = json.dumps({"provider": "openai", "name": "gpt-4o-mini"})
        called = (
            "UPDATE flow_step_results SET model_parameters = {}, num_tokens_input = 1000000, num_tokens_output = 0"
            " WHERE flow_run_id = :id AND step_id = 'said'"
        )
        cast = "CAST(:model AS JSONB)" if house.database.dialect == "postgresql" else ":model"
        await execute(house.database, called.format(cast), id=run_id, model=model)
        stored = "CAST(:input AS JSONB)" if house.database.dialect == "postgresql" else ":input"
        trigger = {"id": "t", "name": "Nightly", "kind": "schedule", "occurrence_id": "o"}
        text = json.dumps({"text": "hello", "trigger": trigger})
        await execute(
            house.database, f"UPDATE flow_runs SET input_payload = {stored} WHERE id = :id", id=run_id, input=text
        )
        assert [item["details"] for item in await listed(house)] == [None]
        [item] = await listed(house, details=True)
        details = item["details"]
        assert (details["flow"], details["release"], details["tags"]) == ("Talk", 1, ["a", "billing"])
        assert details["owner_id"] == house.people["publisher"].id
        assert details["trigger"]["name"] == "Nightly"
        assert details["cost_usd"] > 0
        assert details["unpriced"] == 0

    async def test_say_what_a_run_waits_for(self, house: Team) -> None:
        flow_id = await flow_of(house)
        await run(house, flow_id)
        start = {"text": "x", "wait": True, "stop_before": ["said"]}
        stopped = (await house.ask("editor", "POST", f"/flows/{flow_id}/runs", json=start)).json()
        waits = {item["id"]: item["details"]["waits_for"] for item in await listed(house, details=True)}
        assert waits.pop(stopped["id"]) == ["breakpoint"]
        assert list(waits.values()) == [[]]

    async def test_cost_the_same_queries_for_one_run_and_for_many(self, house: Team) -> None:
        flow_id = await flow_of(house)
        await run(house, flow_id)
        few = await _queries(house)
        for _ in range(5):
            await run(house, flow_id)
        assert await _queries(house) == few


class TestFilters:
    async def test_are_version_starter_owner_and_tag(self, house: Team) -> None:
        first = await run(house, await flow_of(house, "Talk", "billing"))
        second = await run(house, await flow_of(house, "Other"), who="editor")
        people = house.people

        async def ids(**asked: Any) -> set[str]:
            return {item["id"] for item in await listed(house, **asked)}

        assert await ids() == {first, second}
        assert await ids(tag="Billing") == {first}
        assert await ids(user_id=people["editor"].id) == {second}
        assert await ids(owner_id=people["publisher"].id) == {first, second}
        assert await ids(owner_id=people["editor"].id) == set()
        assert await ids(version=1) == {first, second}
        assert await ids(version=2) == set()

    def test_of_saved_views_are_the_query_parameters(self) -> None:
        assert run_filter_of({}) == EVERY_RUN
        kept = run_filter_of({"status": "failed", "version": "3", "within_hours": "24"})
        assert (kept.status, kept.version) == ("failed", 3)
        assert kept.since is not None
        for wrong in ({"state": "failed"}, {"status": "bad"}, {"within_hours": "nan"}):
            with pytest.raises(Invalid):
                run_filter_of(wrong)


class TestExport:
    async def test_has_every_run_of_the_filter_in_chosen_columns(
        self, house: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(run_export, "PAGE", 2)
        flow_id = await flow_of(house, "Talk", "a", "b")
        run_ids = [await run(house, flow_id, f"text {number}") for number in range(5)]
        rows = list(csv.DictReader(io.StringIO(await exported(house))))
        assert [row["id"] for row in rows] == run_ids[::-1]
        assert (rows[0]["flow"], rows[0]["tags"], rows[0]["release"]) == ("Talk", "a, b", "1")
        assert list(rows[0]) == list(run_export.COLUMNS)
        lines = (await exported(house, format="jsonl", column=["id", "text", "tags"], search="text 3")).splitlines()
        assert [json.loads(line) for line in lines] == [{"id": run_ids[3], "text": "text 3", "tags": ["a", "b"]}]

    async def test_is_safe_in_a_spreadsheet(self, house: Team) -> None:
        await run(house, await flow_of(house), "=1+1")
        assert "'=1+1" in await exported(house, column=["text"])

    async def test_has_only_what_the_caller_may_view(self, house: Team) -> None:
        await run(house, await flow_of(house))
        counts = {who: len((await exported(house, who)).splitlines()) - 1 for who in ("viewer", "admin", "stranger")}
        assert counts == {"viewer": 1, "admin": 1, "stranger": 0}

    async def test_refuses_unknown_columns_and_filters(self, house: Team) -> None:
        for asked in ({"column": "secret"}, {"format": "xlsx"}, {"status": "x"}):
            assert (await house.ask("viewer", "GET", "/flow-runs/export", params=asked)).status_code == 422

    async def test_ends_when_the_caller_loses_the_rights(self, house: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(run_export, "PAGE", 1)
        flow_id = await flow_of(house)
        for _ in range(3):
            await run(house, flow_id)
        asked = 0

        async def again() -> Any:
            nonlocal asked
            asked += 1
            if asked == 3:
                raise Invalid("No session.", remedy="Sign in.")
            return LOCAL

        lines = run_export.export_runs(house.database, again, EVERY_RUN, form="csv", columns=("id",))
        for _ in range(3):  # the header and two pages
            assert await anext(lines)
        with pytest.raises(Invalid):
            await anext(lines)


async def _queries(house: Team) -> int:
    statements: list[str] = []
    async with house.database.reading() as session:
        connection = (await session.connection()).sync_connection
        event.listen(connection, "before_cursor_execute", lambda *told: statements.append(told[2]))
        await page_of_runs(session, LOCAL, EVERY_RUN, details=True)
    return len(statements)
