"""The state of a flow over the API: who reads and changes it, and what a deletion leaves."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from headgate.foundation.settings import Settings
from tests.support.team import Team, team

SPEC = """name: Counter
nodes:
  count: WriteState
    name: count
    operation: increment
    value: 1
  out: ChatOutput
edges:
  count.value -> out.input
"""


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as people:
        yield people


@pytest.fixture
async def flow(us: Team) -> dict[str, Any]:
    made: dict[str, Any] = await us.make("publisher", "/flows", spec=SPEC)
    await us.make("publisher", f"/flows/{made['id']}/publish")
    return made


class TestState:
    async def test_is_written_by_runs_and_read_with_its_history(self, us: Team, flow: dict[str, Any]) -> None:
        path = f"/flows/{flow['id']}"
        runs = [await us.make("runner", f"{path}/runs", text="hi", wait=True, version="published") for _ in range(2)]
        items = (await us.get("viewer", f"{path}/state"))["items"]
        assert [(item["name"], item["version"]) for item in items] == [("count", 2)]
        state = await us.get("viewer", f"{path}/state/count")
        assert state["value"] == 2
        assert [(one["value"], one["run_id"], one["step_id"]) for one in state["history"]] == [
            (2, runs[1]["id"], "count"),
            (1, runs[0]["id"], "count"),
        ]
        assert (await us.get("viewer", f"{path}/state", params={"draft": True}))["items"] == []

    async def test_is_set_by_hand_with_compare_and_swap_and_recorded(self, us: Team, flow: dict[str, Any]) -> None:
        path = f"/flows/{flow['id']}/state/cursor"
        body = {"value": {"page": 3}, "expected_version": 0}
        assert (await us.ask("publisher", "PUT", path, json=body)).json()["version"] == 1
        refused = await us.ask("publisher", "PUT", path, json=body)
        assert (refused.status_code, refused.json()["code"], refused.json()["version"]) == (409, "state_changed", 1)
        assert (await us.get("viewer", path))["value"] == {"page": 3}
        assert (await us.ask("publisher", "DELETE", path)).status_code == 204
        assert (await us.ask("viewer", "GET", path)).json()["code"] == "state_not_found"
        async with us.database.reading() as session:
            actions = await session.execute(
                text("SELECT action FROM audit_events WHERE action LIKE 'flow.state%' ORDER BY seq")
            )
            assert list(actions.scalars()) == ["flow.state_set", "flow.state_deleted"]

    async def test_of_published_versions_is_changed_by_users_who_may_publish(
        self, us: Team, flow: dict[str, Any]
    ) -> None:
        path = f"/flows/{flow['id']}/state/n"
        outcomes = {}
        for who in ("stranger", "viewer", "runner", "editor", "publisher"):
            answer = await us.ask(who, "PUT", path, json={"value": 1})
            draft = await us.ask(who, "PUT", path, json={"value": 1}, params={"draft": True})
            outcomes[who] = (answer.status_code, draft.status_code)
        assert outcomes == {
            "stranger": (404, 404),
            "viewer": (403, 403),
            "runner": (403, 403),
            "editor": (403, 200),
            "publisher": (200, 200),
        }
        assert (await us.ask("editor", "DELETE", path)).status_code == 403
        assert (await us.ask("stranger", "GET", path)).status_code == 404

    @pytest.mark.parametrize(("name", "value"), [("a b", 1), ("n", "x" * 65_536), ("-n", 1), ("n" * 65, 1)], ids=str)
    async def test_refuses_names_and_values_out_of_bounds(
        self, us: Team, flow: dict[str, Any], name: str, value: Any
    ) -> None:
        answer = await us.ask("publisher", "PUT", f"/flows/{flow['id']}/state/{name}", json={"value": value})
        assert (answer.status_code, answer.json()["code"]) == (422, "state_invalid")

    async def test_is_encrypted_and_deleted_with_the_flow(self, us: Team, flow: dict[str, Any]) -> None:
        path = f"/flows/{flow['id']}"
        await us.ask("publisher", "PUT", f"{path}/state/n", json={"value": "a word"})
        async with us.database.reading() as session:
            for table in ("flow_states", "flow_state_values"):
                content = (await session.execute(text(f"SELECT content FROM {table}"))).scalar_one()
                assert b"a word" not in bytes(content)
        exported = await us.ask("publisher", "GET", f"{path}/export")
        assert "a word" not in exported.text
        await us.ask("publisher", "DELETE", path)
        assert (await us.ask("publisher", "GET", f"{path}/state")).status_code == 404
        async with us.database.reading() as session:
            for table in ("flow_states", "flow_state_values"):
                assert (await session.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one() == 0
