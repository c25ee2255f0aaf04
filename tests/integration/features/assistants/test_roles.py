"""Shared assistants of several spaces, over the real application on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import select

from headgate.features.audit.tables import AuditEvent
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.support.team import EVERYBODY, Team, team

EDITORS = {"editor", "publisher", "owner", "admin"}
INSIDERS = {*EVERYBODY} - {"stranger"}
LINKED = """name: Linked
nodes:
  ask: ChatInput
  reply: AIStep
    prompt: Answer.
    model: openai/gpt-5-mini
    assistant: Lena
  out: ChatOutput
edges:
  ask.text -> reply.input
  reply.output -> out.input
"""


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def linked(us: Team, who: str, flow_id: str) -> dict[str, Any]:
    """What the assistant gave the step of the version that is published."""
    nodes = (await us.get(who, f"/flows/{flow_id}/versions/1"))["definition"]["nodes"]
    found: dict[str, Any] = next(node for node in nodes if node["id"] == "reply").get("linked", {})
    return found


class TestAssistants:
    async def test_are_seen_by_who_sees_their_space_and_changed_by_editors(self, us: Team) -> None:
        body = {"name": "Lena", "space_id": us.space}
        made = await us.make("editor", "/assistants", **body)
        one = f"/assistants/{made['id']}"
        assert await us.allowed("GET", one) == INSIDERS
        assert await us.allowed("PATCH", one, json={"instructions": "Be brief."}) == EDITORS
        for who in EVERYBODY:
            listed = [item["id"] for item in (await us.get(who, "/assistants"))["items"]]
            assert listed == ([] if who == "stranger" else [made["id"]])
        assert await us.allowed("GET", "/assistants", params={"space_id": us.space}) == INSIDERS
        refused = {who: status for who, status in (await us.answers("DELETE", one)).items() if status != 204}
        assert refused["viewer"] == refused["runner"] == 403
        assert (await us.ask("viewer", "GET", one)).status_code == 404

    async def test_are_made_by_editors_of_the_space(self, us: Team) -> None:
        allowed = set()
        for who in EVERYBODY:
            answer = await us.ask(who, "POST", "/assistants", json={"name": f"Of {who}", "space_id": us.space})
            assert answer.status_code in ({201} if who in EDITORS else {404} if who == "stranger" else {403})
            allowed |= {who} if answer.status_code == 201 else set()
        assert allowed == EDITORS
        for space_id in (us.elsewhere, new_id()):
            answer = await us.ask("owner", "POST", "/assistants", json={"name": "Lena", "space_id": space_id})
            assert (answer.status_code, answer.json()["code"]) == (404, "space_not_found")

    async def test_may_have_a_name_that_another_space_uses(self, us: Team) -> None:
        await us.make("stranger", "/assistants", name="Lena", instructions="Theirs.")
        await us.make("editor", "/assistants", name="Lena", instructions="Ours.")
        answer = await us.ask("owner", "POST", "/assistants", json={"name": "Lena"})
        assert (answer.status_code, answer.json()["code"]) == (409, "assistant_name_taken")

    async def test_leave_a_trace_of_every_change(self, us: Team) -> None:
        made = await us.make("editor", "/assistants", name="Lena", instructions="One.")
        await us.ask("owner", "PATCH", f"/assistants/{made['id']}", json={"instructions": "Two."})
        await us.ask("viewer", "DELETE", f"/assistants/{made['id']}")
        await us.ask("editor", "DELETE", f"/assistants/{made['id']}")
        async with us.database.reading() as session:
            query = select(AuditEvent).where(AuditEvent.resource_id == made["id"]).order_by(AuditEvent.seq)
            rows = list((await session.execute(query)).scalars())
        assert [row.action for row in rows] == ["assistant.created", "assistant.changed", "assistant.deleted"]
        assert rows[0].after_digest == rows[1].before_digest != rows[1].after_digest == rows[2].before_digest
        assert {row.space_id for row in rows} == {us.space}


class TestLinks:
    async def test_are_to_assistants_of_the_flows_own_space(self, us: Team) -> None:
        key = {"value": "sk-test-0123456789"}  # nothing is published without one
        assert (await us.ask("admin", "PUT", "/organisation/variables/OPENAI_API_KEY", json=key)).is_success
        await us.make("stranger", "/assistants", name="Lena", instructions="Theirs.")
        await us.make("editor", "/assistants", name="Lena", instructions="Ours.")
        ours = await us.make("admin", "/flows", spec=LINKED, space_id=us.space)
        theirs = await us.make("admin", "/flows", spec=LINKED, space_id=us.elsewhere)
        await us.make("publisher", f"/flows/{ours['id']}/publish")
        await us.make("stranger", f"/flows/{theirs['id']}/publish")
        assert (await linked(us, "viewer", ours["id"]))["system"] == "Ours."
        assert (await linked(us, "stranger", theirs["id"]))["system"] == "Theirs."

    @pytest.mark.parametrize("who", ["owner", "admin"])
    async def test_to_another_spaces_assistant_are_to_one_that_is_not_there(self, us: Team, who: str) -> None:
        """Even for an admin, who sees both: the flow's other editors would be told what they may not see."""
        await us.make("stranger", "/assistants", name="Lena", instructions="Theirs.")
        flow = await us.make("editor", "/flows", spec=LINKED)
        path = f"/flows/{flow['id']}"
        missing = await us.ask(who, "POST", f"{path}/publish", json={})
        assert missing.status_code == 422
        assert "'Lena', which does not exist." in missing.text
        misspelt = await us.make("editor", "/flows", spec=LINKED.replace("assistant: Lena", "assistant: Lenna"))
        answer = await us.ask(who, "POST", f"/flows/{misspelt['id']}/publish", json={})
        assert "Lena" not in answer.text
        assert "Theirs" not in (await us.ask(who, "GET", f"{path}/versions/draft..draft")).text
        for version in ("draft", 1):
            assert "Theirs" not in (await us.ask(who, "POST", f"{path}/dry-run", json={"version": version})).text
