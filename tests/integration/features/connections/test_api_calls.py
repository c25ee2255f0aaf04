"""Described operations in runs: called with the credential, offered to agents, and real public descriptions."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx2
import pytest

from headgate.components.data.schema_check import problems
from headgate.components.readers.api.reading import read_api
from tests.integration.features.connections.test_apis import CANARY, LIST, changed_document, describe, described
from tests.support.api_documents import ISSUES, as_json
from tests.support.api_server import ApiServer, arguments_of, example
from tests.support.connections import connect, create
from tests.support.web_server import WebServer, answer

REAL = {path.stem: path.read_bytes() for path in sorted((Path(__file__).parents[3] / "data" / "apis").glob("*.json"))}
CALL = """name: Call
nodes:
  call: ApiCall
    connection: tracker
    operation: {operation}
    arguments: {arguments}
  out: ChatOutput
edges:
  call.data -> out.input
"""


async def run_call(client: httpx2.AsyncClient, operation: str, arguments: Any) -> dict[str, Any]:
    """Run a flow with one call."""
    flow = await create(client, CALL.format(operation=json.dumps(operation), arguments=json.dumps(arguments)))
    run: dict[str, Any] = (await client.post(f"/flows/{flow}/runs", json={"text": "x", "wait": True})).json()
    return run


class TestCalls:
    async def test_an_operation_is_called_with_the_credential_of_the_connection(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        body = json.dumps({"items": [{"id": 1, "title": "It fails"}]})
        api.on("/projects/web/issues?state=open", answer(200, body, content_type="application/json"))
        await described(client, api)
        run = await run_call(client, LIST, {"project": "web", "state": "open"})
        assert run["status"] == "completed", run
        (request,) = api.requests
        assert request.headers["authorization"] == f"Bearer {CANARY}"
        assert CANARY not in json.dumps(run)

    async def test_a_server_of_the_description_that_is_no_host_of_the_connection_is_refused(
        self, client: httpx2.AsyncClient, api: WebServer, other: WebServer
    ) -> None:
        document = deepcopy(ISSUES)
        document["paths"]["/projects/{project}/issues"]["get"]["servers"] = [{"url": other.origin}]
        await connect(client, "tracker", "bearer", fields={"url": api.origin}, secrets={"token": CANARY})
        await describe(client, document)
        run = await run_call(client, LIST, {"project": "web"})
        assert run["status"] == "failed"
        assert f"is not used for {other.origin}" in json.dumps(run)
        assert other.requests == []

    async def test_an_operation_that_is_not_described_fails_with_the_nearest(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        await described(client, api)
        run = await run_call(client, "GET /projects/{id}/issues", {})
        assert run["status"] == "failed"
        assert f"did you mean '{LIST}'" in json.dumps(run)

    async def test_a_dry_run_says_what_would_be_called(self, client: httpx2.AsyncClient, api: WebServer) -> None:
        await described(client, api)
        flow = await create(client, CALL.format(operation="POST /projects/{project}/issues", arguments="{}"))
        report = await client.post(f"/flows/{flow}/dry-run", json={"text": "x"})
        assert "Calls the operation POST /projects/{project}/issues of the API" in report.text
        assert api.requests == []

    async def test_a_changed_description_is_refused_as_a_tool_until_it_was_accepted(
        self, client: httpx2.AsyncClient, api: WebServer
    ) -> None:
        await described(client, api)
        await describe(client, changed_document())
        await client.put("/variables/OPENAI_API_KEY", json={"value": "sk-of-no-account"})
        spec = f"""name: Tools
nodes:
  in: ChatInput
  tools: ApiTools
    connection: tracker
    operations: ["{LIST}"]
  agent: Agent
    model: openai/gpt-5-mini
  out: ChatOutput
edges:
  in.message -> agent.input
  tools.tools -> agent.tools
  agent.message -> out.input
"""
        flow = await create(client, spec)
        run = (await client.post(f"/flows/{flow}/runs", json={"text": "x", "wait": True})).json()
        assert "whose description has changed since it was accepted" in json.dumps(run)


class TestRealDescriptions:
    @pytest.mark.parametrize("name", REAL)
    async def test_an_operation_of_a_public_api_is_called(self, client: httpx2.AsyncClient, name: str) -> None:
        description = read_api(REAL[name])
        assert description.skipped_count == 0
        # the server makes values of simple schemas; the response must satisfy its own description
        operation = next(
            known
            for known in description.operations
            if not known.output or not problems(example(known.output, known.output), known.output)
        )
        with ApiServer(operation) as server:
            await connect(client, "tracker", "public_api", fields={"url": server.origin})
            await describe(client, _without_servers(json.loads(REAL[name])))
            run = await run_call(client, operation.key, arguments_of(operation))
            assert run["status"] == "completed", run
            (asked,) = server.asked
        assert "authorization" not in asked.headers
        evidence = await client.get(f"/flow-runs/{run['id']}/evidence")
        assert "differs from its description" not in evidence.text


def _without_servers(document: dict[str, Any]) -> dict[str, Any]:
    """The description without servers of paths and operations, which are not this machine."""
    for item in document["paths"].values():
        for holder in (item, *item.values()):
            if isinstance(holder, dict):
                holder.pop("servers", None)
    return json.loads(as_json(document))  # type: ignore[no-any-return]
