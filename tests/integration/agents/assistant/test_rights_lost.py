"""Somebody loses a right while the assistant works for them: what the turn would change after that is refused."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from headgate.agents.assistant.schemas import CheckConfig
from headgate.agents.assistant.service import ChoosesModels
from headgate.features.access.principal import Principal
from headgate.foundation.settings import Settings
from tests.support.team import FLOW, Team, team

REQUEST = "make the text I send upper case"


@dataclass(frozen=True)
class Interrupting:
    """Chooses models like another; something happens just before, when the turn has begun."""

    inner: ChoosesModels
    happens: Callable[[], Awaitable[Any]]

    async def choose(self, principal: Principal, **more: Any) -> Any:
        await self.happens()
        return await self.inner.choose(principal, **more)

    async def check_config(self, principal: Principal) -> CheckConfig:
        return await self.inner.check_config(principal)

    def explain(self, error: Exception) -> Any:
        return self.inner.explain(error)


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def asked(us: Team, flow_id: str, happens: Callable[[], Awaitable[Any]]) -> Any:
    """What the editor is answered who asks for a change of a flow, where something happens meanwhile."""
    assistant = us.app.state.assistant
    us.app.state.assistant = replace(assistant, models=Interrupting(assistant.models, happens))
    body = {"input_value": REQUEST, "provider": "offline", "flow_id": flow_id, "apply": True}
    answer = await us.ask("editor", "POST", "/agentic/assist", json=body)
    return answer.status_code, answer.json().get("code")


class TestTurn:
    async def test_saves_while_nothing_is_lost(self, us: Team) -> None:
        flow = await us.make("editor", "/flows", spec=FLOW, space_id=us.space)

        async def nothing() -> None: ...

        assert (await asked(us, flow["id"], nothing))[0] == 200
        assert (await us.get("owner", f"/flows/{flow['id']}"))["revision"] == 2

    async def test_changes_nothing_for_who_is_taken_out_of_the_space(self, us: Team) -> None:
        flow = await us.make("editor", "/flows", spec=FLOW, space_id=us.space)
        member = f"/spaces/{us.space}/members/{us.people['editor'].id}"
        found = await asked(us, flow["id"], lambda: us.ask("owner", "DELETE", member))
        assert found == (404, "flow_not_found")
        assert (await us.get("owner", f"/flows/{flow['id']}"))["revision"] == 1

    async def test_changes_nothing_for_who_may_only_look_by_then(self, us: Team) -> None:
        flow = await us.make("editor", "/flows", spec=FLOW, space_id=us.space)
        member = f"/spaces/{us.space}/members/{us.people['editor'].id}"
        found = await asked(us, flow["id"], lambda: us.ask("owner", "PUT", member, json={"role": "viewer"}))
        assert found == (403, "permission_missing")

    async def test_changes_nothing_for_who_is_shut_out(self, us: Team) -> None:
        flow = await us.make("editor", "/flows", spec=FLOW, space_id=us.space)
        person = f"/users/{us.people['editor'].id}"
        found = await asked(us, flow["id"], lambda: us.ask("admin", "PATCH", person, json={"active": False}))
        assert found == (401, "session_over")
        assert (await us.get("owner", f"/flows/{flow['id']}"))["revision"] == 1
