"""Whole sessions of the development agent on the real server, over Headgate's API; the model is scripted."""

import json
from collections import deque
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import CodevSettings, FlowiseInstance, Settings
from tests.flowise.server.process import FlowiseProcess
from tests.flowise.written import chain, function, two_functions
from tests.support.databases import SqliteFiles, make_settings
from tests.support.openai_server import OpenAIServer
from tests.support.people import asking, running
from tests.support.scripted_server import Script

MODEL_KEY = "sk-of-the-session-0123456789abcdef"
CREDENTIAL = "sk-of-the-credential-fedcba9876543210"
CASES = [{"name": "says it", "text": "abc", "expect": {"equals": "echo: Say: abc"}}]
UPPER = [{"name": "in capitals", "text": "abc", "expect": {"equals": "got ABC"}}]
FOUND = "customFunction has the output EndingNode.\n\nCREDENTIALS_STATUS: OK"


def _plan(cases: list[dict[str, Any]]) -> str:
    return f"Write it.\n\n```tests\n{json.dumps(cases)}\n```"


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def settings(tmp_path: Path, sqlite_files: SqliteFiles, flowise: FlowiseProcess, key: str) -> Settings:
    sqlite_files.fresh(tmp_path)
    instance = FlowiseInstance(id="real", endpoint=flowise.origin, api_key=SecretStr(key))
    return make_settings(tmp_path, codev=CodevSettings(flowise_instances=[instance]))


@pytest.fixture(autouse=True)
def _empty(wire: httpx2.Client) -> None:
    """What other tests left would be found by these."""
    for what in ("chatflows", "credentials"):
        for one in wire.get(f"/api/v1/{what}").json():
            wire.delete(f"/api/v1/{what}/{one['id']}").raise_for_status()


@pytest.fixture
async def app(settings: Settings, openai: OpenAIServer) -> AsyncIterator[FastAPI]:
    async with running(settings) as made:
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", MODEL_KEY), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(
                    session, LOCAL, made.state.box, name=name, value=SecretStr(value), organisation=True
                )
        yield made


