"""A tenant with something of everything, under the same names as every other tenant's.

What can be made over the API is made over the API; rows that only some outside thing makes (a delivery, a server's
tools) are put in by hand. Every text holds the tenant's marker, so that whatever leaks can be seen.
"""

import json
from dataclasses import dataclass, field
from typing import Any

import httpx2
from fastapi import FastAPI
from sqlalchemy import insert

from headgate.features.access.principal import Principal
from headgate.features.assistants.tables import AssistantRow
from headgate.features.mcptools.tables import McpServerRow, McpToolRow
from headgate.features.models.tables import ModelClass
from headgate.features.runs.deliveries.tables import webhook_deliveries, webhook_delivery_attempts
from headgate.features.runs.engine.build import build_store
from headgate.features.runs.transitions import Lease, NewRun, RunKey, Seed, clock
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.tenants import ActingAs

SESSION = "the same session"
VARIABLE = "SAME_NAME"
STEP = "said"
HELD_BY = "elsewhere:1:abcdefabcdef"
"""A worker on another machine that is busy with a run of each tenant."""


@dataclass
class World:
    """A tenant and the ids of what it has. Each list holds its completed, its failed and its running one."""

    principal: Principal
    client: httpx2.AsyncClient
    marker: str
    flow_ids: list[str] = field(default_factory=list)
    run_ids: list[str] = field(default_factory=list)
    file_ids: list[str] = field(default_factory=list)
    """An upload, then artifacts."""
    space_ids: list[str] = field(default_factory=list)
    server_ids: list[str] = field(default_factory=list)
    assistant_ids: list[str] = field(default_factory=list)
    delivery_ids: list[str] = field(default_factory=list)
    definition: dict[str, Any] = field(default_factory=dict)
    revision: int = 0
    checksum: str = ""
    key: RunKey = field(default_factory=lambda: RunKey("", "", "", 0))
    """Of the run that another worker is busy with."""


async def make_world(app: FastAPI, database: Database, principal: Principal, marker: str) -> World:
    """Fill a tenant through a client that acts as one of its people."""
    transport = httpx2.ASGITransport(app=ActingAs(app, principal), raise_app_exceptions=False)
    client = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/api/v1")
    world = World(principal, client, marker)
    await _make_spaces(world)
    await _make_flows(world)
    await _make_files(world)
    await _make_runs(world)
    await _make_running(world, database)
    await _make_rows(world, database)
    return world


async def ask(world: World, method: str, path: str, **more: Any) -> Any:
    """A request that must succeed; its answer as JSON."""
    answer = await world.client.request(method, path, **more)
    assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
    return answer.json() if answer.content else None


async def _make_spaces(world: World) -> None:
    made = await ask(world, "POST", "/spaces", json={"name": "The same space"})
    world.space_ids = [world.principal.space_id, made["id"]]
    await ask(world, "PUT", f"/variables/{VARIABLE}", json={"value": world.marker, "secret": False})


async def _make_flows(world: World) -> None:
    for failing in (False, True):
        policy = {"output_type": "json"} if failing else {}
        definition = {
            "name": VARIABLE,
            "description": world.marker,
            "nodes": [
                {"id": "heard", "type": "ChatInput", "label": world.marker, "policy": policy},
                {"id": STEP, "type": "ChatOutput", "label": "Said"},
            ],
            "edges": [{"source": "heard", "output": "text", "target": STEP, "input": "input"}],
        }
        flow = await ask(world, "POST", "/flows", json={"definition": definition})
        world.flow_ids.append(flow["id"])
        await ask(world, "POST", f"/flows/{flow['id']}/publish", json={"notes": world.marker})
        if not failing:
            world.definition, world.revision = flow["definition"], flow["revision"]
            version = await ask(world, "GET", f"/flows/{flow['id']}/versions/1")
            world.checksum = version["checksum"]


async def _make_files(world: World) -> None:
    upload = {"file": ("the-same-name.txt", world.marker.encode(), "text/plain")}
    world.file_ids.append((await ask(world, "POST", "/files", files=upload))["id"])


async def _make_runs(world: World) -> None:
    for flow_id, text in zip(world.flow_ids, (world.marker + " and more" * 200, world.marker), strict=True):
        start = {
            "text": text,
            "file_ids": world.file_ids[:1],
            "session_id": SESSION,
            "version": "published",
            "wait": True,
        }
        run = await ask(world, "POST", f"/flows/{flow_id}/runs", json=start)
        assert run["status"] == ("completed" if flow_id == world.flow_ids[0] else "failed"), run
        world.run_ids.append(run["id"])
    artifacts = await ask(world, "GET", "/files", params={"flow_run_id": world.run_ids[0]})
    assert artifacts["items"], "the long text was to become an artifact"
    world.file_ids += [artifact["id"] for artifact in artifacts["items"]]


async def _make_running(world: World, database: Database) -> None:
    """A run in the middle of its first step, held by a worker elsewhere whose lease is good for an hour."""
    world.key = RunKey(new_id(), world.principal.tenant_id, world.flow_ids[0], 1)
    given = json.dumps({"text": world.marker})
    steps = (Seed("heard", 1, 0), Seed(STEP, 2, 1))
    new = NewRun(world.key, given, steps, user_id=world.principal.user_id, session_id=SESSION, claim=("heard",))
    store = build_store(database)
    await store.open()
    await store.create(new, Lease(HELD_BY, clock(), clock() + 3_600_000_000))
    await store.close()
    world.run_ids.append(world.key.run_id)


async def _make_rows(world: World, database: Database) -> None:
    tenant, server, delivery, assistant = world.principal.tenant_id, new_id(), new_id(), new_id()
    place = {"tenant_id": tenant, "flow_run_id": world.run_ids[0], "flow_id": world.flow_ids[0], "step_id": STEP}
    world.server_ids.append(server)
    world.assistant_ids.append(assistant)
    world.delivery_ids.append(delivery)
    shown = f"https://127.0.0.1:9/{world.marker}"
    async with database.writing() as session:
        await session.execute(
            insert(McpServerRow).values(
                id=server,
                tenant_id=tenant,
                space_id=world.principal.space_id,
                name=VARIABLE,
                transport="http",
                url=shown,
                enabled=False,
            )
        )
        await session.execute(
            insert(McpToolRow).values(
                server_id=server, name=VARIABLE, tenant_id=tenant, description=world.marker, input_schema={}
            )
        )
        for name in (world.marker, VARIABLE):
            await session.execute(insert(ModelClass).values(tenant_id=tenant, provider="openai", name=name, level=1))
        await session.execute(
            insert(AssistantRow).values(
                id=assistant,
                tenant_id=tenant,
                space_id=world.principal.space_id,
                name=VARIABLE,
                instructions=world.marker,
                model="openai/gpt",
            )
        )
        await session.execute(
            insert(webhook_deliveries).values(
                id=delivery,
                **place,
                status="failed",
                target=world.marker.encode(),
                url_shown=shown,
                idempotency_key=new_id(),
                attempts=1,
                error_message=world.marker,
                created_at=clock(),
            )
        )
        await session.execute(
            insert(webhook_delivery_attempts).values(
                delivery_id=delivery, tenant_id=tenant, attempt_no=1, started_at=1, error_message=world.marker
            )
        )
