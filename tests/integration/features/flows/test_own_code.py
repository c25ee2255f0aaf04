"""Flows with own components, from code to a finished run: the real sandbox, the real engine, over HTTP."""

import textwrap
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from headgate.entrypoints.access_control import AccessControl
from headgate.entrypoints.compose import Parts, open_parts
from headgate.entrypoints.http.state import Served, ServedState
from headgate.features.access.principal import LOCAL, Principal
from headgate.features.catalog.own.routes import router as own_components_router
from headgate.features.flows.code_routes import router as flow_code_router
from headgate.features.flows.routes import router as flows_router
from headgate.features.runs.reruns.routes import router as reruns_router
from headgate.features.runs.routes import router as runs_router
from headgate.foundation.settings import HttpSettings, SandboxSettings, Settings
from headgate.sandbox.report import probe
from tests.support.api import api
from tests.support.databases import SqliteFiles, make_settings
from tests.support.own_code import REVERSE, REVERSE_SPEC, component
from tests.support.tenants import add_tenant
from tests.support.web_server import answer, web_server

pytestmark = pytest.mark.skipif(bool(probe().missing), reason="own code is refused where it cannot be isolated")
Client = httpx2.AsyncClient
ROUTERS = (own_components_router, flow_code_router, flows_router, runs_router, reruns_router)


@asynccontextmanager
async def as_(parts: Parts, principal: Principal = LOCAL) -> AsyncIterator[Client]:
    async with api(
        *ROUTERS, principal=principal, served=ServedState(parts, Served(parts), AccessControl(parts))
    ) as found:
        yield found


@pytest.fixture
async def parts(sqlite_files: SqliteFiles, tmp_path: Path) -> AsyncIterator[Parts]:
    sqlite_files.fresh(tmp_path)
    async with open_parts(make_settings(tmp_path)) as found:
        yield found


@pytest.fixture
async def client(parts: Parts) -> AsyncIterator[Client]:
    async with as_(parts) as found:
        yield found


def spec_of(code: str = REVERSE) -> str:
    return REVERSE_SPEC.format(code=textwrap.indent(code.rstrip(), " " * 6))


def flow_of(code: str, *, edges: Sequence[str] = (), **params: Any) -> dict[str, Any]:
    """A flow of one own component called Sample, its output `said` shown."""
    ends = [dict(zip(("source", "output", "target", "input"), edge.split(), strict=True)) for edge in edges]
    nodes = [{"id": "own", "type": "Sample", "code": code, "params": params}, {"id": "said", "type": "ChatOutput"}]
    if edges:
        nodes.append({"id": "heard", "type": "ChatInput"})
    shown = {"source": "own", "output": "said", "target": "said", "input": "input"}
    return {"name": "Own", "nodes": nodes, "edges": [shown, *ends]}


async def ok(client: Client, path: str, **body: Any) -> dict[str, Any]:
    answered = await client.post(path, json=body)
    assert answered.status_code < 300, answered.text
    found: dict[str, Any] = answered.json()
    return found


async def checked_flow(client: Client, definition: dict[str, Any]) -> str:
    flow = await ok(client, "/flows", definition=definition)
    found = await ok(client, f"/flows/{flow['id']}/components/check")
    assert all(one["ok"] for one in found["items"]), found
    return str(flow["id"])


async def run(client: Client, flow_id: str, **body: Any) -> dict[str, Any]:
    return await ok(client, f"/flows/{flow_id}/runs", wait=True, **body)


