"""Dry runs over the API: what is told, and that nothing else happens."""

import asyncio
import hashlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from sqlalchemy import text

from headgate.entrypoints.http.app import create_app
from headgate.foundation.database import Database
from headgate.foundation.settings import ClassificationSettings, Settings
from tests.integration.http.conftest import created

FLOW = """name: Complaints
form:
  subject: text
    required: true
nodes:
  page: URL
    url: https://example.org/news
  ask: FormInput
  sort: If
    operator: contains
    compare: refund
  brief: AIStep
    prompt: Write an answer to {{flow_input.subject}}.
    model: openai/gpt-5-mini
    policy:
      input_bindings: {"system": "{{page.text}}"}
  both: CombineText
  send: WebhookOut
    url: https://hooks.example.org/x
    secret: {"secret": "HOOK_SECRET"}
    headers: {"authorization": {"secret": "HOOK_TOKEN", "scheme": "Bearer"}, "x-kind": "letter"}
edges:
  page.text -> sort.value
  sort.true -> brief.input
  brief.output -> both.parts
  ask.text -> both.parts
  both.text -> send.payload
"""


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    made = create_app(settings)
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as found:
        yield found


async def look(client: httpx2.AsyncClient, flow_id: str, **start: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/v1/flows/{flow_id}/dry-run", json=start)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


class TestDryRun:
    async def test_tells_the_path_with_what_is_certain(self, client: httpx2.AsyncClient) -> None:
        found = await look(client, (await created(client, FLOW))["id"])
        assert {one["step_id"]: one["runs"] for one in found["path"]} == {
            "page": "certain", "ask": "certain", "sort": "certain", "brief": "possible",
            "both": "certain", "send": "certain",
        }  # fmt: skip
        assert [one["order"] for one in found["path"]] == [1, 2, 3, 4, 5, 6]
        inputs = {one["step_id"]: {of["field"]: of["source"] for of in one["inputs"]} for one in found["path"]}
        assert inputs["both"] == {"parts": "brief.output, ask.text"}
        assert inputs["brief"] == {
            "input": "sort.true", "system": "{{page.text}}", "prompt": "{{flow_input.subject}}",
        }  # fmt: skip
        assert found["version"] is None
        assert found["totals"]["steps"] == 6
        assert found["totals"]["certain_steps"] == 5

    async def test_tells_what_is_missing_and_what_would_be_reached(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, FLOW)
        found = await look(client, flow["id"])
        assert not found["ok"]
        told = {one["code"]: one for one in found["findings"]}
        assert "OPENAI_API_KEY" in told["model_not_usable"]["message"]
        assert told["model_not_usable"]["node"] == "brief"
        missing = [one["message"] for one in found["findings"] if one["code"] == "variable_not_found"]
        assert sorted(missing) == [
            f"'{field}' of node 'send' (WebhookOut) uses the variable {name}, which is not set."
            for field, name in (("headers", "HOOK_TOKEN"), ("secret", "HOOK_SECRET"))
        ]
        for name in ("OPENAI_API_KEY", "HOOK_SECRET", "HOOK_TOKEN"):
            await client.put(f"/api/v1/variables/{name}", json={"value": "sk-secret-value"})
        found = await look(client, flow["id"], form_data={"subject": "A bill"})
        assert found["ok"], found["findings"]
        hosts = [(one["step_id"], one["host"], one["purpose"]) for one in found["reach"]["hosts"]]
        assert hosts == [
            ("page", "example.org", "component"),
            ("brief", "api.openai.com", "model"),
            ("send", "hooks.example.org", "component"),
        ]
        assert {(one["name"], one["known"]) for one in found["reach"]["secrets"]} == {
            ("OPENAI_API_KEY", True), ("HOOK_SECRET", True), ("HOOK_TOKEN", True),
        }  # fmt: skip
        assert "sk-secret-value" not in str(found)

    async def test_estimates_no_more_than_it_knows(self, client: httpx2.AsyncClient) -> None:
        spec = "nodes:\n  a: AIStep\n    prompt: {words}\n    model: openai/gpt-5-mini\n    policy:\n      {rule}\n"
        flow = await created(client, spec.format(words="x" * 400, rule="input_source: flow_input"))
        found = await look(client, flow["id"], text="y" * 40)
        (model,) = found["path"][0]["models"]
        assert model["tokens_input_at_least"] == 110
        assert model["cost_usd_at_least"] == pytest.approx(110 * model["price_in"] / 1_000_000)
        assert found["totals"]["tokens_input_at_least"] == 110

    async def test_counts_what_is_certain_and_forgets_what_is_disabled(self, client: httpx2.AsyncClient) -> None:
        await client.put("/api/v1/variables/OPENAI_API_KEY", json={"value": "sk"})
        model = "AIStep\n    prompt: {words}\n    model: openai/gpt-5-mini\n"
        spec = (
            f"nodes:\n  ask: ChatInput\n  way: If\n    compare: yes\n  a: {model}  b: {model}"
            "    policy:\n      disabled: skip\n  hold: Wait\n    policy:\n      disabled: pass_through\n"
            "edges:\n  ask.text -> way.value\n  way.true -> a.input\n  ask.text -> b.input\n"
            "  ask.text -> hold.value\n"
        )
        found = await look(client, (await created(client, spec.format(words="x" * 400)))["id"])
        runs = {step["step_id"]: (step["runs"], len(step["models"]), step["waits_for"]) for step in found["path"]}
        assert (runs["a"], runs["b"], runs["hold"]) == (("possible", 1, None), ("never", 0, None), ("never", 0, None))
        assert (found["totals"]["tokens_input_at_least"], found["totals"]["model_steps"]) == (0, 1)
        assert [host["step_id"] for host in found["reach"]["hosts"]] == ["a"]

    async def test_checks_the_input_that_is_given(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, FLOW)
        codes = {one["code"] for one in (await look(client, flow["id"], form_data={"subjct": "x"}))["findings"]}
        assert "run_input_invalid" in codes
        codes = {one["code"] for one in (await look(client, flow["id"], file_ids=["nothing"]))["findings"]}
        assert "file_not_found" in codes or "not_found" in codes

    async def test_says_what_a_model_cannot_do(self, client: httpx2.AsyncClient) -> None:
        await client.put("/api/v1/variables/GROQ_API_KEY", json={"value": "gsk"})
        models = (await client.get("/api/v1/models")).json()
        blind = next(one for one in models if not one["vision"] and one["provider"] == "groq")
        spec = (
            f"nodes:\n  a: AIStep\n    prompt: x\n    model: groq/{blind['name']}\n"
            "    policy:\n      input_source: flow_input\n      input_type: image\n"
        )
        found = await look(client, (await created(client, spec))["id"])
        assert [one["severity"] for one in found["findings"] if one["code"] == "model_cannot"] == ["error"]

    async def test_looks_at_a_flow_with_faults_too(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, "nodes:\n  a: AIStep\n    model: openai/x\n")
        found = await look(client, flow["id"])
        assert {one["code"] for one in found["findings"]} >= {"missing_value", "model_not_usable"}
        assert [one["step_id"] for one in found["path"]] == ["a"]

    async def test_looks_at_versions(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client)
        refused = await client.post(f"/api/v1/flows/{flow['id']}/dry-run", json={"version": "published"})
        assert refused.json()["code"] == "version_not_found"
        await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})
        assert (await look(client, flow["id"], version="published"))["version"] == 1
        assert (await look(client, flow["id"], version=1))["ok"]
        assert (await client.post("/api/v1/flows/nothing/dry-run")).status_code == 404

    async def test_tells_classes(self, settings: Settings) -> None:
        app = create_app(settings.model_copy(update={"classification": ClassificationSettings(enabled=True)}))
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411") as client,
        ):
            await client.put("/api/v1/model-classes/openai/gpt-5-mini", json={"level": 3})
            found = await look(client, (await created(client, FLOW))["id"])
        classes = {one["step_id"]: one["classification"]["name"] for one in found["path"]}
        assert classes["page"] == "K0 public"
        assert classes["brief"] == "K3 secret"
        (refused,) = [one for one in found["findings"] if one["code"] == "classification"]
        assert refused["node"] == "send"


