"""What each role may do with a flow's tests, over the real application on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from fastapi import Request
from sqlalchemy import update

from headgate.features.access.permissions import Role
from headgate.features.access.principal import Principal
from headgate.features.accounts.tables import SpaceMember
from headgate.features.testing.service import revision_of
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.support.team import EVERYBODY, FLOW, Team, team

EDITORS = {"editor", "publisher", "owner", "admin"}
INSIDERS = {*EVERYBODY} - {"stranger"}


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


class TestRoles:
    async def test_decide_who_sees_changes_and_runs_tests(self, us: Team) -> None:
        flow = (await us.make("editor", "/flows", spec=FLOW))["id"]
        tests = f"/flows/{flow}/tests"
        case = {"name": "greets", "text": "hello"}
        sent = {"revision": revision_of([]), "cases": [case]}
        assert await us.allowed("PUT", tests, json=sent) == EDITORS
        assert await us.allowed("POST", f"{tests}/run", json={"wait": True}) == EDITORS
        for path in (tests, f"{tests}/results"):
            assert await us.allowed("GET", path) == INSIDERS
        result = (await us.get("viewer", f"{tests}/results"))["items"][0]["id"]
        assert await us.allowed("GET", f"{tests}/results/{result}") == INSIDERS
        assert await us.allowed("POST", f"{tests}/results/{result}/cancel") == EDITORS
        assert (await us.get("viewer", f"{tests}/results/{result}"))["status"] == "passed"

    async def test_are_asked_about_again_while_tests_run(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        flow = (await us.make("editor", "/flows", spec=FLOW))["id"]
        sent = {"revision": revision_of([]), "cases": [{"name": "greets", "text": "hello"}]}
        await us.ask("editor", "PUT", f"/flows/{flow}/tests", json=sent)
        identity, now_or_then = us.app.state.identity, us.app.state.identity.again

        async def after_a_demotion(request: Request) -> Principal:
            async with us.database.writing() as session:
                whose = SpaceMember.user_id == us.people["editor"].id
                await session.execute(update(SpaceMember).where(whose).values(role=Role.VIEWER.value))
            found: Principal = await now_or_then(request)
            return found

        monkeypatch.setattr(identity, "again", after_a_demotion)
        found = (await us.ask("editor", "POST", f"/flows/{flow}/tests/run", json={"wait": True})).json()
        assert (found["status"], found["lines"]) == ("cancelled", [])
        assert "runs.test" in found["reason"]

    async def test_tell_a_stranger_no_more_than_of_a_flow_that_is_not_there(self, us: Team) -> None:
        flow = (await us.make("editor", "/flows", spec=FLOW))["id"]
        for method, suffix in (("GET", ""), ("PUT", ""), ("POST", "/run"), ("GET", f"/results/{new_id()}")):
            texts = []
            for flow_id in (flow, made_up := new_id()):
                sent = {"revision": revision_of([]), "cases": []} if method == "PUT" else {}
                more: dict[str, Any] = {} if method == "GET" else {"json": sent}
                answer = await us.ask("stranger", method, f"/flows/{flow_id}/tests{suffix}", **more)
                assert answer.status_code == 404
                texts.append(answer.text.replace(flow_id, "x"))
            assert texts[0] == texts[1], made_up
