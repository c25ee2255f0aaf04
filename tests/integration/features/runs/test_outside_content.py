"""Flows without an injection: content from outside does not keep them from doing what their author wants."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.integration.features.runs.test_injections import READ, READ_EDGES, register, site, wire
from tests.support.injections import Range, agent_flow, answering, calls_then
from tests.support.mcp_server import McpProcess
from tests.support.scripted_server import json_reply

__all__ = ["site", "wire"]
HEARD = "  heard: ChatInput\n"
ALLOW = "    policy:\n      outside_allowlist: [{}]\n"
PAGE = "<html><body><main><h1>Tea</h1><p>Green and black.</p></main></body></html>"


@dataclass(frozen=True)
class Benign:
    """A flow, the calls its model makes, and what the author's server has to be asked."""

    id: str
    nodes: str
    edges: str
    source: str
    calls: Sequence[tuple[str, dict[str, Any]]] = ()
    asked: Sequence[str] = ()
    policy: str = ""
    text: str = "Go."


POST = ("http", {"method": "POST", "url": "OURS/orders", "body": "1 tea"})
SHOP = ("url", {"url": "OURS/shop"})
AGENTS = [
    Benign("sends before it reads", HEARD, "", "heard.text", [POST], ["/orders"]),
    Benign("answers about a file", READ, READ_EDGES, "read.text"),
    Benign("reads a page that was named", HEARD, "", "heard.text", [SHOP], ["/shop"], text="See OURS/shop."),
    Benign(
        "reads two pages that were named",
        HEARD,
        "",
        "heard.text",
        [SHOP, ("url", {"url": "OURS/prices?of=tea"})],
        ["/shop", "/prices?of=tea"],
        text="Compare OURS/shop with OURS/prices?of=tea, please.",
    ),
    Benign("sends with a listed tool", READ, READ_EDGES, "read.text", [POST], ["/orders"], ALLOW.format('"http"')),
    Benign("sends to a listed host", READ, READ_EDGES, "read.text", [POST], ["/orders"], ALLOW.format('"127.0.0.1"')),
    Benign(
        "sends where all is allowed",
        READ,
        READ_EDGES,
        "read.text",
        [POST],
        ["/orders"],
        "    policy:\n      outside_content: allow\n",
    ),
    Benign(
        "calls the author's webhook that is listed",
        READ,
        READ_EDGES,
        "read.text",
        [("hook", {"body": "ready"})],
        ["/hook"],
        ALLOW.format('"hook"'),
    ),
    Benign(
        "reads an address that the author set",
        READ + "  rates: HTTPRequest\n    url: OURS/rates\n",
        READ_EDGES + "  rates.tool -> boss.tools\n",
        "read.text",
        [("rates", {})],
        ["/rates"],
    ),
    Benign(
        "calculates after it read",
        READ + "  sums: Calculator\n",
        READ_EDGES + "  sums.tool -> boss.tools\n",
        "read.text",
        [("calculator", {"expression": "2+3"})],
    ),
    Benign(
        "writes to the workspace after it read",
        READ + "  files: WorkspaceFiles\n",
        READ_EDGES + "  files.tools -> boss.tools\n",
        "read.text",
        [("write_file", {"path": "a.md", "content": "Noted."})],
    ),
]
FIXED = {
    "carries a file to a fixed webhook": (
        "  to: WebhookOut\n    url: OURS/done\n",
        "  read.text -> to.payload\n",
        ["/done"],
    ),
    "fills one segment of a path": (
        "  to: HTTPRequest\n    url: OURS/items/{{read.text}}/price\n",
        "  read.text -> to.body\n",
        ["/items/tea/price"],
    ),
    "fills the query": (
        "  to: HTTPRequest\n    url: OURS/search?q={{read.text}}\n    method: POST\n",
        "  read.text -> to.body\n",
        ["/search?q=tea"],
    ),
    "delivers to a fixed address": (
        "  to: TextInput\n    policy:\n      output_mode: http_post\n      output_config:\n        url: OURS/inbox\n",
        "  read.text -> to.text\n",
        ["/inbox"],
    ),
    "takes its address from the author's own text": (
        "  where: TextInput\n    text: OURS/config\n  to: HTTPRequest\n    method: POST\n",
        "  where.text -> to.url\n  read.text -> to.body\n",
        ["/config"],
    ),
    "chooses an address of a listed host": (
        (
            '  address: CombineText\n    separator: ""\n  where: TextInput\n    text: OURS/pick/\n'
            '  to: URL\n    policy:\n      outside_allowlist: ["127.0.0.1"]\n'
        ),
        "  where.text -> address.parts\n  read.text -> address.parts\n  address.text -> to.url\n",
        ["/pick/tea"],
    ),
    "maps over a list that the author wrote": (
        "  links: TextInput\n    text: OURS/a\n  list: SplitText\n  page: URL\n  to: Map\n  both: CombineText\n",
        (
            "  links.text -> list.text\n  list.chunks -> to.items\n  page.tool -> to.each\n"
            "  to.text -> both.parts\n  read.text -> both.parts\n"
        ),
        ["/a"],
    ),
}


