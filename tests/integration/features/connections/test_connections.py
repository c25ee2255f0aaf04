"""Connections through the API: whose they are, what is checked, how they are tested, which flows name them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import delete, update

from headgate.features.access.principal import LOCAL
from headgate.features.accounts.tables import SpaceMember, User
from headgate.features.connections.catalogue import KINDS
from headgate.foundation.settings import Settings
from tests.integration.features.connections.conftest import LOOPBACK
from tests.support.connections import REQUEST, connect, create, run_request
from tests.support.team import Team, team
from tests.support.web_server import Received, WebServer, answer

SECRET = "canary-7f3c9a51e0b2"


def bearer(name: str, url: str, **members: Any) -> dict[str, Any]:
    """A connection with a token."""
    return {"name": name, "kind": "bearer", "fields": {"url": url}, "secrets": {"token": SECRET}, **members}


APPROVED = """name: Approved
nodes:
  heard: ChatInput
  check: Approval
    question: Send it?
  call: HTTPRequest
    url: /items
    connection: crm
  yes: ChatOutput
  no: ChatOutput
edges:
  heard.text -> check.value
  check.approve -> call.body
  call.text -> yes.input
  check.reject -> no.input
"""


async def pending(us: Team, run_id: str) -> str:
    """The approval that a run waits for."""
    async with asyncio.timeout(30):
        while True:
            items = (await us.get("owner", "/approvals", params={"run_id": run_id}))["items"]
            if items:
                return str(items[0]["id"])
            await asyncio.sleep(0.02)


async def ended(us: Team, run_id: str) -> dict[str, Any]:
    """The run, when it is over."""
    async with asyncio.timeout(30):
        while True:
            run: dict[str, Any] = await us.get("owner", f"/flow-runs/{run_id}")
            if run["status"] not in {"queued", "running", "waiting"}:
                return run
            await asyncio.sleep(0.02)


async def run_as(us: Team, who: str, flow: str) -> dict[str, Any]:
    """A run of a draft that somebody starts."""
    run: dict[str, Any] = (await us.ask(who, "POST", f"/flows/{flow}/runs", json={"text": "", "wait": True})).json()
    return run


class TestOwners:
    async def test_a_personal_connection_is_used_by_its_owner_only(self, settings: Settings, api: WebServer) -> None:
        """The flow is the same: each run uses the connection of its starter, and nobody sees that of another."""
        api.anything = answer(200, "fine", content_type="text/plain")
        async with team(settings, http=LOOPBACK) as us:
            mine = bearer("crm", api.origin, personal=True, space_id=us.space, secrets={"token": "token-of-the-editor"})
            made = await us.make("editor", "/connections", **mine)
            assert made["owner_id"] == us.people["editor"].id
            flow = await us.make(
                "editor", "/flows", spec=REQUEST.format(url="/items", connection="crm"), space_id=us.space
            )
            assert (await run_as(us, "editor", flow["id"]))["status"] == "completed"
            refused = await run_as(us, "publisher", flow["id"])
            assert "There is no connection 'crm'" in json.dumps(refused), refused
            for who in ("owner", "admin", "publisher", "stranger"):
                assert (await us.ask(who, "GET", f"/connections/{made['id']}")).status_code == 404
                assert (await us.ask(who, "DELETE", f"/connections/{made['id']}")).status_code == 404
                assert (await us.ask(who, "POST", f"/connections/{made['id']}/test")).status_code == 404
            await us.make("owner", "/connections", **bearer("crm", api.origin, space_id=us.space))
            assert (await run_as(us, "publisher", flow["id"]))["status"] == "completed"
            assert (await run_as(us, "editor", flow["id"]))["status"] == "completed"
        sent = [request.headers["authorization"] for request in api.requests]
        assert sent == ["Bearer token-of-the-editor", f"Bearer {SECRET}", "Bearer token-of-the-editor"]

    @pytest.mark.parametrize("removed", [False, True])
    async def test_a_run_uses_none_of_a_user_who_may_no_longer_start_it(
        self, settings: Settings, api: WebServer, removed: bool
    ) -> None:
        async with team(settings, http=LOOPBACK) as us:
            mine = bearer("crm", api.origin, personal=True, space_id=us.space)
            await us.make("editor", "/connections", **mine)
            flow = await us.make("editor", "/flows", spec=APPROVED, space_id=us.space)
            run = await us.make("editor", f"/flows/{flow['id']}/runs", text="", version="draft")
            approval = await pending(us, run["id"])
            user = us.people["editor"].id
            deactivation = update(User).where(User.id == user).values(active=False)
            async with us.database.writing() as session:
                await session.execute(
                    delete(SpaceMember).where(SpaceMember.user_id == user) if removed else deactivation
                )
            await us.ask("owner", "POST", f"/approvals/{approval}/decision", json={"decision": "approve"})
            assert "There is no connection 'crm'" in json.dumps(await ended(us, run["id"]))
        assert api.requests == []

    async def test_shared_ones_are_managed_by_owners_and_seen_by_members(self, settings: Settings) -> None:
        async with team(settings, http=LOOPBACK) as us:
            body = bearer("crm", "https://api.example.org", space_id=us.space)
            assert (await us.ask("publisher", "POST", "/connections", json=body)).status_code == 403
            await us.make("owner", "/connections", **body)
            assert await us.allowed("GET", f"/connections?space_id={us.space}") >= {"viewer", "owner", "admin"}
            assert (await us.ask("publisher", "DELETE", "/connections/crm")).status_code == 403
            assert (await us.ask("viewer", "POST", "/connections", json={**body, "personal": True})).status_code == 403

    async def test_references_to_a_vault_come_from_admins(self, settings: Settings) -> None:
        async with team(settings, http=LOOPBACK) as us:
            outside = {"token": {"from": "environment", "path": "TOKEN"}}
            body = bearer("crm", "https://api.example.org", space_id=us.space, secrets=outside)
            assert (await us.ask("owner", "POST", "/connections", json=body)).status_code == 403
            assert (await us.ask("admin", "POST", "/connections", json=body)).status_code == 201


class TestChecks:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"kind": "bearr"}, "There is no kind of connection 'bearr'; did you mean 'bearer'?"),
            ({"name": "My CRM"}, "is not a valid name of a connection"),
            ({"fields": {}}, "'url' is required"),
            ({"fields": {"url": "ftp://x.example.org"}}, "scheme 'ftp:'"),
            ({"fields": {"url": "https://a:b@x.example.org"}}, "user name or password"),
            ({"fields": {"url": "https://x.example.org", "token": "t"}}, "'token' is a secret"),
            ({"fields": {"url": "https://x.example.org", "urls": "t"}}, "has no field 'urls'"),
            ({"secrets": {}}, "'token' is required"),
            ({"secrets": {"token": "two\nlines"}}, "line break or control character"),
            ({"fields": {"url": "https://x.example.org", "hosts": ["https://*"]}}, "host name"),
        ],
    )
    async def test_name_what_is_wrong(self, client: httpx2.AsyncClient, change: dict[str, Any], message: str) -> None:
        refused = await client.post("/connections", json={**bearer("crm", "https://x.example.org"), **change})
        assert refused.status_code in {400, 422}, refused.text
        assert message in refused.text
        assert SECRET not in refused.text

    async def test_a_name_is_taken_once(self, client: httpx2.AsyncClient) -> None:
        answers = await asyncio.gather(
            *(client.post("/connections", json=bearer("crm", "https://x.example.org")) for _ in range(4))
        )
        assert sorted(one.status_code for one in answers) == [201, 409, 409, 409]

    async def test_an_expired_one_is_refused_and_announced_before(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        soon, past = [(datetime.now(UTC) + timedelta(days=days)).isoformat() for days in (5, -1)]
        await connect(client, **bearer("crm", api.origin, expires_at=soon))
        flow = await create(client, REQUEST.format(url="/items", connection="crm"))
        warning = (await client.post(f"/flows/{flow}/dry-run", json={})).text
        assert "expires in 4 days" in warning or "expires in 5 days" in warning
        assert (await client.patch("/connections/crm", json={"expires_at": past})).status_code == 200
        without_zone = await client.patch("/connections/crm", json={"expires_at": "2026-01-01T00:00:00"})
        assert without_zone.status_code == 422
        run = await client.post(f"/flows/{flow}/runs", json={"text": "", "wait": True})
        assert "which has expired" in run.text
        assert api.requests == []

    async def test_every_kind_has_its_texts(self, client: httpx2.AsyncClient) -> None:
        kinds = (await client.get("/connections/kinds")).json()["items"]
        assert [kind["id"] for kind in kinds] == list(KINDS)
        assert all(kind["label"] and kind["description"].endswith(".") for kind in kinds)


class TestUses:
    async def test_lists_flows_by_draft(self, client: httpx2.AsyncClient) -> None:
        await connect(client, **bearer("crm", "https://api.example.org"))
        flow = await create(client, REQUEST.format(url="/items", connection="crm"))
        await create(client, "name: Other\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.text -> b.input\n")
        uses = (await client.get("/connections/crm/flows")).json()["items"]
        shown = {"flow_id": flow, "flow": "Request", "nodes": ["call"], "published": False, "affected": []}
        assert uses == [shown]

    async def test_steps_share_the_limit_of_a_connection(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        made = await connect(client, **bearer("crm", api.origin, max_concurrent=1))
        assert made["max_concurrent"] == 1
        for wrong in (0, -1, 100_001, 1.5):
            refused = await client.patch("/connections/crm", json={"max_concurrent": wrong})
            assert refused.status_code == 422
        flow = await create(client, REQUEST.format(url="/items", connection="crm"))
        plan = (await client.post(f"/flows/{flow}/dry-run", json={})).json()
        limits = {step["step_id"]: step["connection_limits"] for step in plan["path"]}
        assert limits == {"in": [], "call": [{"name": "crm", "max": 1}], "out": []}
        answering, working = asyncio.Event(), 0

        async def one_at_a_time(_request: Received, writer: asyncio.StreamWriter) -> None:
            nonlocal working
            working += 1
            await answering.wait()
            assert working == 1
            working -= 1
            writer.write(answer(200, "fine", content_type="text/plain"))
            await writer.drain()

        api.on("/items", one_at_a_time)
        start = partial(client.post, f"/flows/{flow}/runs")
        first = (await start(json={"text": "x"})).json()
        await api.received(1)
        others = [asyncio.create_task(start(json={"text": "x", "wait": True})) for _ in range(3)]
        [slot] = (await client.get(f"/flow-runs/{first['id']}/limits")).json()["slots"]
        assert (slot["name"], slot["most"], slot["granted"]) == (f"connection:{made['id']}:crm", 1, True)
        answering.set()
        assert [(await run).json()["status"] for run in others] == ["completed"] * 3
        assert (await client.patch("/connections/crm", json={"max_concurrent": None})).json()["max_concurrent"] is None

    async def test_the_last_use_is_stored(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        api.on("/items", answer(200, "fine", content_type="text/plain"))
        await connect(client, **bearer("crm", api.origin))
        assert (await client.get("/connections/crm")).json()["last_used_at"] is None
        await run_request(client, "/items", "crm")
        assert (await client.get("/connections/crm")).json()["last_used_at"] is not None

    async def test_the_assistant_and_mcp_clients_list_names_only(
        self, app: FastAPI, client: httpx2.AsyncClient
    ) -> None:
        await connect(client, **bearer("crm", "https://api.example.org"))
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        body = {**call, "params": {"name": "list_connections", "arguments": {}}}
        answered = await client.post("http://127.0.0.1:7411/mcp", json=body, headers=headers)
        assert '"crm"' in answered.text.replace("\\", "")
        assert SECRET not in answered.text


@asynccontextmanager
async def line_server(answers: dict[bytes, bytes], greeting: bytes) -> AsyncIterator[int]:
    """A server that answers lines by how they begin."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        while line := await reader.readline():
            reply = next((text for begin, text in answers.items() if begin in line), b"500 what\r\n")
            writer.write(reply.replace(b"TAG", line.split()[0]))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


