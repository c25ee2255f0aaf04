"""A secret that a server or a model gives back is nowhere, on both databases: not stored, streamed, shown or logged."""

import base64
import html
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi import FastAPI
from pypdf import PdfReader
from sqlalchemy import MetaData, select

from headgate.entrypoints.http.app import create_app
from headgate.foundation.database import Database
from headgate.foundation.secret_values import REDACTED
from headgate.foundation.settings import HttpSettings, Settings
from tests.support.openai_server import OpenAIServer
from tests.support.web_server import WebServer, answer, web_server

TOKEN = "the/organisations-own+token=0123456789"
MODEL_KEY = "house-model-key-0123456789abcdef"
FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": json.dumps,
    "URL": lambda value: quote(value, safe=""),
    "HTML": html.escape,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "basic": lambda value: base64.b64encode(f"anna:{value}".encode()).decode(),
    "hex": lambda value: value.encode().hex(),
}
ECHO = {"content_type": "text/plain; charset=utf-8", "x_echo": TOKEN}
FLOW = """name: Echo
nodes:
  call: {component}
    url: {url}
    headers:
      X-Key: {{"secret": "OUR_TOKEN"}}
{more}
  keep: SaveFile
    name: echo.txt
  said: ChatOutput
edges:
  call.{output} -> keep.content
  call.{output} -> said.input
"""
ASK = """name: Ask
nodes:
  heard: ChatInput
  brief: AIStep
    prompt: Say it.
    model: openai/gpt-5-mini
  said: ChatOutput
edges:
  heard.text -> brief.input
  brief.output -> said.input
"""


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with web_server() as found:
        yield found


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as found:
        yield found


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[FastAPI]:
    made = create_app(
        settings.model_copy(update={"http": HttpSettings(allowed_internal_cidrs=[ip_network("127.0.0.0/8")])})
    )
    async with made.router.lifespan_context(made):
        yield made


@pytest.fixture
async def client(app: FastAPI, openai: OpenAIServer) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080/api/v1") as made:
        for name, value in (("OUR_TOKEN", TOKEN), ("OPENAI_API_KEY", MODEL_KEY)):
            assert (await made.put(f"/variables/{name}", json={"value": value})).status_code == 200
        plain = {"value": openai.base_url, "secret": False}
        assert (await made.put("/variables/OPENAI_BASE_URL", json=plain)).status_code == 200
        yield made


@dataclass(frozen=True)
class Place:
    """The application with a client, its database and its files."""

    client: httpx2.AsyncClient
    database: Database
    data_dir: Path

    async def run(self, spec: str) -> dict[str, Any]:
        made = await self.client.post("/flows", json={"spec": spec})
        assert made.status_code == 201, made.text
        done = await self.client.post(f"/flows/{made.json()['id']}/runs", json={"text": "x", "wait": True})
        return {"flow": made.json()["id"], **done.json()}

    async def everything(self, done: dict[str, Any]) -> str:
        """All that can be read of a run, each row of the database, and each stored file."""
        run_id, flow_id = done["id"], done["flow"]
        shown = [json.dumps(done)]
        steps = (await self.client.get(f"/flow-runs/{run_id}/evidence")).json()["step_results"]
        for path in (
            "/flow-runs", "/flows", "/audit", f"/flows/{flow_id}/export", f"/flow-runs/{run_id}",
            *(f"/flow-runs/{run_id}/{part}" for part in ("events", "evidence", "text", "deliveries")),
            *(f"/flow-runs/{run_id}/steps/{step['step_id']}" for step in steps),
        ):  # fmt: skip
            found = await self.client.get(path)
            assert found.status_code == 200 or (path.endswith("/text") and done["status"] == "failed"), found.text
            shown.append(found.text)
        async with self.database.reading() as session:
            connection = await session.connection()
            tables = await connection.run_sync(_tables)
            for table in tables.sorted_tables:
                rows = (await session.execute(select(table))).all()
                shown.append("\n".join(str(tuple(row)) for row in rows))
        for path in (f"/flow-runs/{run_id}/report", f"/flows/{flow_id}/report"):
            found = await self.client.get(path)
            assert found.status_code == 200, found.text
            shown += [_one_line(page.extract_text()) for page in PdfReader(io.BytesIO(found.content)).pages]
        picture = await self.client.get(f"/flows/{flow_id}/picture", params={"run_id": run_id})
        assert picture.status_code == 200, picture.text
        shown.append(picture.text)
        files = [file for file in (self.data_dir / "files").rglob("*") if file.is_file()]
        shown += [file.read_bytes().decode("utf-8", "replace") for file in files]
        return "\n".join(shown)


@pytest.fixture
def place(app: FastAPI, client: httpx2.AsyncClient, settings: Settings) -> Place:
    return Place(client, app.state.database, settings.data_dir)


def _tables(connection: Any) -> MetaData:
    found = MetaData()
    found.reflect(connection)
    return found


def _one_line(text: str) -> str:
    """The text of a page without the line breaks that its width makes, at which a value would be split."""
    return text.replace("\n", "")


def written(value: str) -> Iterator[str]:
    for way in FORMS.values():
        yield way(value)
        yield way(value).strip('"').rstrip("=")


class TestEchoes:
    @pytest.mark.parametrize("form", FORMS)
    async def test_of_a_server_appear_nowhere(
        self, place: Place, server: WebServer, form: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        server.anything = answer(200, f"you sent {FORMS[form](TOKEN)}, thanks", **ECHO)
        done = await place.run(FLOW.format(component="HTTPRequest", url=server.url("/"), more="", output="text"))
        assert (done["status"], done["text"]) == ("completed", done["text"].replace(TOKEN, ""))
        assert REDACTED in done["text"]
        assert server.requests[0].headers["x-key"] == TOKEN
        out = "".join(capfd.readouterr())
        shown = await place.everything(done) + out
        assert [text for text in written(TOKEN) if text in shown] == []

    @pytest.mark.parametrize("component", ["HTTPRequest", "WebhookOut"])
    async def test_in_an_error_appear_nowhere(
        self, place: Place, server: WebServer, component: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        server.anything = answer(403, "x" * 180 + TOKEN, **ECHO)
        output, more = ("text", "") if component == "HTTPRequest" else ("response", "    on_error: fail")
        done = await place.run(FLOW.format(component=component, url=server.url("/"), more=more, output=output))
        assert done["status"] == "failed"
        shown = await place.everything(done) + "".join(capfd.readouterr())
        assert [text for text in written(TOKEN) if text in shown] == []
        assert TOKEN[:12] not in shown

    async def test_of_a_model_appear_nowhere_though_the_value_is_split(
        self, place: Place, openai: OpenAIServer, capfd: pytest.CaptureFixture[str]
    ) -> None:
        openai.script(openai.pieces("My key is ", MODEL_KEY[:9], MODEL_KEY[9:20], f"{MODEL_KEY[20:]}. ", "Bye."))
        done = await place.run(ASK)
        assert openai.asked[0].headers["authorization"] == f"Bearer {MODEL_KEY}"
        assert (done["status"], done["text"]) == ("completed", f"My key is {REDACTED}. Bye.")
        shown = await place.everything(done) + "".join(capfd.readouterr())
        assert [text for text in written(MODEL_KEY) if text in shown] == []
        assert MODEL_KEY[:9] not in shown