OUTWARD = frozenset(
    {"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind", "subprocess.Popen", "os.exec", "os.fork"}
)


class _Watch:
    """What this process does to the outside while it is looked at."""

    def __init__(self) -> None:
        self.on = False
        self.seen: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event.startswith(
            ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind", "subprocess.", "os.exec")
        ):
            self.seen.append(f"{event} {arguments[1:]}")
        elif event == "open" and _writes(arguments):
            self.seen.append(f"open {arguments[0]} {arguments[1]} {arguments[2]}")
        elif event in {"os.remove", "os.rename", "os.mkdir", "os.link", "os.symlink", "os.truncate", "shutil.copyfile"}:
            self.seen.append(f"{event} {arguments}")


def _writes(arguments: tuple[Any, ...]) -> bool:
    _, mode, flags = arguments
    return any(letter in str(mode or "") for letter in "wax+") or bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


WATCH = _Watch()
sys.addaudithook(WATCH)  # there is no way to take a hook away again; it sleeps outside `watched`


@contextmanager
def watched() -> Iterator[list[str]]:
    """The sockets opened, programs started and files written in a piece of work."""
    WATCH.seen, WATCH.on = [], True
    try:
        yield WATCH.seen
    finally:
        WATCH.on = False


async def rows(database: Database) -> dict[str, int]:
    """How many rows each table has, but that in which a process says now and then which keys it has."""
    async with database.reading() as session:
        if database.engine.dialect.name == "sqlite":
            names = await session.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'"))
        else:
            names = await session.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"))
        return {
            name: (await session.execute(text(f'SELECT count(*) FROM "{name}"'))).scalar_one()
            for (name,) in names.all()
            if name != "key_readers"
        }


