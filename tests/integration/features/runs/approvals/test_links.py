"""One-time links for outside reviewers in the real application, on both databases."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from headgate.features.runs.evidence.verify import verify
from headgate.foundation.settings import ClassificationSettings, RateLimitSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import asked, decide, ended
from tests.support.people import BASE
from tests.support.team import Team, team

EVA = "eva@customer.example"


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, rate_limits=RateLimitSettings(sign_in_per_minute=1000)) as people:
        yield people


@pytest.fixture
async def outsider(us: Team) -> AsyncIterator[httpx2.AsyncClient]:
    """A client without any credentials."""
    transport = httpx2.ASGITransport(app=us.app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=BASE) as client:
        yield client


async def linked(us: Team, approval: dict[str, Any], who: str = "owner", **more: Any) -> str:
    link = await us.make(who, f"/approvals/{approval['id']}/links", recipient=EVA, **more)
    url: str = link["url"]
    assert "/review#token=" in url
    return url.partition("#token=")[2]


async def answer(outsider: httpx2.AsyncClient, token: str, approval: dict[str, Any], **more: Any) -> int:
    body = {"token": token, "decision": "approve", "content_hash": approval["content_hash"], **more}
    return (await outsider.post("/reviews/decide", json=body)).status_code


class TestLink:
    async def test_shows_what_is_asked_and_decides_once(self, us: Team, outsider: httpx2.AsyncClient) -> None:
        approval = await asked(us, questions='["Cost centre"]', editable='["*"]')
        token = await linked(us, approval)
        for _ in range(3):  # as scanners of links do
            shown = (await outsider.post("/reviews/read", json={"token": token})).json()
        assert (shown["question"], shown["value"], shown["questions"][0]["id"]) == (
            "Pay it?", "Taxi, 40 EUR", "cost_centre",
        )  # fmt: skip
        assert "editor@example.org" not in json.dumps(shown)
        assert (await us.get("owner", f"/approvals/{approval['id']}"))["status"] == "pending"
        response = {"edits": {"*": "Taxi, 30 EUR"}, "answers": {"cost_centre": "12"}, "comment": "fine"}
        assert await answer(outsider, token, approval, **response) == 204
        assert (await ended(us, approval["run_id"]))["text"] == "Taxi, 30 EUR"
        [decision] = (await us.get("owner", f"/approvals/{approval['id']}"))["decisions"]
        assert (decision["outside"], decision["user_id"], decision["comment"]) == (EVA, us.people["owner"].id, "fine")
        assert await answer(outsider, token, approval) == 404
        assert (await outsider.post("/reviews/read", json={"token": token})).status_code == 404

    async def test_of_a_hundred_clicks_is_one_decision(self, us: Team, outsider: httpx2.AsyncClient) -> None:
        approval = await asked(us)
        token = await linked(us, approval)
        clicks = await asyncio.gather(*(answer(outsider, token, approval) for _ in range(50)))
        assert Counter(clicks) == {204: 1, 404: 49}

    async def test_is_stored_as_a_hash_and_in_the_audit_log(self, us: Team, outsider: httpx2.AsyncClient) -> None:
        approval = await asked(us)
        token = await linked(us, approval)
        assert await answer(outsider, token, approval) == 204
        async with us.database.reading() as session:
            stored = (await session.execute(text("SELECT * FROM approval_links"))).mappings().one()
            actions = (await session.execute(text("SELECT action, payload FROM audit_events ORDER BY seq"))).all()
        assert token not in str(dict(stored))
        written = [(row.action, str(row.payload)) for row in actions if row.action.startswith("approval.")]
        assert [action for action, _ in written] == ["approval.link_created", "approval.approved"]
        assert all(EVA in payload and token not in payload for _, payload in written)

    async def test_is_in_the_signed_evidence(self, us: Team, outsider: httpx2.AsyncClient) -> None:
        approval = await asked(us)
        assert await answer(outsider, await linked(us, approval), approval, decision="reject") == 204
        await ended(us, approval["run_id"])
        package = (await us.ask("viewer", "GET", f"/flow-runs/{approval['run_id']}/evidence")).content
        assert verify(package).good
        assert f'"outside_reviewer":"{EVA}"'.encode() in package.replace(b'": "', b'":"')

    async def test_takes_the_place_of_its_creators_decision(self, us: Team, outsider: httpx2.AsyncClient) -> None:
        approval = await asked(us, needed=2)
        first, second = await linked(us, approval), await linked(us, approval)
        assert await answer(outsider, first, approval) == 204
        assert await answer(outsider, second, approval) == 409
        assert await decide(us, "owner", approval) == 409
        assert await decide(us, "runner", approval) == 200
        assert (await ended(us, approval["run_id"]))["status"] == "completed"

    async def test_is_created_by_those_alone_who_may_decide(self, us: Team) -> None:
        approval = await asked(us, not_starter="true", assignees='["role:publisher"]')
        path, body = f"/approvals/{approval['id']}/links", {"recipient": EVA}
        statuses = await us.answers("POST", path, json=body)
        assert {who for who, status in statuses.items() if status == 201} == {"publisher", "owner", "admin"}
        assert (statuses["editor"], statuses["runner"], statuses["viewer"], statuses["stranger"]) == (
            403,
            403,
            403,
            404,
        )

    async def test_is_refused_when_deleted_expired_unknown_or_of_another_content(
        self, us: Team, outsider: httpx2.AsyncClient
    ) -> None:
        approval = await asked(us)
        token, short = await linked(us, approval), await linked(us, approval, hours=0.0001)
        await asyncio.sleep(0.5)
        assert await answer(outsider, short, approval) == 404
        assert await answer(outsider, "x" * 43, approval) == 404
        assert await answer(outsider, token, {"content_hash": "0" * 64}) == 409
        assert await answer(outsider, token, approval, edits={"*": "more"}) == 422
        items = (await us.get("viewer", f"/approvals/{approval['id']}/links"))["items"]
        assert [item["recipient"] for item in items] == [EVA, EVA]
        gone = f"/approvals/{approval['id']}/links/{items[0]['id']}"
        assert (await us.ask("viewer", "DELETE", gone)).status_code == 403
        assert (await us.ask("owner", "DELETE", gone)).status_code == 204
        assert await answer(outsider, token, approval) == 404

    @pytest.mark.parametrize(
        "change",
        [
            "DELETE FROM space_members WHERE user_id = :user",
            "UPDATE space_members SET role = 'viewer' WHERE user_id = :user",
            "UPDATE space_members SET role = 'editor' WHERE user_id = :user",
            "UPDATE users SET active = :no WHERE id = :user",
        ],
    )
    async def test_is_refused_once_its_creator_may_not_decide(
        self, us: Team, outsider: httpx2.AsyncClient, change: str
    ) -> None:
        approval = await asked(us, assignees='["role:publisher"]')
        token = await linked(us, approval)
        async with us.database.writing() as session:
            values = {"user": us.people["owner"].id} | ({"no": False} if ":no" in change else {})
            await session.execute(text(change), values)
        assert (await outsider.post("/reviews/read", json={"token": token})).status_code == 404
        assert await answer(outsider, token, approval) == 404
        assert (await us.get("admin", f"/approvals/{approval['id']}"))["status"] == "pending"

    async def test_is_either_used_or_deleted(self, us: Team, outsider: httpx2.AsyncClient) -> None:
        approval = await asked(us, needed=20)
        for who in ("runner", "editor", "publisher", "owner", "admin"):
            token = await linked(us, approval, who)
            link = (await us.get(who, f"/approvals/{approval['id']}/links"))["items"][-1]
            path = f"/approvals/{approval['id']}/links/{link['id']}"
            decided, deleted = await asyncio.gather(answer(outsider, token, approval), us.ask(who, "DELETE", path))
            assert sorted((decided, deleted.status_code)) == [204, 404]

    async def test_is_closed_with_its_run(self, us: Team, outsider: httpx2.AsyncClient) -> None:
        approval = await asked(us)
        token = await linked(us, approval)
        await us.make("editor", f"/flow-runs/{approval['run_id']}/cancel")
        assert (await outsider.post("/reviews/read", json={"token": token})).status_code == 404
        assert await answer(outsider, token, approval) == 409


class TestClassification:
    @pytest.fixture
    async def us(self, settings: Settings) -> AsyncIterator[Team]:
        classification = ClassificationSettings(enabled=True, input_level=1)
        limits = RateLimitSettings(enabled=False, sign_in_per_minute=10_000)
        async with team(settings, rate_limits=limits, classification=classification) as people:
            yield people

    async def test_of_what_may_leave_is_shown(self, us: Team, outsider: httpx2.AsyncClient) -> None:
        approval = await asked(us)
        assert await answer(outsider, await linked(us, approval), approval) == 204

    async def test_of_what_may_not_leave_refuses_a_link(self, us: Team) -> None:
        approval = await asked(us, input_classification=2)
        response = await us.ask("owner", "POST", f"/approvals/{approval['id']}/links", json={"recipient": EVA})
        assert (response.status_code, response.json()["code"]) == (403, "classification_refused")
        assert "K2 confidential" in response.json()["detail"]
        assert await decide(us, "owner", approval) == 200

    @pytest.mark.parametrize("level", ["2", "NULL"])
    async def test_that_may_not_leave_or_is_unknown_makes_a_link_invalid(
        self, us: Team, outsider: httpx2.AsyncClient, level: str
    ) -> None:
        approval = await asked(us)
        token = await linked(us, approval)
        async with us.database.writing() as session:
            await session.execute(text(f"UPDATE approvals SET classification = {level}"))
        assert (await outsider.post("/reviews/read", json={"token": token})).status_code == 404
        assert await answer(outsider, token, approval) == 404


class TestRateLimit:
    async def test_bounds_attempts_from_one_address(self, settings: Settings) -> None:
        async with team(settings, rate_limits=RateLimitSettings(sign_in_per_minute=2)) as people:
            transport = httpx2.ASGITransport(app=people.app, raise_app_exceptions=False)
            async with httpx2.AsyncClient(transport=transport, base_url=BASE) as client:
                statuses = [
                    (await client.post("/reviews/read", json={"token": "x" * 43})).status_code for _ in range(6)
                ]
        assert statuses == [404] * 4 + [429] * 2
