"""A hundred users click on one approval at the same time, over HTTP, on every server of an installation."""

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest
from sqlalchemy import text

from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.features.accounts.keys.secret import hash_of, new_key, prefix_of
from headgate.features.accounts.tables import ApiKey, SpaceMember, User
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.integration.faults.installation import QUIET_SECONDS, Installation
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import add_space_row, bearer

Record = Callable[[str, object], None]
pytestmark = pytest.mark.timeout(120 + QUIET_SECONDS)
CLICKS = 100
FLOW = """\
name: Payment
nodes:
  heard: ChatInput
  check: Approval
    question: Pay it?
  yes: ChatOutput
  no: ChatOutput
edges:
  heard.text -> check.value
  check.approve -> yes.input
  check.reject -> no.input
"""


async def clients_of(stack: AsyncExitStack, database: Database, urls: Sequence[str]) -> list[httpx2.AsyncClient]:
    """A client for each of a hundred users of one space, by turns of every server."""
    space_id = await add_space_row(database, "Payments")
    keys = [new_key() for _ in range(CLICKS)]
    async with database.writing() as session:
        users = [
            User(id=new_id(), tenant_id=DEFAULT_TENANT_ID, name="", email=email(number), home_space_id=space_id)
            for number in range(CLICKS)
        ]
        session.add_all(users)
        await session.flush()
        for user, key in zip(users, keys, strict=True):
            own = {"tenant_id": DEFAULT_TENANT_ID, "user_id": user.id}
            session.add(SpaceMember(space_id=space_id, role=Role.EDITOR.value, **own))
            session.add(ApiKey(id=new_id(), name="test", prefix=prefix_of(key), secret_hash=hash_of(key), **own))
    shared: dict[str, Any] = {"timeout": PATIENCE_SECONDS, "verify": ssl.create_default_context()}  # takes long to make
    clients = [
        httpx2.AsyncClient(base_url=f"{urls[number % len(urls)]}/api/v1", headers=bearer(key), **shared)
        for number, key in enumerate(keys)
    ]
    return [await stack.enter_async_context(client) for client in clients]


def email(number: int) -> str:
    """The address of a user."""
    return f"u{number}@example.org"


async def asked(client: httpx2.AsyncClient) -> tuple[str, str]:
    """Start a run that asks for an approval. Returns run and approval."""
    flow = (await client.post("/flows", json={"spec": FLOW})).raise_for_status().json()
    started = await client.post(f"/flows/{flow['id']}/runs", json={"text": "40 EUR", "version": "draft"})
    run_id = started.raise_for_status().json()["id"]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not (items := (await client.get("/approvals", params={"run_id": run_id})).json()["items"]):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return run_id, items[0]["id"]


async def over(client: httpx2.AsyncClient, run_id: str) -> dict[str, Any]:
    """Wait for the end of a run."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            run: dict[str, Any] = (await client.get(f"/flow-runs/{run_id}")).raise_for_status().json()
            if run["status"] not in {"queued", "running", "waiting"}:
                return run
            await asyncio.sleep(0.05)


async def test_of_a_hundred_users_one_decides(
    installation: Installation, database: Database, record_property: Record
) -> None:
    count = 2 if database.dialect == "postgresql" else 1
    signed_in = {"HEADGATE_SERVER__AUTO_LOGIN": "false"}
    servers = [await installation.up(**signed_in) for _ in range(count)]
    async with AsyncExitStack() as stack:
        clients = await clients_of(stack, database, [server.url for server in servers])
        run_id, approval_id = await asked(clients[0])
        await asyncio.gather(*(client.get(f"/approvals/{approval_id}") for client in clients))  # all are connected
        clicks = [
            client.post(f"/approvals/{approval_id}/decision", json={"decision": "reject" if number % 2 else "approve"})
            for number, client in enumerate(clients)
        ]
        answers = await asyncio.gather(*clicks)
        assert Counter(answer.status_code for answer in answers) == {200: 1, 409: CLICKS - 1}
        refusals = {answer.json()["code"] for answer in answers if answer.status_code == 409}
        assert refusals == {"approval_decided"}
        (winner,) = [number for number, answer in enumerate(answers) if answer.status_code == 200]
        chosen = "rejected" if winner % 2 else "approved"
        run = await over(clients[0], run_id)
        taken = {step["step_id"] for step in run["steps"] if step["status"] == "completed"}
        assert taken == {"heard", "check", "no" if winner % 2 else "yes"}
        outcome = (await clients[0].get(f"/approvals/{approval_id}")).json()
        assert (outcome["status"], [one["user_name"] for one in outcome["decisions"]]) == (
            chosen,
            [email(winner)],
        )
        evidence = (await clients[0].get(f"/flow-runs/{run_id}/evidence")).raise_for_status()
        (proof,) = [step for step in evidence.json()["step_results"] if step["step_id"] == "check"]
        (decided,) = proof["approvals"]
        assert [one["user_id"] for one in decided["decisions"]] == [outcome["decisions"][0]["user_id"]]
    async with database.reading() as session:
        for rows in ("approval_decisions", "audit_events WHERE resource_kind = 'approval'"):
            assert (await session.execute(text(f"SELECT count(*) FROM {rows}"))).scalar_one() == 1
    record_property("figures", f"{CLICKS} clicks on {count} servers, {database.dialect}: one decision")
