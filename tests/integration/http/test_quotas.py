"""Limits over HTTP, on both databases."""

from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import QuotaSettings, Settings
from tests.support.rows import execute
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, quotas=QuotaSettings(tenant_runs_per_hour=50)) as client:
        yield client


async def _limit(us: Team, **limit: object) -> int:
    return (await us.ask("admin", "PUT", "/quotas", json={"space_id": None, **limit})).status_code


class TestLimits:
    async def test_are_seen_and_set_by_admins_alone(self, us: Team) -> None:
        assert {who for who, status in (await us.answers("GET", "/quotas")).items() if status == 200} == {"admin"}
        body = {"scope": "tenant", "quota": "runs", "most": 7}
        for who in ("editor", "owner"):
            assert (await us.ask(who, "PUT", "/quotas", json=body)).status_code == 403
        assert await _limit(us, **body) == 204
        found = {(one["scope"], one["quota"]): one["most"] for one in (await us.get("admin", "/quotas"))["items"]}
        assert found["tenant", "runs"] == 7

    async def test_refuse_a_start_with_429_and_say_whose_how_much_and_when(self, us: Team) -> None:
        flow_id = str((await us.make("editor", "/flows", spec=FLOW))["id"])
        assert await _limit(us, scope="space", quota="runs_per_hour", most=1) == 204
        await us.make("editor", f"/flows/{flow_id}/runs", text="hi", wait=True)
        refused = await us.ask("editor", "POST", f"/flows/{flow_id}/runs", json={"text": "hi"})
        problem = refused.json()
        assert (refused.status_code, problem["code"]) == (429, "quota_exceeded")
        assert problem["detail"].startswith("This space has 1 of 1 runs started within one hour.")
        assert "An administrator of the organisation can raise it" in problem["detail"] + problem.get("remedy", "")
        assert 0 < int(refused.headers["Retry-After"]) <= 3600
        used = [one for one in (await us.get("admin", "/quotas"))["items"] if one["used"] == 1 and one["most"] == 1]
        assert [(one["scope"], one["quota"]) for one in used] == [("space", "runs_per_hour")]
        assert await _limit(us, scope="space", quota="runs_per_hour", most=None) == 204
        await us.make("editor", f"/flows/{flow_id}/runs", text="hi", wait=True)

    async def test_of_tokens_count_what_steps_used_today(self, us: Team) -> None:
        flow_id = str((await us.make("editor", "/flows", spec=FLOW))["id"])
        await us.make("editor", f"/flows/{flow_id}/runs", text="hi", wait=True)
        await execute(us.database, "UPDATE flow_step_results SET num_tokens_input = 90, num_tokens_output = 10")
        assert await _limit(us, scope="tenant", quota="tokens_per_day", most=100) == 204
        refused = await us.ask("editor", "POST", f"/flows/{flow_id}/runs", json={"text": "hi"})
        assert (refused.status_code, refused.json()["scope"]) == (429, "tenant")
        assert "tokens used today" in refused.json()["detail"]

    async def test_are_at_most_what_the_operator_allows(self, us: Team) -> None:
        limit = {"scope": "tenant", "quota": "runs_per_hour", "most": 51}
        answer = await us.ask("admin", "PUT", "/quotas", json=limit)
        assert (answer.status_code, answer.json()["code"]) == (422, "quota_invalid")
        assert "HEADGATE_QUOTAS__TENANT_RUNS_PER_HOUR" in str(answer.json())
