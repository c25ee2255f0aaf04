"""Keys that people write into what they want, and values of credentials, over HTTP: nobody is told of them."""

import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.agents.codev.keys import HINT, LEFT_OUT
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import Settings
from tests.support.openai_server import OpenAIServer
from tests.support.own_place import GREETING
from tests.support.people import asking, running
from tests.support.scripted_server import Script

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
CASES = [{"name": "greets", "text": "Ann", "expect": {"contains": ["Hello Ann"]}}]
PLAN = f"# Plan\n\nAs wanted.\n\n```tests\n{json.dumps(CASES)}\n```"
FOUND = "PromptTemplate.\n\nCREDENTIALS_STATUS: MISSING\nMISSING_TYPES: CRM_TOKEN"
MODEL_KEY = "sk-of-the-model-0123456789abcdef"
VALUE = "value-of-the-credential-that-nobody-sees"
PASSWORD = "hunter2-of-the-crm"


def key(of: str) -> str:
    return f"sk-proj-{of}-0123456789abcdefghij"


@pytest.fixture
async def app(settings: Settings, openai: OpenAIServer) -> AsyncIterator[FastAPI]:
    async with running(settings) as made:
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", MODEL_KEY), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(
                    session, LOCAL, made.state.box, name=name, value=SecretStr(value), organisation=True
                )
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    async with asking(app) as found:
        found.timeout = httpx2.Timeout(60)
        yield found


class TestSecrets:
    async def test_are_in_no_prompt_file_answer_event_or_log(
        self, client: httpx2.AsyncClient, openai: OpenAIServer, settings: Settings, capfd: pytest.CaptureFixture[str]
    ) -> None:
        lines = deque[Script]()
        openai.sort = lambda _asked: lines.popleft() if lines else None
        state: dict[str, Any] = {}
        told: list[str] = []

        async def post(path: str, body: dict[str, Any], *script: Script) -> dict[str, Any]:
            lines.extend(script)
            answer = await client.post(path, json=body)
            assert answer.status_code in {200, 201}, answer.text
            told.append(answer.text)
            return dict(answer.json())

        async def say(kind: str, *script: Script, **more: Any) -> dict[str, Any]:
            assert state["interrupt"]["type"] == kind, state
            body = {"interrupt_id": state["interrupt"]["id"], "response": {"type": kind, **more}}
            return await post(f"/codev/sessions/{state['thread_id']}/resume", body, *script)

        wanted = {"requirement": f"Greet whoever writes, with {key('start')}", "model": "openai/gpt-5-mini"}
        state = await post("/codev/sessions", wanted, openai.text("SCORE: 9\n1. Which key?"))
        assert state["requirement"] == f"Greet whoever writes, with {LEFT_OUT}"
        assert state["hint"] == HINT
        state = await say("clarification", openai.text(FOUND), text=f"It is {key('clarified')}")
        given = {"type": "CRM_TOKEN", "name": key("name"), "values": {"CRM_TOKEN": VALUE}}
        await post(f"/codev/sessions/{state['thread_id']}/credentials", given)
        state = await say("credential_check", openai.text(PLAN))
        assert state["hint"] == ""
        feedback = f"The password is {PASSWORD}."
        state = await say("plan_approval", openai.text(PLAN), approved=False, feedback=feedback)
        assert state["hint"] == HINT
        edited = [*CASES, {"name": "key", "text": key("case")}]
        state = await say(
            "plan_approval",
            openai.tool_call("build_flow", {"spec": GREETING}),
            openai.text("Built."),
            openai.text("DONE"),
            approved=True,
            plan=f"Write {key('plan')} into the flow.",
            cases=edited,
        )
        state = await say("result_review", openai.text(PLAN), accepted=False, feedback=f"Use {key('feedback')}")
        state = await say(
            "plan_approval", *[openai.text("Nothing to do.")] * 2, openai.text("DONE"), approved=True, cases=edited
        )
        state = await say("result_review", accepted=True, save_tests=True)
        assert state["status"] == "completed"

        path = f"/codev/sessions/{state['thread_id']}"
        for one in (
            path,
            f"{path}/summary",
            f"{path}/events",
            "/codev/patterns",
            "/audit",
            f"/flows/{state['flow_id']}",
        ):
            found = await client.get(one)
            assert found.status_code == 200, found.text
            told.append(found.text)
        told += [json.dumps([one.body for one in openai.asked]), *capfd.readouterr()]
        secret = [key(of) for of in ("start", "clarified", "name", "plan", "case", "feedback")]
        files = [one for one in settings.data_dir.rglob("*") if one.is_file()]
        assert {"headgate.db", "development.db"} <= {one.name for one in files}
        for one in (*secret, PASSWORD, VALUE, MODEL_KEY):
            assert [text[:200] for text in told if one in text] == []
            assert [file.name for file in files if one.encode() in file.read_bytes()] == []
        assert sum(LEFT_OUT.encode() in file.read_bytes() for file in files) >= 1
