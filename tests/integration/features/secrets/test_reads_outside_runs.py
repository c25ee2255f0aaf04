"""Reads of secrets that no run does: by whom, of what, what for, in which session."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import select

from headgate.features.access.principal import DEFAULT_TENANT_ID, Access, Actor, Principal
from headgate.features.audit.tables import AuditEvent
from headgate.features.models.listing import forget_lists
from headgate.features.secrets.reads import NO_READS, SecretReadLog
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import Settings
from headgate.toolkit.workbench import Workbench
from tests.support.mcp_server import McpProcess
from tests.support.openai_server import OpenAIServer
from tests.support.people import LOOPBACK
from tests.support.scripted_server import json_reply
from tests.support.team import FLOW, Team, team

VALUE = "sk-the-tokens-own-value-0123456789"


@pytest.fixture
async def house(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Team]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_COMPATIBLE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    forget_lists()
    async with team(settings, http=LOOPBACK) as found:
        yield found


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        running.model_list = json_reply({"data": [{"id": "qwen3-32b"}]})
        yield running


def person(house: Team, who: str = "editor") -> Principal:
    user = house.people[who]
    return Principal(DEFAULT_TENANT_ID, user.id, house.space, Access(admin=True), Actor("user", who))


async def keep(house: Team, name: str, *, hosts: tuple[str, ...] = ()) -> None:
    body = {"value": VALUE, "hosts": list(hosts)}
    answer = await house.ask("admin", "PUT", f"/organisation/variables/{name}", json=body)
    assert answer.is_success, answer.text


async def reads(house: Team) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, id of the reader and payload of each entry."""
    async with house.database.reading() as session:
        query = select(AuditEvent).where(AuditEvent.action == "variable.read").order_by(AuditEvent.seq)
        rows = (await session.execute(query)).scalars().all()
    assert VALUE not in "".join(row.payload for row in rows)
    found = [(row.resource_name, row.actor_id, json.loads(row.payload)) for row in rows]
    return [one for one in found if one[0] != "OLLAMA_BASE_URL"]  # the address of a server that is asked for its models


class TestReaders:
    async def test_the_assistant_is_named_with_its_session_once(self, house: Team) -> None:
        await keep(house, "OPENAI_API_KEY")
        parts = house.app.state
        for session_id in ("one", "one", "two"):
            await parts.assistant.models.choose(
                person(house), provider="openai", name="gpt-5", bench=cast("Workbench", None), session_id=session_id
            )
        me = house.people["editor"].id
        assert await reads(house) == [
            ("OPENAI_API_KEY", me, {"purpose": "assistant", "source": "organisation", "session_id": name})
            for name in ("one", "two")
        ]

    async def test_a_development_session_is_named(self, house: Team) -> None:
        await keep(house, "OPENAI_API_KEY")
        reasoning = house.app.state.codev.runner.around.reasoning
        await reasoning.choose(person(house), "openai/gpt-5", session_id="plan")
        payload = {"purpose": "development", "source": "organisation", "session_id": "plan"}
        assert await reads(house) == [("OPENAI_API_KEY", house.people["editor"].id, payload)]

    async def test_a_test_of_a_model_server_names_its_stored_key_and_its_variable(
        self, house: Team, server: OpenAIServer
    ) -> None:
        await keep(house, "TEAM_TOKEN", hosts=(server.base_url,))
        for name, key in (("stored", VALUE), ("named", {"secret": "TEAM_TOKEN"})):
            path = f"/model-servers/{name}?organisation=true"
            answer = await house.ask("admin", "PUT", path, json={"address": server.base_url, "key": key})
            assert answer.is_success, answer.text
            server.script(server.text("yes"))
            outcome = await house.make("admin", f"/model-servers/{name}/test")
            assert (outcome["ok"], outcome["detail"]) == (True, "")
        me, payload = house.people["admin"].id, {"purpose": "test", "source": "organisation"}
        assert [one for one in await reads(house) if one[2]["purpose"] == "test"] == [
            ("model_server:stored", me, payload),
            ("TEAM_TOKEN", me, payload),
        ]

    async def test_a_refresh_of_an_mcp_server_names_what_it_is_sent(self, house: Team, tmp_path: Path) -> None:
        with McpProcess(tmp_path / "tally") as mcp:
            await keep(house, "WEATHER_TOKEN", hosts=(mcp.url,))
            headers = {"Authorization": {"secret": "WEATHER_TOKEN", "scheme": "Bearer"}, "X-Api-Key": VALUE}
            await house.make("owner", "/mcp-servers", name="weather", url=mcp.url, headers=headers)
            await house.make("owner", "/mcp-servers/weather/refresh")
        me = house.people["owner"].id
        assert await reads(house) == [
            ("mcp_server:weather", me, {"purpose": "mcp", "source": "space"}),
            ("WEATHER_TOKEN", me, {"purpose": "mcp", "source": "organisation"}),
        ]

    async def test_evidence_names_what_is_taken_out_of_it(self, house: Team) -> None:
        await keep(house, "TOKEN")
        flow_id = (await house.make("editor", "/flows", spec=FLOW))["id"]
        run = await house.make("editor", f"/flows/{flow_id}/runs", text="go", wait=True, version="draft")
        assert await reads(house) == []
        await house.get("viewer", f"/flow-runs/{run['id']}/evidence")
        payload = {"purpose": "redaction", "source": "organisation"}
        assert await reads(house) == [("TOKEN", house.people["viewer"].id, payload)]


class TestChecks:
    async def test_of_providers_roles_and_flows_read_nothing(self, house: Team) -> None:
        for name in ("OPENAI_API_KEY", "TOKEN"):
            await keep(house, name)
        providers = await house.get("viewer", "/providers")
        assert next(one for one in providers if one["id"] == "openai")["configured"]
        await house.get("viewer", "/model-roles")
        spec = (
            "name: Call\nnodes:\n  ask: HTTPRequest\n    url: http://127.0.0.1:9/\n    headers:\n"
            '      X-Key: {"secret": "TOKEN"}\n  said: ChatOutput\nedges:\n  ask.text -> said.input\n'
        )
        await house.make("editor", "/flows", spec=spec)
        assert await reads(house) == []

    async def test_cannot_read(self) -> None:
        with pytest.raises(RuntimeError, match="TOKEN"):
            await NO_READS.note("TOKEN", "space")


class TestSecretReadLog:
    async def test_a_read_that_cannot_be_written_down_is_none(
        self, house: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def full(*_about: object, **_more: object) -> None:
            raise Unavailable("The disk is full.")

        await keep(house, "TOKEN")
        monkeypatch.setattr(SecretReadLog, "write", full)
        with pytest.raises(Unavailable, match="full"):
            await house.app.state.keys_of(person(house), "test").key("TOKEN")

    async def test_another_user_and_another_purpose_are_entries_of_their_own(self, house: Team) -> None:
        await keep(house, "TOKEN")
        parts = house.app.state
        elsewhere = replace(person(house), space_id=house.elsewhere)
        for principal, purpose in (
            (person(house), "test"),
            (person(house), "test"),
            (person(house), "models"),
            (person(house, "owner"), "test"),
            (elsewhere, "test"),
        ):
            assert await parts.keys_of(principal, purpose).key("TOKEN") is not None
        readers = [(actor, payload["purpose"]) for _, actor, payload in await reads(house)]
        me, owner = house.people["editor"].id, house.people["owner"].id
        assert readers == [(me, "test"), (me, "models"), (owner, "test"), (me, "test")]
