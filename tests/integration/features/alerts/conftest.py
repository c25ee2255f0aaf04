"""A team, a flow that fails, and an evaluation that the tests start themselves."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from sqlalchemy import TextClause, text

from headgate.features.alerts import evaluation
from headgate.features.jobs.leases import clock
from headgate.foundation.settings import Settings
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import LOOPBACK
from tests.support.rows import execute
from tests.support.smtp import PASSWORD, Postbox, smtp_server
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer, web_server

HOOK = "/hook"
FAILING = (
    "name: Import\nnodes:\n  heard: ChatInput\n  parse: ParseJSON\n  pick: SelectData\n    expression: '@'\n"
    "  said: ChatOutput\n"
    "edges:\n  heard.text -> parse.text\n  parse.data -> pick.data\n  pick.text -> said.input\n"
)
SECOND = 1_000_000
HOUR = 3_600 * SECOND


@pytest.fixture
async def us(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Team]:
    monkeypatch.setattr(evaluation, "STEADY_SECONDS", 0.0)
    async with team(settings, http=LOOPBACK) as people:
        yield people


@pytest.fixture
def postbox() -> Iterator[Postbox]:
    with smtp_server() as server:
        yield server


@pytest.fixture
async def hook() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        server.on(HOOK, answer(204))
        yield server


async def mail(us: Team, postbox: Postbox, **members: Any) -> str:
    """Add the connection to the mail server, and return its id."""
    values = {"kind": "smtp", "fields": postbox.fields, "secrets": {"password": PASSWORD}} | members
    made: dict[str, Any] = await us.make("owner", "/connections", name="office", **values)
    return str(made["id"])


async def flow_of(us: Team, spec: str = FAILING, *, published: bool = True) -> str:
    flow_id: str = (await us.make("publisher", "/flows", spec=spec))["id"]
    if published:
        await us.make("publisher", f"/flows/{flow_id}/publish")
    return flow_id


async def run(us: Team, flow_id: str, text: str = "no JSON", **more: Any) -> str:
    run_id: str = (await us.make("publisher", f"/flows/{flow_id}/runs", text=text, wait=True, **more))["id"]
    return run_id


async def rule(us: Team, who: str = "publisher", **members: Any) -> dict[str, Any]:
    values = {"name": "Imports fail", "kind": "failure"} | members
    made: dict[str, Any] = await us.make(who, "/alert-rules", **values)
    return made


async def evaluated(us: Team) -> None:
    """Make the evaluation due, and wait until the application has evaluated from then on."""
    at = clock()
    await execute(us.database, "UPDATE alert_evaluations SET due_at = :at", at=at)
    query = text("SELECT count(*) FROM alert_evaluations WHERE evaluated_at >= :at AND worker_id IS NULL")
    await until(us, query, at=at)


async def until(us: Team, query: TextClause, **values: Any) -> None:
    """Wait until a query returns a number that is not 0."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            async with us.database.reading() as session:
                if (await session.execute(query, values)).scalar_one():
                    return
            await asyncio.sleep(0.02)


async def delivered(us: Team) -> None:
    """Wait until no notice is pending."""
    await until(us, text("SELECT NOT EXISTS (SELECT 1 FROM alert_notices WHERE status = 'pending')"))


async def alerts(us: Team, who: str = "viewer", **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await us.get(who, "/alerts", params=asked))["items"]
    return found


async def notices(us: Team, who: str = "viewer") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await us.get(who, "/alert-notices"))["items"]
    return found
