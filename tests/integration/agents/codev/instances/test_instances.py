"""Flowise servers of the operator and of tenants, over the real application on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from headgate.agents.codev.instances.errors import InstanceNotFound
from headgate.features.access.principal import LOCAL
from headgate.features.audit.tables import AuditEvent
from headgate.features.secrets.errors import VariableKept
from headgate.foundation.settings import CodevSettings, FlowiseInstance, Settings
from tests.integration.features.mcptools.conftest import LOOPBACK
from tests.support.flowise_server import KEY, FlowiseServer, flowise_server
from tests.support.team import EVERYBODY, Team, team

INSTANCES = "/codev/instances"
PUBLIC = "https://flowise.example.org"


ON_SQLITE = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
"""For what no transaction decides."""


@pytest.fixture
async def server() -> AsyncIterator[FlowiseServer]:
    async with flowise_server() as found:
        yield found


@pytest.fixture
async def us(settings: Settings, server: FlowiseServer) -> AsyncIterator[Team]:
    house = FlowiseInstance(id="house", endpoint=server.endpoint, api_key=SecretStr(KEY))
    codev = CodevSettings(flowise_instances=[house], flowise_timeout_seconds=5)
    async with team(settings, codev=codev) as found:
        yield found


async def actions(us: Team) -> list[tuple[str, str]]:
    async with us.database.reading() as session:
        query = select(AuditEvent.action, AuditEvent.resource_id).order_by(AuditEvent.seq)
        return [(one[0], one[1]) for one in await session.execute(query)]


class TestInstances:
    async def test_are_seen_by_everybody_and_managed_by_admins(self, us: Team) -> None:
        body: dict[str, Any] = {"id": "ours", "endpoint": PUBLIC, "api_key": "key-of-ours-123"}
        for who in EVERYBODY:
            status = (await us.ask(who, "POST", INSTANCES, json=body)).status_code
            assert status == (201 if who == "admin" else 403)
        for who in EVERYBODY:
            listed = (await us.ask(who, "GET", INSTANCES)).text
            assert '"ours"' in listed
            assert "key-of-ours" not in listed
            assert KEY not in listed
        assert (await us.ask("owner", "DELETE", f"{INSTANCES}/ours")).status_code == 403
        assert (await us.ask("owner", "POST", f"{INSTANCES}/house/test")).status_code == 403
        assert (await us.ask("admin", "DELETE", f"{INSTANCES}/ours")).status_code == 204
        assert (await us.ask("admin", "DELETE", f"{INSTANCES}/ours")).status_code == 404
        found = await actions(us)
        assert ("codev_instance.added", "ours") in found
        assert ("codev_instance.removed", "ours") in found
        assert ("variable.deleted", "FLOWISE_KEY_OURS") in found

    @ON_SQLITE
    async def test_list_the_operators_first(self, us: Team, server: FlowiseServer) -> None:
        await us.make("admin", INSTANCES, id="ours", endpoint=f"{PUBLIC}/api/v1/")
        assert (await us.get("viewer", INSTANCES))["items"] == [
            {"id": "house", "endpoint": server.endpoint, "source": "operator", "has_key": True, "key_variable": ""},
            {"id": "ours", "endpoint": PUBLIC, "source": "tenant", "has_key": False, "key_variable": ""},
        ]
        places = {one["name"]: one for one in (await us.get("owner", "/codev/domains"))["items"]}
        assert [one["id"] for one in places["flowise"]["instances"]] == ["house", "ours"]

    @ON_SQLITE
    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"id": "house", "endpoint": PUBLIC}, 409),
            ({"id": "x", "endpoint": "ftp://flowise.example.org"}, 422),
            ({"id": "x", "endpoint": "https://me:secret@flowise.example.org"}, 422),
            ({"id": "x", "endpoint": f"{PUBLIC}/?key=1"}, 422),
            ({"id": "../x", "endpoint": PUBLIC}, 422),
            ({"id": "x", "endpoint": PUBLIC, "api_key": "a", "key_variable": "B"}, 422),
        ],
    )
    async def test_that_are_none_are_refused(self, us: Team, body: dict[str, Any], status: int) -> None:
        answer = await us.ask("admin", "POST", INSTANCES, json=body)
        assert answer.status_code == status, answer.text
        assert "secret" not in answer.text

    @ON_SQLITE
    async def test_keep_their_keys_apart(self, us: Team) -> None:
        await us.make("admin", INSTANCES, id="a b", endpoint=PUBLIC, api_key="first-key")
        answer = await us.ask("admin", "POST", INSTANCES, json={"id": "a.b", "endpoint": PUBLIC, "api_key": "second"})
        assert answer.status_code == 409
        assert "The variable FLOWISE_KEY_A_B" in answer.json()["detail"]

    @ON_SQLITE
    async def test_are_tried(self, us: Team, server: FlowiseServer) -> None:
        found = await us.make("admin", f"{INSTANCES}/house/test")
        assert (found["version"], found["nodes"]) == ("3.1.4", len(server.nodes))
        await us.make("admin", INSTANCES, id="ours", endpoint=server.endpoint, api_key=KEY)
        refused = await us.ask("admin", "POST", f"{INSTANCES}/ours/test")
        assert refused.status_code == 403
        assert "are not allowed: its address is loopback" in refused.json()["detail"]
        assert (await us.ask("admin", "POST", f"{INSTANCES}/gone/test")).status_code == 404


class TestKeys:
    async def test_go_to_their_own_server_alone(self, us: Team) -> None:
        instances = us.app.state.flowise.instances
        await us.make("admin", INSTANCES, id="ours", endpoint=PUBLIC, api_key="key-of-ours-123")
        found = await instances.find(LOCAL, "ours")
        assert (found.key.get_secret_value(), found.vouched) == ("key-of-ours-123", False)
        assert "key-of-ours" not in repr(found)
        assert (await instances.find(LOCAL, "")).id == "house"
        with pytest.raises(InstanceNotFound, match="mean 'ours'"):
            await instances.find(LOCAL, "our")
        await us.ask("admin", "PUT", "/organisation/variables/OTHER", json={"value": "not-for-flowise"})
        await us.make("admin", INSTANCES, id="thief", endpoint="https://evil.example.org", key_variable="OTHER")
        with pytest.raises(VariableKept):
            await instances.find(LOCAL, "thief")
        await us.make(
            "admin", INSTANCES, id="thief2", endpoint="https://evil.example.org", key_variable="FLOWISE_KEY_OURS"
        )
        with pytest.raises(VariableKept):
            await instances.find(LOCAL, "thief2")


class TestAllowedNetworks:
    @ON_SQLITE
    async def test_open_private_servers_of_tenants(self, settings: Settings, server: FlowiseServer) -> None:
        async with team(settings, http=LOOPBACK) as us:
            await us.make("admin", INSTANCES, id="ours", endpoint=server.endpoint, api_key=KEY)
            assert (await us.make("admin", f"{INSTANCES}/ours/test"))["version"] == "3.1.4"
            assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