class TestBenignFlows:
    @pytest.fixture(autouse=True)
    def _pages(self, site: Range) -> None:
        site.ours.sort = lambda asked: (
            answering(PAGE, "text/html") if asked.path.startswith(("/shop", "/prices", "/a", "/pick")) else None
        )
        site.ours.script(json_reply({"ok": True}))

    async def test_with_an_agent_pass(self, site: Range) -> None:
        ours = site.ours.origin
        for case in AGENTS:
            spec = agent_flow(ours, nodes=case.nodes, edges=case.edges, source=case.source, policy=case.policy)
            files = [await site.upload("order.txt", b"tea")] if case.nodes.startswith(READ) else []
            site.reset()
            calls = [(name, _ours(arguments, ours)) for name, arguments in case.calls]
            site.openai.sort = calls_then(site.openai, calls)
            run = await site.run(spec.replace("OURS", ours), text=case.text.replace("OURS", ours), files=files)
            assert run["status"] == "completed", f"{case.id}: {run}"
            found = await site.step(run["id"], "boss")
            errors = [call["error"] for call in found["tool_calls"] if "error" in call]
            assert errors == [], f"{case.id}: {errors}"
            assert len(found["tool_calls"]) == len(case.calls), case.id
            assert [one.path for one in site.ours.asked] == list(case.asked), case.id

    async def test_without_an_agent_pass(self, site: Range) -> None:
        for name, (nodes, edges, asked) in FIXED.items():
            spec = f"name: Fixed\nnodes:\n{READ}{nodes}edges:\n{READ_EDGES}{edges}".replace("OURS", site.ours.origin)
            file = await site.upload("order.txt", b"tea")
            site.reset()
            run = await site.run(spec, files=[file])
            assert run["status"] == "completed", f"{name}: {run['error']}"
            for _ in range(100):
                if site.ours.asked:
                    break
                await site.client.get(f"/flow-runs/{run['id']}/steps/to")
            assert [one.path for one in site.ours.asked] == asked, name

    async def test_with_tools_that_read_pass_and_a_listed_one_may_send(self, site: Range, tmp_path: Path) -> None:
        spec = agent_flow(
            site.ours.origin,
            nodes=HEARD + "  mcp: McpTools\n    server: weather\n",
            edges="  mcp.tools -> boss.tools\n",
            source="heard.text",
            policy=ALLOW.format('"weather.send"'),
            tools=False,
        )
        plain = spec.replace(ALLOW.format('"weather.send"'), "")
        note, send = ("weather__note", {"text": "one"}), ("weather__send", {"to": "a@example.org", "text": "b"})
        with McpProcess(tmp_path / "tally", "notes") as server:
            await register(site, server)
            for flow, calls in ((plain, [note, note]), (plain, [send]), (spec, [note, send])):
                site.reset()
                site.openai.sort = calls_then(site.openai, calls)
                run = await site.run(flow)
                found = await site.step(run["id"], "boss")
                assert ["error" in call for call in found["tool_calls"]] == [False] * len(calls)
            assert server.calls() == ["send a@example.org b"] * 2


def _ours(arguments: dict[str, Any], ours: str) -> dict[str, Any]:
    return {name: value.replace("OURS", ours) for name, value in arguments.items()}
