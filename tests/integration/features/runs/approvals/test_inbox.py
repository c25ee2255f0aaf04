"""Lists of approvals, what they say of each caller, and decisions on several, on both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.foundation.settings import RateLimitSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import PATIENCE, asked, decide, ended
from tests.support.team import Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(enabled=False)) as people:
        yield people


async def listed(us: Team, who: str, **params: Any) -> list[str]:
    items = (await us.get(who, "/approvals", params=params))["items"]
    return [item["id"] for item in items]


async def refusal(us: Team, who: str, approval: dict[str, Any]) -> str | None:
    reason: str | None = (await us.get(who, f"/approvals/{approval['id']}"))["refusal"]
    return reason


class TestList:
    async def test_has_the_most_urgent_first_and_pages_in_that_order(self, us: Team) -> None:
        plain = await asked(us)
        late = await asked(us, timeout_hours=9)
        soon = await asked(us, timeout_hours=2)
        newest = await asked(us)
        urgent = [soon["id"], late["id"], newest["id"], plain["id"]]
        assert await listed(us, "editor", status="pending") == urgent
        assert await listed(us, "runner", mine=True) == urgent
        for filters in ({"status": "pending"}, {"mine": True}):
            pages, cursor = [], None
            for _ in urgent:
                params = {"limit": 1, **filters, **({"cursor": cursor} if cursor else {})}
                page = await us.get("runner", "/approvals", params=params)
                pages += [item["id"] for item in page["items"]]
                cursor = page["next_cursor"]
            assert pages == urgent
            assert cursor is None

    async def test_separates_mine_all_and_decided(self, us: Team) -> None:
        mine = await asked(us, assignees='["runner@example.org"]')
        of_publishers = await asked(us, assignees='["role:publisher"]')
        rejected = await asked(us)
        assert await decide(us, "owner", rejected, "reject") == 200
        closed = await asked(us)
        await us.make("editor", f"/flow-runs/{closed['run_id']}/cancel")
        assert await listed(us, "runner", mine=True) == [mine["id"]]
        assert await listed(us, "publisher", mine=True) == [of_publishers["id"]]
        assert await listed(us, "viewer", mine=True) == []
        assert await listed(us, "viewer", status="pending") == [of_publishers["id"], mine["id"]]
        assert await listed(us, "viewer", status="decided") == [closed["id"], rejected["id"]]
        assert await listed(us, "stranger", status="decided") == []

    async def test_says_who_started_the_run_and_why_the_caller_may_not_decide(self, us: Team) -> None:
        approval = await asked(us, not_starter="true", assignees='["role:editor"]', needed=2)
        item = (await us.get("viewer", "/approvals"))["items"][0]
        starter = us.people["editor"]
        assert (item["starter_id"], item["not_starter"]) == (starter.id, True)
        assert item["starter_name"]
        assert "value" not in item, "a list is read often and shows no values"
        assert await refusal(us, "viewer", approval) == "no_permission"
        assert await refusal(us, "runner", approval) == "not_assigned"
        assert await refusal(us, "editor", approval) == "starter"
        assert await refusal(us, "owner", approval) is None
        assert await decide(us, "owner", approval) == 200
        assert await refusal(us, "owner", approval) == "already_decided"
        assert await decide(us, "publisher", approval) == 200
        assert await refusal(us, "owner", approval) == "over"


class TestEdits:
    async def test_keep_the_type_of_what_they_change(self, us: Team) -> None:
        approval = await asked_for_data(us)
        refused = [{"amount": "much"}, {"paid": "maybe"}, {"items": "[]"}, {"other": "x"}, {"amount": "true"}]
        for edits in refused:
            assert await decide(us, "runner", approval, edits=edits) == 422, edits
        assert await decide(us, "runner", approval, edits={"amount": "12.5", "paid": "true", "who": "7"}) == 200
        run = await ended(us, approval["run_id"])
        assert json.loads(run["text"]) == {"amount": 12.5, "paid": True, "who": "7", "items": [1]}


class TestSeveral:
    async def test_are_decided_one_by_one(self, us: Team) -> None:
        first, second, foreign = await asked(us), await asked(us), await asked(us, assignees='["role:owner"]')
        assert await decide(us, "owner", second, "reject") == 200
        ids = [first["id"], second["id"], foreign["id"], "nothing"]
        items = [{"approval_id": item, "decision": "approve", "comment": "all of them"} for item in ids]
        results = (await us.make("runner", "/approvals/decisions", decisions=items))["items"]
        assert [item["approval_id"] for item in results] == ids
        assert [item["status"] for item in results] == ["approved", None, None, None]
        codes = [item["problem"] and item["problem"]["code"] for item in results]
        assert codes == [None, "approval_decided", "approval_not_assigned", "approval_not_found"]
        assert (await ended(us, first["run_id"]))["status"] == "completed"
        assert (await us.get("runner", f"/approvals/{foreign['id']}"))["status"] == "pending"

    async def test_are_each_decided_once_however_many_send_them(self, us: Team) -> None:
        approvals = [await asked(us) for _ in range(3)]
        items = [{"approval_id": approval["id"], "decision": "approve"} for approval in approvals]
        senders = ("runner", "editor", "publisher", "owner")
        sent = [us.make(who, "/approvals/decisions", decisions=items if at % 2 else items[::-1])
                for at, who in enumerate(senders)]  # fmt: skip
        results = [item for answer in await asyncio.gather(*sent) for item in answer["items"]]
        assert sorted(item["approval_id"] for item in results if item["stored"]) == sorted(
            approval["id"] for approval in approvals
        )
        assert {item["problem"]["code"] for item in results if not item["stored"]} == {"approval_decided"}

    async def test_need_the_right_to_start_runs(self, us: Team) -> None:
        approval = await asked(us)
        body = {"decisions": [{"approval_id": approval["id"], "decision": "approve"}]}
        (result,) = (await us.make("viewer", "/approvals/decisions", **body))["items"]
        assert (result["stored"], result["problem"]["status"]) == (False, 403)
        assert (await us.ask("runner", "POST", "/approvals/decisions", json={"decisions": []})).status_code == 422


async def asked_for_data(us: Team) -> dict[str, Any]:
    """Start a flow whose approval shows an object with members of each type."""
    spec = (
        "name: Order\nnodes:\n  heard: ChatInput\n  read: ParseJSON\n"
        '  check: Approval\n    editable: ["*"]\n  yes: ChatOutput\n'
        "edges:\n  heard.text -> read.text\n  read.data -> check.value\n  check.approve -> yes.input\n"
    )
    flow = await us.make("editor", "/flows", spec=spec)
    order = '{"amount": 40, "paid": false, "who": "Bo", "items": [1]}'
    run = await us.make("editor", f"/flows/{flow['id']}/runs", text=order, version="draft")
    async with asyncio.timeout(PATIENCE):
        while not (items := (await us.get("editor", "/approvals", params={"run_id": run["id"]}))["items"]):
            assert (await us.get("editor", f"/flow-runs/{run['id']}"))["status"] not in {"failed", "completed"}
            await asyncio.sleep(0.02)
    approval: dict[str, Any] = items[0]
    return approval