class TestAFlowWithAnOwnComponent:
    async def test_lives_like_any_other(self, settings: Settings) -> None:
        async with open_parts(settings) as parts, AsyncExitStack() as stack:
            client = await stack.enter_async_context(as_(parts))
            found = await ok(client, "/components/check", code=REVERSE)
            assert (found["ok"], found["type"], found["manifest"]["hosts"]) == (True, "ReverseText", [])

            flow = await ok(client, "/flows", spec=spec_of())
            assert flow["issues"] == []
            await ok(client, f"/flows/{flow['id']}/publish")
            ran = await run(client, flow["id"], text="abc", version="published")
            assert (ran["status"], ran["text"]) == ("completed", "cba!")
            graph = (await client.get(f"/flows/{flow['id']}/graph")).json()
            assert {one["id"]: one["badges"] for one in graph["nodes"]}["back"] == ["own_code"]
            looked = await ok(client, f"/flows/{flow['id']}/dry-run")
            assert (looked["ok"], [one["step_id"] for one in looked["path"]]) == (True, ["heard", "back", "said"])
            again = await ok(client, f"/flow-runs/{ran['id']}/rerun", from_step="back", text="xyz", wait=True)
            assert again["text"] == "zyx!"

            exported = (await client.get(f"/flows/{flow['id']}/export?format=spec")).json()["content"]
            other = await add_tenant(parts.database, "Other")
            theirs = await stack.enter_async_context(as_(parts, other))
            taken = await ok(theirs, "/flows/import", content=exported)
            assert [one["code"] for one in taken["issues"]] == ["unchecked_code"]
            refused = await theirs.post(f"/flows/{taken['id']}/runs", json={"wait": True})
            assert (refused.status_code, refused.json()["code"]) == (422, "flow_invalid")
            checked = await ok(theirs, f"/flows/{taken['id']}/components/check")
            assert [(one["nodes"], one["ok"]) for one in checked["items"]] == [(["back"], True)]
            assert (await ok(theirs, f"/flows/{taken['id']}/components/check")) == {"items": [], "known": 1}
            assert (await run(theirs, taken["id"], text="abc"))["text"] == "cba!"

    async def test_tells_what_changed_in_its_code(self, client: Client) -> None:
        await ok(client, "/components/check", code=REVERSE)
        flow = await ok(client, "/flows", spec=spec_of())
        await ok(client, f"/flows/{flow['id']}/publish")
        changed = REVERSE.replace("turning", "now turning")
        await ok(client, "/components/check", code=changed)
        definition = (await client.get(f"/flows/{flow['id']}")).json()["definition"]
        definition["nodes"][1]["code"] = changed
        saved = await client.patch(f"/flows/{flow['id']}/draft", json={"revision": 1, "definition": definition})
        assert saved.json()["issues"] == []
        told = (await client.get(f"/flows/{flow['id']}/versions/1..draft")).json()
        assert not told["identical"]
        assert any("code" in line and "back" in line for line in told["lines"]), told["lines"]

    async def test_leaves_an_entry_in_the_audit_log_when_its_code_is_checked_first(
        self, client: Client, parts: Parts
    ) -> None:
        flow = await ok(client, "/flows", spec=spec_of())
        for path, body in ((f"/flows/{flow['id']}/components/check", {}), ("/components/check", {"code": REVERSE})):
            await ok(client, path, **body)
        async with parts.database.reading() as session:
            entries = await session.execute(text("SELECT payload FROM audit_events WHERE action = 'component.checked'"))
        [entry] = entries.scalars().all()
        assert "ReverseText" in str(entry)

    async def test_is_refused_with_code_that_was_changed_and_not_checked(self, client: Client) -> None:
        flow_id = await checked_flow(client, flow_of(component("@output()\ndef said(self) -> Text:\n    return 'a'")))
        changed = flow_of(component("@output()\ndef said(self) -> Text:\n    return 'b'"))
        saved = await client.patch(f"/flows/{flow_id}/draft", json={"revision": 1, "definition": changed})
        assert [one["code"] for one in saved.json()["issues"]] == ["unchecked_code"]
        assert (await client.post(f"/flows/{flow_id}/publish", json={})).status_code == 422

    async def test_does_not_run_unsafe_code_however_it_came(self, client: Client) -> None:
        code = component("import os\n@output()\ndef said(self) -> Text:\n    return os.environ['SECRET']")
        flow = await ok(client, "/flows", definition=flow_of(code))
        refused = (await client.post(f"/flows/{flow['id']}/runs", json={"wait": True})).json()
        assert refused["detail"].startswith("Refused to run: unsafe component code detected")
        assert "node 'own' (Sample), line 10: 'os.environ'" in refused["detail"]
        assert [one["line"] for one in refused["findings"]] == [10]

    async def test_shows_the_line_in_which_its_code_failed(self, client: Client) -> None:
        code = component("text: str = field(default='')\n@output()\ndef said(self) -> Text:\n    return {}[self.text]")
        flow_id = await checked_flow(client, flow_of(code.replace("{}[", "{'': 'x'}["), text="no"))
        ran = await run(client, flow_id)
        assert ran["status"] == "failed"
        assert "KeyError: 'no' (line 10:" in ran["steps"][0]["error"]["message"]

    async def test_gives_several_outputs_in_one_call_and_leaves_branches_untaken(self, client: Client) -> None:
        code = component(
            "text: str = field()\n_calls: list = PrivateAttr(default_factory=list)\n"
            "def _count(self) -> str:\n    self._calls.append(1)\n    return str(len(self._calls))\n"
            "@output()\ndef said(self) -> Text:\n    return self._count()\n"
            "@output()\ndef more(self) -> Text:\n    return self._count()\n"
            "@output(branch=True)\ndef never(self) -> Text:\n    return NOT_TAKEN",
            "from pydantic import PrivateAttr\n",
        )
        made = flow_of(code, edges=["heard text own text"])
        made["nodes"] += [{"id": name, "type": "ChatOutput"} for name in ("second", "third")]
        made["edges"] += [
            {"source": "own", "output": "more", "target": "second", "input": "input"},
            {"source": "own", "output": "never", "target": "third", "input": "input"},
        ]
        ran = await run(client, await checked_flow(client, made), text="x")
        by_step = {one["step_id"]: one for one in ran["steps"]}
        assert sorted(ran["output"]["outputs"][one]["text"] for one in ("said", "second")) == ["1", "2"]
        assert by_step["third"]["status"] == "skipped"

    async def test_works_on_files_and_makes_some(self, client: Client) -> None:
        code = component(
            "text: str = field()\n@output()\nasync def said(self) -> File:\n"
            "    return await self.ctx.files.save('up.txt', self.text.upper().encode(), 'text/plain')",
            "from headgate.sdk import File\n",
        )
        made = flow_of(code, edges=["heard text own text"])
        made["nodes"][1] = {"id": "said", "type": "ReadFile"}
        made["edges"][0]["input"] = "file"
        ran = await run(client, await checked_flow(client, made), text="abc")
        assert (ran["status"], ran["text"]) == ("completed", "ABC"), ran

    async def test_is_what_a_map_does_with_each_item(self, client: Client) -> None:
        code = component(
            "text: str = field(tool_mode=True)\nmark: str = field(default='!')\n@output()\n"
            "def said(self) -> Text:\n    return self.text[::-1] + self.mark"
        )
        made: dict[str, Any] = {
            "name": "Each",
            "nodes": [
                {"id": "own", "type": "Sample", "code": code},
                {"id": "each", "type": "Map", "params": {"items": ["ab", "cd"]}},
                {"id": "said", "type": "ChatOutput"},
            ],
            "edges": [
                {"source": "own", "output": "tool", "target": "each", "input": "each"},
                {"source": "each", "output": "text", "target": "said", "input": "input"},
            ],
        }
        assert (await run(client, await checked_flow(client, made)))["text"] == "ba!\n\ndc!"

    async def test_reaches_the_servers_that_it_names_where_the_operator_allows_them(
        self, sqlite_files: SqliteFiles, tmp_path: Path
    ) -> None:
        async with web_server() as server:
            server.on("/page", answer(200, "hello", content_type="text/plain"))
            place = f"127.0.0.1:{server.port}"
            code = component(
                f"hosts: ClassVar = ('{place}',)\n@output()\nasync def said(self) -> Text:\n"
                f"    return (await self.ctx.http.request('GET', 'http://{place}/page')).text",
                "from typing import ClassVar\n",
            )
            answers = {}
            for folder, hosts in (("closed", []), ("open", [place])):
                sqlite_files.fresh(tmp_path / folder)
                settings = make_settings(
                    tmp_path / folder,
                    http=HttpSettings(allowed_internal_cidrs=["127.0.0.0/8"]),
                    sandbox=SandboxSettings(hosts=hosts),
                )
                async with open_parts(settings) as parts, as_(parts) as client:
                    flow_id = await checked_flow(client, flow_of(code))
                    looked = await ok(client, f"/flows/{flow_id}/dry-run")
                    assert [one["host"] for one in looked["reach"]["hosts"]] == [place]
                    answers[folder] = await run(client, flow_id)
        assert (answers["open"]["status"], answers["open"]["text"]) == ("completed", "hello")
        assert answers["closed"]["status"] == "failed"
        assert len(server.seen("/page")) == 1
