"""A flow with a call of a described API, built by the assistant in one request and run against the API."""

import json
from collections.abc import AsyncIterator, Iterator

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import Settings
from tests.integration.agents.assistant.test_assist import KEY, MODEL
from tests.integration.features.connections.conftest import LOOPBACK
from tests.support.api_documents import ISSUES, as_json
from tests.support.intents import IntentAnswers
from tests.support.openai_server import OpenAIServer
from tests.support.web_server import WebServer, answer, web_server

LIST = "GET /projects/{project}/issues"
SPEC = f"""name: Open issues
nodes:
  list: ApiCall
    connection: tracker
    operation: {LIST}
    arguments: {{"project": "web", "state": "open"}}
  titles: SelectData
    expression: items[].title
  out: ChatOutput
edges:
  list.data -> titles.data
  titles.data -> out.input
"""


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    """A model server whose answers are scripted."""
    with OpenAIServer() as server:
        IntentAnswers(server)
        yield server


@pytest.fixture
async def api() -> AsyncIterator[WebServer]:
    """The tracker."""
    async with web_server() as server:
        yield server


@pytest.fixture
async def client(settings: Settings, openai: OpenAIServer) -> AsyncIterator[httpx2.AsyncClient]:
    app: FastAPI = create_app(settings.model_copy(update={"http": LOOPBACK}))
    async with app.router.lifespan_context(app):
        async with app.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(session, LOCAL, app.state.box, name=name, value=SecretStr(value))
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411", timeout=60) as session:
            yield session


class TestOneRequest:
    async def test_finds_the_operation_and_builds_a_flow_that_calls_it(
        self, client: httpx2.AsyncClient, openai: OpenAIServer, api: WebServer
    ) -> None:
        body = json.dumps({"items": [{"id": 1, "title": "It fails"}]})
        api.on("/projects/web/issues?state=open", answer(200, body, content_type="application/json"))
        added = {"name": "tracker", "kind": "public_api", "fields": {"url": api.origin}}
        assert (await client.post("/api/v1/connections", json=added)).status_code == 201
        described = {"content": as_json(ISSUES).decode()}
        assert (await client.put("/api/v1/connections/tracker/api", json=described)).status_code == 200
        openai.script(
            openai.tool_call("more_tools", {"group": "services"}),
            openai.tool_call("list_connections", {}),
            openai.tool_call("search_api_operations", {"connection": "tracker", "query": "issues"}),
            openai.tool_call("read_api_operation", {"connection": "tracker", "operation": LIST}),
            openai.tool_call("build_flow", {"spec": SPEC}),
            openai.text("It lists the titles of open issues."),
        )
        request = MODEL | {"input_value": "list the open issues of the project web", "apply": True}
        answered = (await client.post("/api/v1/agentic/assist", json=request)).json()
        assert answered["saved"] is True, json.dumps(answered)
        run = await client.post(f"/api/v1/flows/{answered['flow_id']}/runs", json={"text": "x", "wait": True})
        assert run.json()["status"] == "completed", run.text
        assert "It fails" in run.json()["text"]
        assert [request.path for request in api.requests] == ["/projects/web/issues?state=open"]
        seen = json.dumps([asked.body for asked in openai.asked])
        assert f"{LIST}" in seen
        assert "tracker" in seen
