"""Connections in tests: adding one, and running a request with it."""

from typing import Any

import httpx2

REQUEST = """name: Request
nodes:
  in: ChatInput
  call: HTTPRequest
    url: {url}
    connection: {connection}
  out: ChatOutput
edges:
  call.text -> out.input
  in.text -> call.body
"""


async def connect(client: httpx2.AsyncClient, name: str, kind: str, **members: Any) -> dict[str, Any]:
    """Add a connection and return it."""
    answer = await client.post("/connections", json={"name": name, "kind": kind, **members})
    assert answer.status_code == 201, answer.text
    connection: dict[str, Any] = answer.json()
    return connection


async def create(client: httpx2.AsyncClient, spec: str) -> str:
    """Create a flow and return its id."""
    made = await client.post("/flows", json={"spec": spec})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def run_request(client: httpx2.AsyncClient, url: str, connection: str, text: str = "x") -> dict[str, Any]:
    """Run a flow that makes one request with a connection, and return the run."""
    flow = await create(client, REQUEST.format(url=url, connection=connection))
    answer = await client.post(f"/flows/{flow}/runs", json={"text": text, "wait": True})
    run: dict[str, Any] = answer.json()
    return run
