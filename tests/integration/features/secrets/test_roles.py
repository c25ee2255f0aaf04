"""What belongs to the tenant as a whole: its admins set it, everybody uses it. The real application, both databases."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select

from headgate.features.audit.tables import AuditEvent
from headgate.foundation.settings import Settings
from tests.support.team import EVERYBODY, Team, team

SECRET = "sk-a-value-that-nobody-may-read"


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        yield found


async def audited(us: Team, kind: str) -> list[AuditEvent]:
    async with us.database.reading() as session:
        query = select(AuditEvent).where(AuditEvent.resource_kind == kind).order_by(AuditEvent.seq)
        return list((await session.execute(query)).scalars())


def only_admins(statuses: dict[str, int], status: int) -> bool:
    return statuses == {who: status if who == "admin" else 403 for who in EVERYBODY}


class TestVariables:
    async def test_of_the_organisation_are_set_by_admins_and_named_to_everybody(self, us: Team) -> None:
        body = {"value": SECRET, "hosts": ["api.example.org"]}
        path = "/organisation/variables/API_KEY"
        assert only_admins(await us.answers("PUT", path, json=body), 200)
        answer = await us.ask("viewer", "PUT", path, json=body)
        assert answer.json()["permission"] == "variables.manage"
        for who in EVERYBODY:
            listed = await us.ask(who, "GET", "/variables")
            assert [(item["name"], item["space_id"]) for item in listed.json()["items"]] == [("API_KEY", None)]
            assert SECRET not in listed.text
        assert only_admins(await us.answers("DELETE", path), 204)

    async def test_of_a_space_are_set_by_its_owners_and_named_to_its_members(self, us: Team) -> None:
        path, body = f"/variables/API_KEY?space_id={us.space}", {"value": SECRET}
        assert await us.allowed("PUT", path, json=body) == {"owner", "admin"}
        for who in EVERYBODY:
            items = (await us.get(who, "/variables"))["items"]
            assert [item["space_id"] for item in items] == ([] if who == "stranger" else [us.space])
        found = await us.answers("DELETE", path)
        assert (found.pop("owner"), found.pop("admin"), found.pop("stranger")) == (204, 404, 404)
        assert set(found.values()) == {403}

    async def test_leave_a_trace_without_their_value(self, us: Team) -> None:
        for value in (SECRET, SECRET + "2"):
            await us.ask("admin", "PUT", "/variables/API_KEY", json={"value": value})
        await us.ask("admin", "PUT", "/variables/API_KEY", json={"value": SECRET, "hosts": ["api.example.org"]})
        await us.ask("admin", "DELETE", "/variables/API_KEY")
        rows = await audited(us, "variable")
        assert [row.action for row in rows] == ["variable.set"] * 3 + ["variable.deleted"]
        assert rows[0].after_digest == rows[1].before_digest == rows[1].after_digest
        assert rows[1].after_digest != rows[2].after_digest == rows[3].before_digest
        assert "sk-a-value" not in "".join(f"{row.payload}{row.resource_name}" for row in rows)


class TestModelClasses:
    async def test_are_set_by_admins_and_seen_by_everybody(self, us: Team) -> None:
        path = "/model-classes/openai/gpt-5-mini"
        assert only_admins(await us.answers("PUT", path, json={"level": 1}), 200)
        for who in EVERYBODY:
            assert len((await us.get(who, "/model-classes"))["items"]) == 1
        await us.ask("admin", "PUT", path, json={"level": 2})
        assert only_admins(await us.answers("DELETE", path), 204)
        rows = await audited(us, "model_class")
        assert [row.action for row in rows] == ["model_class.set", "model_class.set", "model_class.removed"]
        assert [row.resource_id for row in rows] == ["openai/gpt-5-mini"] * 3
        assert rows[0].after_digest == rows[1].before_digest != rows[1].after_digest == rows[2].before_digest


class TestCatalogue:
    async def test_is_seen_by_everybody_who_signed_in(self, us: Team) -> None:
        client = us.clients["stranger"]
        for path in ("/components", "/components/ChatInput", "/templates", "/models", "/providers"):
            assert set((await us.answers("GET", path)).values()) == {200}
            assert (await client.get(path, headers={"Cookie": ""})).status_code == 401
