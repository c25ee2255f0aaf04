"""A run's reads of secrets: audited before the value is used, listed by flow, known to other processes by name."""

import json
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_network
from typing import Any

import pytest
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.audit.tables import AuditEvent
from headgate.features.runs.secret_reads import repository
from headgate.foundation.errors import Unavailable
from headgate.foundation.secret_values import REDACTED
from headgate.foundation.settings import HttpSettings, Settings
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer, web_server

VALUE = "the-tokens-own-value-0123456789"
FLOW = """name: Two calls
nodes:
  first: HTTPRequest
    url: {first}
    headers:
      X-Key: {{"secret": "TOKEN"}}
  second: HTTPRequest
    url: {second}
    method: POST
    headers:
      {header}: {again}
  said: ChatOutput
edges:
  first.text -> second.body
  second.text -> said.input
"""


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        found.anything = answer(200, "ok", content_type="text/plain")
        yield found


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, http=HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")])) as found:
        yield found


async def keep(us: Team, *, shared: bool = False) -> None:
    path = "/organisation/variables/TOKEN" if shared else "/variables/TOKEN"
    assert (await us.ask("admin", "PUT", path, json={"value": VALUE})).is_success


async def make(us: Team, server: WebServer, *, again: str = '{"secret": "TOKEN"}', header: str = "X-Key") -> str:
    spec = FLOW.format(first=server.url("/first"), second=server.url("/second"), again=again, header=header)
    flow_id: str = (await us.make("editor", "/flows", spec=spec))["id"]
    return flow_id


async def run(us: Team, flow_id: str) -> dict[str, Any]:
    found: dict[str, Any] = await us.make("editor", f"/flows/{flow_id}/runs", text="go", wait=True, version="draft")
    return found


async def reads(us: Team) -> list[AuditEvent]:
    async with us.database.reading() as session:
        query = select(AuditEvent).where(AuditEvent.action == "variable.read").order_by(AuditEvent.seq)
        return list((await session.execute(query)).scalars())


class TestAudit:
    async def test_names_run_step_version_and_starter_once_a_run_and_no_value(
        self, us: Team, server: WebServer
    ) -> None:
        await keep(us)
        flow_id = await make(us, server)
        runs = [await run(us, flow_id) for _ in range(2)]
        assert [one["status"] for one in runs] == ["completed"] * 2
        found = await reads(us)
        assert [json.loads(one.payload) for one in found] == [
            {"run_id": one["id"], "flow_id": flow_id, "version": 1, "step_id": "first", "source": "space"}
            for one in runs
        ]
        assert {(one.resource_name, one.space_id, one.actor_id) for one in found} == {
            ("TOKEN", us.space, us.people["editor"].id)
        }
        assert VALUE not in "".join(one.payload for one in found)

    async def test_says_that_it_was_the_organisations(self, us: Team, server: WebServer) -> None:
        await keep(us, shared=True)
        await run(us, await make(us, server))
        assert [json.loads(one.payload)["source"] for one in await reads(us)] == ["organisation"]

    async def test_comes_before_the_value_is_used(
        self, us: Team, server: WebServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A read that cannot be written down is none: nothing is sent."""

        async def full(*_about: object, **_more: object) -> bool:
            raise Unavailable("The disk is full.")

        await keep(us)
        flow_id = await make(us, server)
        monkeypatch.setattr(repository, "add_read", full)
        found = await run(us, flow_id)
        assert (found["status"], server.requests) == ("failed", [])


class TestUses:
    async def test_are_shown_to_those_who_see_the_flow(self, us: Team, server: WebServer) -> None:
        await keep(us)
        flow_id = await make(us, server)
        await run(us, flow_id)
        for who in ("viewer", "admin"):
            (use,) = (await us.get(who, "/variable-uses"))["items"]
            assert use.pop("last_read_at")
            assert use == {
                "name": "TOKEN",
                "source": "space",
                "space_id": us.space,
                "flow_id": flow_id,
                "flow": "Two calls",
            }
        assert (await us.get("stranger", "/variable-uses"))["items"] == []


class TestAnotherProcess:
    async def test_takes_out_what_an_earlier_step_read(
        self, us: Team, server: WebServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A resumed run starts with no values in memory, as one does whose next step another machine executes."""
        asked: list[str] = []
        names_of = repository.names_of

        async def counted(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[str]:
            asked.append(run_id)
            return await names_of(session, run_id, tenant_id=tenant_id)

        monkeypatch.setattr(repository, "names_of", counted)
        await keep(us)
        server.on("/second", answer(500, "down", content_type="text/plain"))
        flow_id = await make(us, server, again="none", header="X-Trace")
        failed = await run(us, flow_id)
        assert (failed["status"], asked) == ("failed", [])
        server.on("/second", answer(200, f"you sent {VALUE}", content_type="text/plain"))
        resumed = await us.make("editor", f"/flow-runs/{failed['id']}/resume", wait=True)
        assert resumed["run"]["status"] == "completed"
        async with us.database.reading() as session:
            query = text("SELECT output_payload FROM flow_step_results WHERE flow_run_id = :id")
            rows = str((await session.execute(query, {"id": failed["id"]})).all())
        assert VALUE not in rows
        assert REDACTED in rows
        assert asked == [failed["id"]], "once for the results of before, not for every step"
