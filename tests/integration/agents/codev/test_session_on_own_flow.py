"""Whole sessions on Headgate's own flows, over HTTP; the model is a scripted server that speaks OpenAI's protocol."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import text

from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import Settings
from tests.support.openai_server import OpenAIServer
from tests.support.own_place import GREETING
from tests.support.people import asking, running
from tests.support.scripted_server import Script

KEY = "sk-test-" + "0123456789abcdef"
TOKEN = "crm-" + "value-that-nobody-sees"
CASES = [
    {"name": "greets by name", "text": "Ann", "expect": {"equals": "Hello Ann!"}},
    {"name": "any script", "text": "Åsa 李", "expect": {"contains": ["Åsa 李"], "excludes": ["{text}"]}},
]
PLAN = f"**Three nodes**: who -> words -> out.\n\n```tests\n{json.dumps(CASES)}\n```"
FOUND = "ChatInput (text), PromptTemplate (template, text -> text), ChatOutput (input).\n\nCREDENTIALS_STATUS: OK"
BROKEN = GREETING.replace("words.text -> out.input", "words.prompt -> out.input")
WRONG = GREETING.replace("Hello {text}!", "Bye {text}.")

ON_SQLITE = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
"""For what no transaction decides."""
SLOW = GREETING.replace("PromptTemplate", "Wait").replace("template: Hello {text}!", "seconds: 60")
SLOW = SLOW.replace("words.text -> out", "words.value -> out").replace("-> words.text", "-> words.value")


@pytest.fixture
async def app(settings: Settings, openai: OpenAIServer) -> AsyncIterator[FastAPI]:
    async with running(settings) as made:
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(
                    session, LOCAL, made.state.box, name=name, value=SecretStr(value), organisation=True
                )
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    async with asking(app) as found:
        found.timeout = httpx2.Timeout(60)
        yield found


class Session:
    """One session, as a person with a client sees it."""

    def __init__(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        self.client, self.openai, self.state = client, openai, dict[str, Any]()
        self.lines = deque[Script]()
        openai.sort = lambda _asked: self.lines.popleft() if self.lines else None

    async def start(self, *script: Script, **body: Any) -> dict[str, Any]:
        self.lines.extend(script)
        wanted = {"requirement": "Greet whoever writes", "model": "openai/gpt-5-mini", "skip_clarification": True}
        return await self._rested(await self.client.post("/codev/sessions", json=wanted | body))

    async def answer(self, response: dict[str, Any], *script: Script) -> dict[str, Any]:
        self.lines.extend(script)
        body = {"interrupt_id": self.state["interrupt"]["id"], "response": response}
        return await self._rested(await self.client.post(f"{self.path}/resume", json=body))

    async def approve(self, *script: Script, **more: Any) -> dict[str, Any]:
        return await self.answer({"type": "plan_approval", "approved": True, **more}, *script)

    async def accept(self, **more: Any) -> dict[str, Any]:
        return await self.answer({"type": "result_review", "accepted": True, **more})

    async def retry(self, *script: Script, **body: Any) -> dict[str, Any]:
        self.lines.extend(script)
        return await self._rested(await self.client.post(f"{self.path}/retry", json=body))

    @property
    def path(self) -> str:
        return f"/codev/sessions/{self.state['thread_id']}"

    async def flow(self) -> dict[str, Any]:
        found = await self.client.get(f"/flows/{self.state['flow_id']}")
        assert found.status_code == 200, found.text
        return dict(found.json())

    async def _rested(self, answer: httpx2.Response) -> dict[str, Any]:
        assert answer.status_code in {200, 201}, answer.text
        self.state = answer.json()
        return self.state


@pytest.fixture
def session(client: httpx2.AsyncClient, openai: OpenAIServer) -> Session:
    return Session(client, openai)


def waits_for(state: dict[str, Any]) -> str:
    assert state["status"] == "pending_interrupt", (state["status"], state["stop_reason"])
    return str(state["interrupt"]["type"])


class TestNewFlow:
    async def test_from_a_question_to_an_accepted_flow(self, session: Session, app: FastAPI) -> None:
        openai, client = session.openai, session.client
        state = await session.start(openai.text("SCORE: 6\n1. In which words?"), skip_clarification=False)
        assert waits_for(state) == "clarification"
        assert state["interrupt"]["data"]["questions"] == ["In which words?"]

        state = await session.answer(
            {"type": "clarification", "text": "Just hello."},
            openai.tool_call("search_components", {"query": "fill a text with values"}),
            openai.tool_call("describe_component", {"component_type": "PromptTemplate"}),
            openai.tool_call("list_models", {}),
            openai.text(FOUND.replace("STATUS: OK", "STATUS: MISSING\nMISSING_TYPES: CRM_TOKEN, openai")),
        )
        assert waits_for(state) == "credential_check"
        assert [one["type"] for one in state["interrupt"]["data"]["missing"]] == ["CRM_TOKEN"]
        given = {"type": "CRM_TOKEN", "name": "crm", "values": {"CRM_TOKEN": TOKEN}}
        assert (await client.post(f"{session.path}/credentials", json=given)).status_code == 200

        state = await session.answer({"type": "credential_check"}, openai.text(PLAN))
        assert waits_for(state) == "plan_approval"
        assert state["interrupt"]["data"]["plan"] == "**Three nodes**: who -> words -> out."
        assert (await client.get("/flows")).json()["items"] == []

        state = await session.approve(
            openai.tool_call("build_flow", {"spec": BROKEN}),
            openai.tool_call("build_flow", {"spec": GREETING}),
            openai.text("Built as planned."),
            openai.text("DONE"),
        )
        assert waits_for(state) == "result_review"
        review = state["interrupt"]["data"]
        assert "+ node 'words' (PromptTemplate)" in review["diff"]
        assert [trial["passed"] for trial in review["trials"]] == [True, True]
        assert review["link"] == state["link"] == f"/flows/{state['flow_id']}"

        state = await session.accept(save_tests=True)
        assert (state["status"], state["stop_reason"]) == ("completed", "")
        await _is_all_there(session, app, review["trials"])

    @ON_SQLITE
    async def test_what_the_model_is_told(self, session: Session) -> None:
        """Refusals with what to do, the skill of the phase, only the tools of the phase, and no secret."""
        openai = session.openai
        await session.start(openai.text(FOUND), openai.text(PLAN))
        await session.approve(
            openai.tool_call("build_flow", {"spec": BROKEN}),
            openai.tool_call("build_flow", {"spec": GREETING}),
            openai.text("Built."),
            openai.text("DONE"),
        )
        discover, _, patch, after, *_ = [asked.body for asked in openai.asked]
        offered = [{one["function"]["name"] for one in body["tools"]} for body in (discover, patch)]
        assert {"search_components", "list_models", "search_patterns"} <= offered[0]
        assert "build_flow" in offered[1]
        assert "build_flow" not in offered[0]
        assert "CREDENTIALS_STATUS: MISSING" in json.dumps(discover["messages"])
        assert "attach a tool to an agent" in json.dumps(patch["messages"]).lower()
        assert "has no output 'prompt'" in after["messages"][-1]["content"]
        assert KEY not in json.dumps([asked.body for asked in openai.asked])

    @ON_SQLITE
    async def test_that_fails_its_tests_is_repaired_with_the_playbook(self, session: Session) -> None:
        openai = session.openai
        await session.start(openai.text(FOUND), openai.text(PLAN))
        verdict = "ITERATE\nCategory: LOGIC\nReason: it says Bye\nFix: words.template: say Hello"
        state = await session.approve(
            openai.tool_call("build_flow", {"spec": WRONG}),
            openai.text("Built."),
            openai.text("DONE"),  # the model lets it through; the trials do not
            openai.text(PLAN),
        )
        assert waits_for(state) == "plan_approval"
        assert state["iteration"] == 2
        assert state["interrupt"]["data"]["verdict"]["category"] == "LOGIC"
        state = await session.approve(
            openai.tool_call("configure_component", {"node_id": "words", "params": {"template": "Bye bye {text}!"}}),
            openai.text("Changed."),
            openai.text(verdict),
            openai.text(PLAN),
            openai.tool_call("configure_component", {"node_id": "words", "params": {"template": "Hello {text}!"}}),
            openai.text("Changed."),
            openai.text("DONE"),
            repairs_approved=True,
        )
        assert waits_for(state) == "result_review"
        assert state["iteration"] == 3
        asked = json.dumps([one.body for one in openai.asked])
        assert "What to do about each kind" not in asked  # only the entry of the category
        assert "CONVERGE VERDICT [LOGIC]: it says Bye" in asked
        assert (await session.accept())["status"] == "completed"
        assert (await session.flow())["definition"]["nodes"][1]["params"]["template"] == "Hello {text}!"

    @ON_SQLITE
    async def test_that_is_stopped_while_a_trial_runs_cancels_the_run(self, session: Session) -> None:
        openai, client = session.openai, session.client
        await session.start(openai.text(FOUND), openai.text(PLAN))
        session.lines.extend([openai.tool_call("build_flow", {"spec": SLOW}), openai.text("Built.")])
        body = {
            "interrupt_id": session.state["interrupt"]["id"],
            "response": {"type": "plan_approval", "approved": True},
        }
        begun = await client.post(f"{session.path}/resume", json=body, params={"wait": False})
        assert begun.json()["status"] == "in_progress"
        run = await _run_with(client, "waiting")
        assert (await client.post(f"{session.path}/stop")).status_code == 200
        assert (await _run_with(client, "cancelled"))["id"] == run["id"]
        stopped = (await client.get(session.path)).json()
        assert stopped["status"] == "stopped"
        assert stopped["can_roll_back"] is True

    @ON_SQLITE
    async def test_is_gone_when_it_is_rolled_back(self, session: Session) -> None:
        openai = session.openai
        await session.start(openai.text(FOUND), openai.text(PLAN))
        build = openai.tool_call("build_flow", {"spec": GREETING})
        state = await session.approve(build, openai.text("Built."), openai.text("DONE"))
        assert state["can_roll_back"] is True
        back = await session.client.post(f"{session.path}/rollback")
        assert back.status_code == 200, back.text
        assert back.json()["can_roll_back"] is False
        assert (await session.client.get("/flows")).json()["items"] == []


class TestFlowThatIsThere:
    async def test_changed_by_a_person_after_the_approval_is_planned_anew(self, session: Session) -> None:
        openai, client = session.openai, session.client
        flow = await _greeting(client)
        await session.start(openai.text(FOUND), openai.text(PLAN), flow_id=flow["id"], requirement="Greet warmly")
        person = {"revision": flow["revision"], "definition": flow["definition"] | {"description": "Mine"}}
        assert (await client.patch(f"/flows/{flow['id']}/draft", json=person)).status_code == 200

        state = await session.approve(openai.text(FOUND), openai.text(PLAN))
        assert waits_for(state) == "plan_approval"
        assert "changed by another user" in state["interrupt"]["data"]["conflict"]["message"]
        assert (await session.flow())["definition"]["description"] == "Mine"

        state = await session.approve(
            openai.tool_call("rename_component", {"node_id": "words", "new_id": "welcome"}),
            openai.text("Renamed."),
            openai.text("DONE"),
        )
        assert waits_for(state) == "result_review"
        assert "~ node 'words' is now 'welcome'" in state["interrupt"]["data"]["diff"]
        stored = await session.flow()
        assert stored["definition"]["description"] == "Mine"
        assert [node["id"] for node in stored["definition"]["nodes"]] == ["who", "welcome", "out"]

        back = await client.post(f"{session.path}/rollback")
        assert back.status_code == 200, back.text
        restored = await session.flow()
        assert restored["definition"]["description"] == "Mine"
        assert [node["id"] for node in restored["definition"]["nodes"]] == ["who", "words", "out"]

    async def test_of_two_sessions_the_second_sees_a_conflict(
        self, session: Session, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        flow = await _greeting(client)
        await session.start(openai.text(FOUND), openai.text(PLAN), flow_id=flow["id"])
        other = Session(client, openai)
        other.lines = session.lines
        await other.start(openai.text(FOUND), openai.text(PLAN), flow_id=flow["id"])
        rename = openai.tool_call("rename_component", {"node_id": "words", "new_id": "welcome"})
        assert waits_for(await session.approve(rename, openai.text("Done."), openai.text("DONE"))) == "result_review"
        state = await other.approve(openai.text(FOUND), openai.text(PLAN))
        assert waits_for(state) == "plan_approval"
        assert state["interrupt"]["data"]["conflict"] is not None
        assert (await other.flow())["definition"]["nodes"][1]["id"] == "welcome"

    @ON_SQLITE
    async def test_of_another_is_not_found(self, session: Session) -> None:
        flow_id = "00000000-0000-7000-8000-00000000dead"
        body = {"requirement": "x", "flow_id": flow_id, "model": "openai/gpt-5-mini"}
        answer = await session.client.post("/codev/sessions", json=body)
        assert answer.status_code == 404
        assert answer.json()["code"] == "flow_not_found"


async def _run_with(client: httpx2.AsyncClient, status: str) -> dict[str, Any]:
    """The run that is in a state, once there is one."""
    for _ in range(400):
        found = (await client.get("/flow-runs", params={"status": status})).json()["items"]
        if found:
            return dict(found[0])
        await asyncio.sleep(0.025)
    raise AssertionError(f"no run is {status}")


async def _greeting(client: httpx2.AsyncClient) -> dict[str, Any]:
    nodes = [
        {"id": "who", "type": "ChatInput"},
        {"id": "words", "type": "PromptTemplate", "params": {"template": "Hello {text}!"}},
        {"id": "out", "type": "ChatOutput"},
    ]
    edges = [
        {"source": "who", "output": "text", "target": "words", "input": "text"},
        {"source": "words", "output": "text", "target": "out", "input": "input"},
    ]
    body = {"definition": {"name": "Greeting", "nodes": nodes, "edges": edges}}
    made = await client.post("/flows", json=body)
    assert made.status_code == 201, made.text
    return dict(made.json())


async def _is_all_there(session: Session, app: FastAPI, trials: list[dict[str, Any]]) -> None:
    """The flow, the runs with their evidence, the tests, the pattern, the summary; and the secret nowhere."""
    client, flow_id = session.client, session.state["flow_id"]
    assert [node["type"] for node in (await session.flow())["definition"]["nodes"]] == [
        "ChatInput",
        "PromptTemplate",
        "ChatOutput",
    ]
    for trial in trials:
        run = (await client.get(f"/flow-runs/{trial['run_id']}")).json()
        assert (run["status"], run["flow_id"]) == ("completed", flow_id)
        assert trial["link"] == f"/flows/{flow_id}/runs/{trial['run_id']}"
        evidence = (await client.get(f"/flow-runs/{trial['run_id']}/evidence")).json()
        assert len(evidence["step_results"]) == 3
    assert (await client.get(f"/flows/{flow_id}/tests")).json()["cases"][0]["name"] == "greets by name"
    assert len((await client.get("/codev/patterns")).json()["items"]) == 1
    summary = (await client.get(f"{session.path}/summary")).json()["summary"]
    assert "Greet whoever writes" in summary
    assert "greets by name" in summary
    writes = session.state["state"]["writes"]
    assert [(one["tool"], one["state"]) for one in writes] == [("build_flow", "done")]
    assert session.state["total_input_tokens"] > 0
    await _secret_is_nowhere(app, TOKEN)


async def _secret_is_nowhere(app: FastAPI, secret: str) -> None:
    """In no table in the clear."""
    async with app.state.database.reading() as session:
        sqlite = app.state.database.engine.dialect.name == "sqlite"
        names = "SELECT name FROM sqlite_master WHERE type = 'table'" if sqlite else (
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")  # fmt: skip
        for name in (await session.execute(text(names))).scalars().all():
            rows = (await session.execute(text(f'SELECT * FROM "{name}"'))).all()
            assert secret not in str([[_plain(value) for value in row] for row in rows]), name


def _plain(value: object) -> object:
    return value.decode("latin-1") if isinstance(value, bytes) else bytes(value).decode("latin-1") if isinstance(
        value, memoryview) else value  # fmt: skip
