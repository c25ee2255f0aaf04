"""A stream ends when its reader may not have it any more: over the real application, while a run goes on."""

import asyncio
from collections.abc import MutableMapping
from functools import partial
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import delete, text, update

from headgate.features.access.permissions import Role
from headgate.features.access.principal import DEFAULT_SPACE_ID
from headgate.features.accounts.tables import ApiKey, SpaceMember, User
from headgate.features.runs import routes
from headgate.foundation import sse
from headgate.foundation.database import Database, now
from headgate.foundation.settings import EngineSettings, Settings
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import add_key, add_user, asking, bearer, running, signed_in

ECHO = "name: Echo\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.text -> said.input\n"


class Reader:
    """One who watches a run, over ASGI itself: a client would wait for the end."""

    def __init__(self, app: FastAPI, path: str, headers: dict[str, str]) -> None:
        self.said = b""
        self.status = 0
        self._asked = False
        self.spoke = asyncio.Event()
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1:7411"), *((n.lower().encode(), v.encode()) for n, v in headers.items())],
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 7411),
        }
        self.task = asyncio.create_task(app(scope, self._receive, self._send))

    async def heard_more(self) -> None:
        self.spoke.clear()
        await asyncio.wait_for(self.spoke.wait(), PATIENCE_SECONDS)

    async def _receive(self) -> MutableMapping[str, Any]:
        if self._asked:
            await asyncio.Event().wait()
        self._asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        self.status = message.get("status", self.status)
        self.said += message.get("body", b"")
        self.spoke.set()


async def run_that_goes_on(settings: Settings, database: Database) -> str:
    """A run whose rows say that it is being worked on; nobody will end it."""
    admin = await add_key(database, await add_user(database, "boss@example.org", admin=True, home=DEFAULT_SPACE_ID))
    async with running(signed_in(settings)) as app, asking(app) as client:
        flow = (await client.post("/flows", headers=bearer(admin), json={"spec": ECHO})).json()
        answer = await client.post(
            f"/flows/{flow['id']}/runs", headers=bearer(admin), json={"text": "hej", "wait": True}
        )
        assert answer.status_code in {200, 201}, answer.text
        run_id: str = answer.json()["id"]
    async with database.writing() as session:
        statement = "UPDATE flow_runs SET status = 'running', finished_at = NULL WHERE id = :id"
        await session.execute(text(statement), {"id": run_id})
        for change in (
            "DELETE FROM flow_run_events WHERE flow_run_id = :id AND kind = 'run_completed'",
            "UPDATE flow_runs SET last_event = last_event - 1 WHERE id = :id",
        ):
            await session.execute(text(change), {"id": run_id})
    return run_id


@pytest.mark.parametrize("loses", ["the key", "the membership", "the account"])
class TestStreams:
    async def test_end_with_what_lets_their_reader_in(
        self, settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch, loses: str
    ) -> None:
        monkeypatch.setattr(sse, "CHECK_SECONDS", 0.02)
        monkeypatch.setattr(routes, "with_heartbeat", partial(sse.with_heartbeat, seconds=0.02))
        run_id = await run_that_goes_on(settings, database)
        person = await add_user(database, "ana@example.org", roles={DEFAULT_SPACE_ID: Role.VIEWER})
        key = await add_key(database, person)
        idle = signed_in(settings, engine=EngineSettings(recover_on_start=False))
        async with running(idle) as app:
            reader = Reader(app, f"/api/v1/flow-runs/{run_id}/events", bearer(key))
            for _ in range(20):
                await reader.heard_more()
            assert reader.status == 200
            assert b"step_completed" in reader.said
            assert not reader.task.done()
            async with database.writing() as session:
                if loses == "the key":
                    await session.execute(update(ApiKey).where(ApiKey.user_id == person.id).values(revoked_at=now()))
                elif loses == "the membership":
                    await session.execute(delete(SpaceMember).where(SpaceMember.user_id == person.id))
                else:
                    await session.execute(update(User).where(User.id == person.id).values(active=False))
            await asyncio.wait_for(reader.task, PATIENCE_SECONDS)
            again = Reader(app, f"/api/v1/flow-runs/{run_id}/events", bearer(key))
            await asyncio.wait_for(again.task, PATIENCE_SECONDS)
            assert again.status == (404 if loses == "the membership" else 401)
