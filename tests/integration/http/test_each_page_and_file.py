"""Flows that run for every page of an API and every file of a folder: the whole application, a server on loopback."""

from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Network
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.features.catalog.gallery import find_recipe
from headgate.foundation.settings import HttpSettings, Settings
from tests.integration.http.conftest import created
from tests.support.scripted_server import Reply, ScriptedServer, json_reply

READ = """name: Read a report
nodes:
  report: FileInput
    field: report
  read: ReadFile
  out: ChatOutput
edges:
  report.file -> read.file
  read.text -> out.input
form:
  report: document
    required: true
  path: text
"""
FOLDER = """name: Read a folder
nodes:
  folder: FolderFiles
    folder: in
    pattern: '**/*.txt'
  each: ForEach
    flow: Read a report
  out: ChatOutput
edges:
  folder.files -> each.items
  each.text -> out.input
"""


GIVEN = FOLDER.replace("Read a folder", "Read what was given").replace(
    "folder: FolderFiles\n    folder: in\n    pattern: '**/*.txt'", "folder: FileInput"
)
COUNT = """name: Add an order
nodes:
  form: FormInput
  add: SelectData
    expression: sum([before, order.amount])
edges:
  form.data -> add.data
form:
  before: json
  order: json
"""
TOTAL = """name: Total of all pages
nodes:
  orders: ForEachPage
    url: {url}/orders
    items: data
    next: next
    flow: Add an order
    item_field: order
    carry: before
    initial: 0
    reduce: last
  out: ChatOutput
edges:
  orders.reduced -> out.input
"""


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    loopback = HttpSettings(allowed_internal_cidrs=[IPv4Network("127.0.0.0/8")])
    made = create_app(settings.model_copy(update={"http": loopback}))
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as found:
        yield found


async def publish(client: httpx2.AsyncClient, spec: str) -> None:
    flow = await created(client, spec)
    answer = await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})
    assert answer.status_code == 200, answer.text


async def run(client: httpx2.AsyncClient, spec: str) -> dict[str, Any]:
    flow = await created(client, spec)
    assert flow["issues"] == []
    answer = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"wait": True})
    found: dict[str, Any] = answer.json()
    assert answer.is_success, answer.text
    return found


class TestEveryPage:
    async def spec(self, client: httpx2.AsyncClient, server: ScriptedServer) -> str:
        await publish(client, find_recipe("expense-check").spec)
        return find_recipe("every-page").spec.replace("https://api.example.org", server.origin)

    async def test_the_template_runs(self, client: httpx2.AsyncClient, server: ScriptedServer) -> None:
        claims = [{"claimant": "Ann Berg", "amount": 12400}, {"claimant": "Bo Ek", "amount": 180}]
        server.script(
            json_reply({"data": claims[:1], "next": "/claims?after=1"}), json_reply({"data": claims[1:], "next": None})
        )
        done = await run(client, await self.spec(client, server))
        assert (done["status"], done["output"]["text"]) == ("completed", "Claims that failed: 0"), done["error"]
        assert [asked.path for asked in server.asked] == ["/claims", "/claims?after=1"]
        step = (await client.get(f"/api/v1/flow-runs/{done['id']}/steps/claims")).json()
        lines = [line for line in step["log"] if line["message"].startswith("Page ")]
        assert [line["details"]["items"] for line in lines] == [1, 1]
        assert all(len(line["details"]["sha256"]) == 64 for line in lines)

    async def test_a_flow_reduces_all_pages_to_one_value(
        self, client: httpx2.AsyncClient, server: ScriptedServer
    ) -> None:
        await publish(client, COUNT)
        server.script(
            json_reply({"data": [{"amount": 1}, {"amount": 2}], "next": "/orders?after=2"}),
            json_reply({"data": [{"amount": 4}], "next": None}),
        )
        done = await run(client, TOTAL.format(url=server.origin))
        assert (done["status"], done["output"]["text"]) == ("completed", "7"), done["error"]

    async def test_the_dry_run_says_what_is_fetched(self, client: httpx2.AsyncClient, server: ScriptedServer) -> None:
        flow = await created(client, await self.spec(client, server))
        ahead = (await client.post(f"/api/v1/flows/{flow['id']}/dry-run", json={})).json()
        assert server.asked == []
        step = next(step for step in ahead["path"] if step["step_id"] == "claims")
        sentence = f"Reads up to 100 pages of {server.origin}/claims and runs the flow 'Expense check' for their items."
        assert sentence in str(step)
        assert server.origin.removeprefix("http://") in {host["host"] for host in ahead["reach"]["hosts"]}

    async def test_a_page_that_is_too_large_fails_the_step(
        self, client: httpx2.AsyncClient, server: ScriptedServer
    ) -> None:
        server.script(Reply((b"[" + b'"x",' * 600_000 + b"1]",)))
        done = await run(client, await self.spec(client, server))
        assert done["status"] == "failed"
        assert "bytes" in done["error"]["message"]


class TestEveryFile:
    async def test_the_file_itself_answers_the_form(self, client: httpx2.AsyncClient) -> None:
        for path, text in {"in/a.txt": "one", "in/deep/b.txt": "two", "other.txt": "three"}.items():
            answer = await client.put(
                "/api/v1/workspace/files/content", params={"path": path, "area": "flows"}, json={"text": text}
            )
            assert answer.is_success, answer.text
        await publish(client, READ)
        done = await run(client, FOLDER)
        assert (done["status"], done["output"]["text"]) == ("completed", "one\n\ntwo"), done["error"]

    async def test_of_the_run_is_an_item(self, client: httpx2.AsyncClient) -> None:
        await publish(client, READ)
        flow = await created(client, GIVEN)
        assert flow["issues"] == []
        ids = []
        for name, content in (("a.txt", b"one"), ("b.txt", b"two")):
            upload = await client.post("/api/v1/files", files={"file": (name, content, "text/plain")})
            ids.append(upload.json()["id"])
        answer = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"file_ids": ids, "wait": True})
        assert answer.json()["output"]["text"] == "one\n\ntwo", answer.text