class Session:
    """One session, as a person with a client sees it."""

    def __init__(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        self.client, self.openai, self.state = client, openai, dict[str, Any]()
        self.lines = deque[Script]()
        openai.sort = lambda _asked: self.lines.popleft() if self.lines else None

    @property
    def path(self) -> str:
        return f"/codev/sessions/{self.state['thread_id']}"

    async def start(self, *script: Script, **body: Any) -> str:
        self.lines.extend(script)
        wanted = {"requirement": "A flow", "model": "openai/gpt-5-mini", "domain": "flowise"} | body
        return self._rested(await self.client.post("/codev/sessions", json=wanted | {"skip_clarification": True}))

    async def answer(self, type_: str, *script: Script, **response: Any) -> str:
        self.lines.extend(script)
        body = {"interrupt_id": self.state["interrupt"]["id"], "response": {"type": type_} | response}
        return self._rested(await self.client.post(f"{self.path}/resume", json=body))

    async def approve(self, *script: Script) -> str:
        return await self.answer("plan_approval", *script, approved=True)

    def _rested(self, answer: httpx2.Response) -> str:
        """What it waits for, or how it ended."""
        assert answer.status_code in {200, 201}, answer.text
        self.state = answer.json()
        if self.state["interrupt"] is None:
            return f"{self.state['status']} {self.state['stop_reason']}".strip()
        return str(self.state["interrupt"]["type"])


@pytest.fixture
async def session(app: FastAPI, openai: OpenAIServer) -> AsyncIterator[Session]:
    async with asking(app) as client:
        client.timeout = httpx2.Timeout(120)
        yield Session(client, openai)


def _named(name: str, wanted: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, **wanted}


def _drawn(wire: httpx2.Client, flow_id: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(wire.get(f"/api/v1/chatflows/{flow_id}").json()["flowData"])
    return found


def _ask(wire: httpx2.Client, flow_id: str) -> str:
    return str(wire.post(f"/api/v1/prediction/{flow_id}", json={"question": "abc"}).json()["text"])


class TestNewFlow:
    async def test_from_a_missing_credential_to_a_chain_that_was_accepted(
        self,
        session: Session,
        settings: Settings,
        wire: httpx2.Client,
        echo: OpenAIServer,
        *,
        key: str,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        openai = session.openai
        missing = "A chain.\n\nCREDENTIALS_STATUS: MISSING\nMISSING_TYPES: openAIApi"
        looks = [
            openai.tool_call("list_nodes", {"search": "chain"}),
            openai.tool_call("get_node", {"name": "llmChain"}),
        ]
        assert await session.start(*looks, openai.text(missing)) == "credential_check"
        assert [one["type"] for one in session.state["interrupt"]["data"]["missing"]] == ["openAIApi"]
        given = {"type": "openAIApi", "name": "ours", "values": {"openAIApiKey": CREDENTIAL}}
        assert (await session.client.post(f"{session.path}/credentials", json=given)).status_code == 200
        assert await session.answer("credential_check", openai.text(_plan(CASES))) == "plan_approval"
        assert wire.get("/api/v1/chatflows").json() == []

        wanted = chain(echo.base_url)
        half = {**wanted, "edges": wanted["edges"][:1]}
        state = await session.approve(
            openai.tool_call("create_chatflow", _named("a chain", half)),
            openai.tool_call("create_chatflow", _named("a chain", wanted)),
            openai.text("Written."),
            openai.text("DONE"),
        )
        assert state == "result_review", session.state
        trials = session.state["interrupt"]["data"]["trials"]
        assert [(one["passed"], one["answer"]) for one in trials] == [(True, "echo: Say: abc")]
        assert echo.asked[-1].headers["authorization"] == f"Bearer {CREDENTIAL}"
        assert await session.answer("result_review", accepted=True) == "completed"
        assert _ask(wire, session.state["flow_id"]) == "echo: Say: abc"
        assert [one["name"] for one in wire.get("/api/v1/chatflows").json()] == ["a chain"]

        refusal = json.dumps([asked.body["messages"][-1] for asked in openai.asked if asked.body])
        assert "is required and not set" in refusal
        await self._is_told_nowhere(session, settings, key, [*capfd.readouterr()])

    async def _is_told_nowhere(self, session: Session, settings: Settings, key: str, logged: list[str]) -> None:
        """The server's key, the credential's value and the model's key are in no file, log, answer, event or prompt."""
        told = [*logged, json.dumps(session.state), json.dumps([one.body for one in session.openai.asked])]
        for path in ("", "/summary", "/events"):
            found = await session.client.get(f"{session.path}{path}")
            assert found.status_code == 200
            told += [found.text]
        assert "event: tool_result" in told[-1]
        files = [path for path in settings.data_dir.rglob("*") if path.is_file()]
        assert {"headgate.db", "development.db"} <= {path.name for path in files}
        for secret in (key, CREDENTIAL, MODEL_KEY):
            assert not any(secret in text for text in told)
            assert [path.name for path in files if secret.encode() in path.read_bytes()] == []

    async def test_that_fails_is_repaired_and_is_gone_when_rolled_back(
        self, session: Session, wire: httpx2.Client
    ) -> None:
        openai = session.openai
        await session.start(openai.text(FOUND), openai.text(_plan(UPPER)))
        state = await session.approve(
            openai.tool_call("create_chatflow", _named("to be gone", two_functions("has"))),
            openai.text("Written."),
            openai.text("DONE"),  # it is not: the trial failed
            openai.text(_plan(UPPER)),
        )
        assert state == "plan_approval"
        assert session.state["iteration"] == 2
        inputs = {"javascriptFunction": "return 'got ' + $up;"}
        change = openai.tool_call("change_node", {"id": "customFunction_1", "inputs": inputs})
        assert await session.approve(change, openai.text("Changed."), openai.text("DONE")) == "result_review"
        flow = session.state["flow_id"]
        assert _ask(wire, flow) == "got ABC"
        assert (await session.client.post(f"{session.path}/rollback")).status_code == 200
        assert wire.get(f"/api/v1/chatflows/{flow}").status_code == 404


class TestFlowThatIsThere:
    async def test_changed_by_somebody_else_is_planned_anew(self, session: Session, wire: httpx2.Client) -> None:
        openai = session.openai
        flow = await self._made(session)
        await session.start(openai.text(FOUND), openai.text(_plan(UPPER)), flow_id=flow)
        theirs = _drawn(wire, flow)
        theirs["nodes"][0]["data"]["inputs"]["functionName"] = "theirs"
        assert wire.put(f"/api/v1/chatflows/{flow}", json={"flowData": json.dumps(theirs)}).status_code == 200
        assert await session.approve(openai.text(FOUND), openai.text(_plan(UPPER))) == "plan_approval"
        assert "changed by another user" in session.state["interrupt"]["data"]["conflict"]["message"]
        assert _drawn(wire, flow)["nodes"][0]["data"]["inputs"]["functionName"] == "theirs"

        inputs = {"functionName": "ours"}
        change = openai.tool_call("change_node", {"id": "customFunction_1", "inputs": inputs})
        assert await session.approve(change, openai.text("Changed."), openai.text("DONE")) == "result_review"
        names = [node["data"]["inputs"]["functionName"] for node in _drawn(wire, flow)["nodes"]]
        assert names == ["theirs", "ours"]

        assert (await session.client.post(f"{session.path}/rollback")).status_code == 200
        names = [node["data"]["inputs"]["functionName"] for node in _drawn(wire, flow)["nodes"]]
        assert names == ["theirs", ""]
        assert _ask(wire, flow) == "got ABC"

    async def test_moved_on_the_canvas_is_no_conflict(self, session: Session, wire: httpx2.Client) -> None:
        """Whoever only moves nodes stands in nobody's way, and finds them where they were put."""
        openai = session.openai
        flow = await self._made(session)
        await session.start(openai.text(FOUND), openai.text(_plan(UPPER)), flow_id=flow)
        moved = _drawn(wire, flow)
        moved["nodes"][0]["position"] = {"x": -700, "y": 42}
        wire.put(f"/api/v1/chatflows/{flow}", json={"flowData": json.dumps(moved)})
        change = openai.tool_call("change_node", {"id": "customFunction_1", "inputs": {"functionName": "ours"}})
        assert await session.approve(change, openai.text("Changed."), openai.text("DONE")) == "result_review"
        first, second = _drawn(wire, flow)["nodes"]
        assert first["position"] == {"x": -700, "y": 42}
        assert second["data"]["inputs"]["functionName"] == "ours"

    async def _made(self, session: Session) -> str:
        """A flow that an earlier session made."""
        openai = session.openai
        earlier = Session(session.client, openai)
        await earlier.start(openai.text(FOUND), openai.text(_plan(UPPER)))
        await earlier.approve(
            openai.tool_call("create_chatflow", _named("there", two_functions())),
            openai.text("Written."),
            openai.text("DONE"),
        )
        assert await earlier.answer("result_review", accepted=True) == "completed", earlier.state
        openai.sort = lambda _asked: session.lines.popleft() if session.lines else None
        return str(earlier.state["flow_id"])


class TestTrials:
    async def test_are_chats_of_their_own(self, session: Session, wire: httpx2.Client) -> None:
        openai = session.openai
        cases = [{"name": "its own", "text": "abc", "expect": {"matches": "^[0-9a-zA-Z:_-]{8,}$"}}]
        await session.start(openai.text(FOUND), openai.text(_plan(cases)), test_trials=3)
        state = await session.approve(
            openai.tool_call("create_chatflow", _named("sessions", function("return $flow.chatId;"))),
            openai.text("Written."),
            openai.text("DONE"),
        )
        assert state == "result_review", session.state
        answers = [trial["answer"] for trial in session.state["interrupt"]["data"]["trials"]]
        assert len(set(answers)) == 3