def contents(folder: Path) -> dict[str, str]:
    """The hash of each file; the database's shared memory, which readers use as well, is left out."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith("-shm")
    }


class TestNoSideEffect:
    async def test_no_socket_no_model_no_file_and_no_row(
        self, client: httpx2.AsyncClient, app: FastAPI, settings: Settings
    ) -> None:
        """With everything a run would reach in reach: keys, addresses, tools, a local model's name."""
        for name in ("OPENAI_API_KEY", "HOOK_SECRET", "HOOK_TOKEN"):
            await client.put(f"/api/v1/variables/{name}", json={"value": "sk-secret"})
        flow = await created(client, FLOW)
        more = await created(
            client,
            "nodes:\n  tool: HTTPRequest\n  here: LanguageModel\n    model: ollama/llama\n  at: Agent\n    input: Go\n"
            "  fetch: ParseJSON\n    policy:\n      input_source: http_get\n"
            '      input_config: {"url": "http://127.0.0.1:9/x"}\n'
            "edges:\n  at.response -> fetch.text\n  tool.tool -> at.tools\n  here.model -> at.model\n",
        )
        database: Database = app.state.database
        await look(client, flow["id"])  # what is read once is read: modules, templates
        await look(client, more["id"])
        on_sqlite = database.engine.dialect.name == "sqlite"
        before, files = await rows(database), contents(settings.data_dir)
        with watched() as seen:
            first = await look(client, flow["id"], form_data={"subject": "x"}, text="y")
            second = await look(client, more["id"])
        if not on_sqlite:  # its own database is behind a socket
            seen = [one for one in seen if not one.startswith("socket.connect")]
        assert seen == []
        assert await rows(database) == before
        assert contents(settings.data_dir) == files
        assert first["ok"]
        assert len(second["path"]) == 2

    async def test_the_watch_sees_what_a_run_does(self, client: httpx2.AsyncClient, app: FastAPI) -> None:
        """The other test can fail."""
        flow = await created(client)
        database: Database = app.state.database
        before = await rows(database)
        with watched() as seen:
            await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": "x", "wait": True})
            await asyncio.to_thread(Path(app.state.settings.data_dir, "x").write_text, "x")
        assert any(one.startswith("open") for one in seen)
        assert await rows(database) != before