class TestTestCalls:
    @pytest.mark.parametrize(
        ("status", "ok", "message"),
        [
            (200, True, "The server accepted the credential (200)."),
            (401, False, "The server refused the credential (401)."),
            (404, False, "The test path answered 404."),
            (503, False, "The server answered 503."),
        ],
    )
    async def test_http(self, client: httpx2.AsyncClient, api: WebServer, status: int, ok: bool, message: str) -> None:
        api.on("/me", answer(status, "x"))
        await connect(client, **bearer("crm", api.origin, fields={"url": api.origin, "test_path": "/me"}))
        outcome = (await client.post("/connections/crm/test")).json()
        assert (outcome["ok"], outcome["message"]) == (ok, message)
        stored = (await client.get("/connections/crm")).json()
        assert stored["status"] == ("ready" if ok else "failed")
        assert (stored["error_message"] is None) == ok

    @pytest.mark.parametrize(("reply", "ok"), [(b"235 yes\r\n", True), (b"535 no\r\n", False)])
    async def test_smtp(self, client: httpx2.AsyncClient, reply: bytes, ok: bool) -> None:
        answers = {b"EHLO": b"250-hello\r\n250 AUTH PLAIN\r\n", b"AUTH PLAIN": reply, b"QUIT": b"221 bye\r\n"}
        async with line_server(answers, b"220 mail\r\n") as port:
            fields = {"host": "127.0.0.1", "port": port, "security": "none", "user": "ann"}
            await connect(client, "mail", "smtp", fields=fields, secrets={"password": SECRET})
            assert (await client.post("/connections/mail/test")).json()["ok"] is ok

    @pytest.mark.parametrize(("reply", "ok"), [(b"TAG OK done\r\n", True), (b"TAG NO bad\r\n", False)])
    async def test_imap(self, client: httpx2.AsyncClient, reply: bytes, ok: bool) -> None:
        async with line_server({b"LOGIN": reply, b"LOGOUT": b"TAG OK bye\r\n"}, b"* OK ready\r\n") as port:
            fields = {"host": "127.0.0.1", "port": port, "security": "none", "user": "ann"}
            await connect(client, "box", "imap", fields=fields, secrets={"password": SECRET})
            assert (await client.post("/connections/box/test")).json()["ok"] is ok

    async def test_a_server_that_is_away(self, client: httpx2.AsyncClient) -> None:
        fields = {"host": "127.0.0.1", "port": 9, "database": "crm"}
        await connect(client, "db", "sql", fields=fields, secrets={"password": SECRET})
        outcome = (await client.post("/connections/db/test")).json()
        assert outcome["ok"] is False
        assert "127.0.0.1:9 failed" in outcome["message"]
        assert "server" in outcome["remedy"]
        assert SECRET not in str(outcome)

    async def test_an_address_inside_is_refused(self, client: httpx2.AsyncClient) -> None:
        """The guard holds for every protocol: 169.254.169.254 has the metadata of a cloud."""
        fields = {"host": "169.254.169.254", "port": 5432, "database": "crm"}
        await connect(client, "db", "sql", fields=fields)
        outcome = (await client.post("/connections/db/test")).json()
        assert "are not allowed" in outcome["message"]


class TestSpaces:
    async def test_are_of_the_space_of_the_local_user(self, client: httpx2.AsyncClient) -> None:
        made = await connect(client, **bearer("crm", "https://api.example.org"))
        assert made["space_id"] == LOCAL.space_id
