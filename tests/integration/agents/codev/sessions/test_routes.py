"""The API of sessions over real sockets: waiting, streams, and clients that hang up."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import httpx2
import pytest

from headgate.agents.codev.schemas import Resume, SessionResponse
from headgate.agents.codev.sessions.routes import router
from headgate.agents.codev.sessions.service import Sessions
from headgate.features.access.principal import Principal
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.support.api import api
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import Bench, open_bench
from tests.support.patience import PATIENCE_SECONDS

WANTED = {"requirement": "Greet people.", "domain": "memory", "flow_id": "greeter"}
YES = {"type": "plan_approval", "approved": True}


@pytest.fixture
async def bench(settings: Settings, database: Database) -> AsyncIterator[Bench]:
    async with open_bench(settings, database, FakePlace(greeter="nothing")) as found:
        yield found


@pytest.fixture
async def client(bench: Bench) -> AsyncIterator[httpx2.AsyncClient]:
    async with api(router, codev=bench.sessions) as found:
        yield found


def events(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, kind and data of each event of a stream."""
    found = []
    for part in text.strip().split("\n\n"):
        if not part.startswith(":"):
            lines = dict(one.split(": ", 1) for one in part.splitlines())
            found.append((lines["id"], lines["event"], json.loads(lines["data"])))
    return found


class TestIdempotency:
    @pytest.mark.parametrize("path", ["/codev/sessions", "/codev/sessions/stream"])
    async def test_the_same_start_is_one_session(self, bench: Bench, database: Database, path: str) -> None:
        headers = {"Idempotency-Key": "key"}
        async with api(router, codev=bench.sessions, database=database) as client:
            answers = [await client.post(path, json=WANTED, headers=headers) for _ in range(2)]
            assert len({one.status_code for one in answers}) == 1
            assert answers[1].headers["idempotency-replayed"] == "true"
            sessions = (await client.get("/codev/sessions")).json()["items"]
            assert len(sessions) == 1
            other = await client.post(path, json=WANTED | {"requirement": "Wave."}, headers=headers)
            assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


class TestSessions:
    async def test_answer_when_they_first_wait(self, client: httpx2.AsyncClient) -> None:
        begun = await client.post("/codev/sessions", json=WANTED)
        assert (begun.status_code, begun.json()["status"]) == (201, "pending_interrupt")
        path = f"/codev/sessions/{begun.json()['thread_id']}"
        answer = {"interrupt_id": begun.json()["interrupt"]["id"], "response": YES}
        review = (await client.post(f"{path}/resume", json=answer)).json()
        assert review["interrupt"]["type"] == "result_review"
        assert (await client.post(f"{path}/resume", json=answer | {"interrupt_id": "x"})).status_code == 409
        summary = (await client.get(f"{path}/summary")).json()["summary"]
        assert summary.startswith("# Development session")
        back = await client.post(f"{path}/rollback")
        assert (back.status_code, back.json()["can_roll_back"]) == (200, False)
        assert (await client.delete(path)).status_code == 204
        assert (await client.get(path)).status_code == 404

    async def test_answer_at_once_where_that_is_asked(self, client: httpx2.AsyncClient, bench: Bench) -> None:
        begun = await client.post("/codev/sessions", json=WANTED, params={"wait": False})
        assert begun.status_code == 201
        assert (await bench.rested(begun.json()["thread_id"])).phase == "approve_plan"

    async def test_go_on_when_the_client_hangs_up(self, client: httpx2.AsyncClient, bench: Bench) -> None:
        task = asyncio.create_task(client.post("/codev/sessions", json=WANTED))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (listed := (await client.get("/codev/sessions")).json()["items"]):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            task.cancel()
            rested = await bench.rested(listed[0]["thread_id"])
        assert rested.status == "pending_interrupt"

    async def test_are_followed_from_the_start(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/codev/sessions/stream", json=WANTED)
        told = events(answer.text)
        assert told[-1][1] == "interrupt"
        began = [datetime.fromisoformat(data["at"]) for _, kind, data in told if kind == "phase"]
        assert began == sorted(began)
        assert {"phase", "token", "usage"} <= {kind for _, kind, _ in told}
        path = f"/codev/sessions/{answer.headers['x-session-id']}"
        rest = events((await client.get(f"{path}/events", headers={"Last-Event-ID": told[2][0]})).text)
        assert rest == [one for one in told if one[1] != "token" and int(one[0]) > int(told[2][0])]
        resumed = await client.post(f"{path}/stream", json={"interrupt_id": told[-1][2]["id"], "response": YES})
        kinds = [kind for _, kind, _ in events(resumed.text)]
        assert kinds[-1] == "interrupt"
        assert {"write", "trial", "verdict"} <= set(kinds)

    async def test_tell_their_end_however_soon_it_comes(
        self, client: httpx2.AsyncClient, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        begun = (await client.post("/codev/sessions", json=WANTED)).json()
        resume = Sessions.resume

        async def to_its_end(sessions: Sessions, who: Principal, session_id: str, answer: Resume) -> SessionResponse:
            await resume(sessions, who, session_id, answer)
            return await bench.rested(session_id)

        monkeypatch.setattr(Sessions, "resume", to_its_end)
        answer = {"response": {"type": "plan_approval", "approved": False, "stop": True}}
        told = events((await client.post(f"/codev/sessions/{begun['thread_id']}/stream", json=answer)).text)
        assert (told[-1][1], told[-1][2]["status"]) == ("done", "stopped")

    @pytest.mark.parametrize("last", ["x", "-1", "9" * 20, ""])
    async def test_take_any_last_id(self, client: httpx2.AsyncClient, last: str) -> None:
        begun = (await client.post("/codev/sessions", json=WANTED)).json()
        async with asyncio.timeout(PATIENCE_SECONDS):
            path = f"/codev/sessions/{begun['thread_id']}/events"
            assert (await client.get(path, headers={"Last-Event-ID": last})).status_code == 200

    @pytest.mark.parametrize(
        "wrong",
        [
            {"requirement": ""},
            {"requirement": "x", "domain": "nowhere"},
            {"requirement": "x", "unknown": 1},
            {"requirement": "x" * 30_000},
            {"requirement": "x\x00y"},
        ],
    )
    async def test_refuse_what_makes_no_sense(self, client: httpx2.AsyncClient, wrong: dict[str, Any]) -> None:
        assert (await client.post("/codev/sessions", json=wrong)).status_code == 422
        assert (await client.get("/codev/sessions")).json()["items"] == []

    async def test_show_no_value_of_a_credential(self, client: httpx2.AsyncClient, bench: Bench) -> None:
        begun = (await client.post("/codev/sessions", json=WANTED)).json()
        given = {"type": "openAIApi", "values": {"apiKey": "sk-not-to-be-shown"}}
        answer = await client.post(f"/codev/sessions/{begun['thread_id']}/credentials", json=given)
        assert answer.status_code == 200
        assert bench.place.credentials == {"openAIApi"}
        assert "not-to-be-shown" not in answer.text

    async def test_know_their_domains(self, client: httpx2.AsyncClient) -> None:
        told = (await client.get("/codev/domains")).json()
        assert "/" in told["model"]
        (domain,) = told["items"]
        assert domain == {"name": "memory", "label": "Memory", "instances": [], "test_sets": True}
