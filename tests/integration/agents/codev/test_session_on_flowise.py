"""Whole sessions on a Flowise server, over HTTP; the model is a scripted server that speaks OpenAI's protocol."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import CodevSettings, FlowiseInstance, Settings
from tests.integration.agents.codev.test_session_on_own_flow import ON_SQLITE, Session, waits_for
from tests.support.flowise_recordings import recorded_flow
from tests.support.flowise_server import KEY, FlowiseServer, flowise_server
from tests.support.openai_server import OpenAIServer
from tests.support.people import asking, running
from tests.unit.agents.codev.domains.flowise.flows import LLM_CHAIN, TWO_FUNCTIONS

MODEL_KEY = "sk-test-" + "0123456789abcdef"
CASES = [{"name": "echoes", "text": "abc", "expect": {"contains": ["echo: abc"]}}]
PLAN = f"**Two functions.**\n\n```tests\n{json.dumps(CASES)}\n```"
FOUND = "customFunction (javascriptFunction).\n\nCREDENTIALS_STATUS: OK"
SHOUT = {"name": "Shout", **TWO_FUNCTIONS}
UNDONE = {"name": "Shout", "nodes": TWO_FUNCTIONS["nodes"][:1], "edges": [{"from": "customFunction_0", "to": "gone.x"}]}


@pytest.fixture
async def flowise() -> AsyncIterator[FlowiseServer]:
    async with flowise_server() as found:
        yield found


@pytest.fixture
async def app(settings: Settings, openai: OpenAIServer, flowise: FlowiseServer) -> AsyncIterator[FastAPI]:
    house = FlowiseInstance(id="house", endpoint=flowise.endpoint, api_key=SecretStr(KEY))
    codev = CodevSettings(flowise_instances=[house], flowise_timeout_seconds=5)
    async with running(settings.model_copy(update={"codev": codev})) as made:
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", MODEL_KEY), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(
                    session, LOCAL, made.state.box, name=name, value=SecretStr(value), organisation=True
                )
        yield made


@pytest.fixture
async def session(app: FastAPI, openai: OpenAIServer) -> AsyncIterator[Session]:
    async with asking(app) as client:
        client.timeout = httpx2.Timeout(60)
        yield Session(client, openai)


async def planned(session: Session, **body: Any) -> dict[str, Any]:
    openai = session.openai
    found = openai.tool_call("get_node", {"name": "customFunction"})
    return await session.start(found, openai.text(FOUND), openai.text(PLAN), domain="flowise", **body)


class TestNewChatflow:
    async def test_from_a_plan_to_an_accepted_chatflow(self, session: Session, flowise: FlowiseServer) -> None:
        openai = session.openai
        assert waits_for(await planned(session)) == "plan_approval"
        assert flowise.writes == 0
        state = await session.approve(
            openai.tool_call("create_chatflow", UNDONE),
            openai.tool_call("create_chatflow", SHOUT),
            openai.text("Built as planned."),
            openai.text("DONE"),
        )
        assert waits_for(state) == "result_review", state
        assert [one["passed"] for one in state["interrupt"]["data"]["trials"]] == [True]
        assert "+ customFunction_0: customFunction" in state["interrupt"]["data"]["diff"]
        assert state["link"] == f"{flowise.endpoint}/canvas/{state['flow_id']}"
        assert flowise.writes == 1
        state = await session.accept()
        assert state["status"] == "completed"
        assert flowise.chatflows[state["flow_id"]]["name"] == "Shout"
        assert KEY not in json.dumps(state) + json.dumps([one.body for one in openai.asked])

    @ON_SQLITE
    async def test_waits_for_the_key_of_its_model_which_is_a_variable_here(
        self, session: Session, flowise: FlowiseServer
    ) -> None:
        openai = session.openai
        found = openai.tool_call("get_node", {"name": "customFunction"})
        refused = lambda _asked: openai.wrong_key("no")  # noqa: E731
        state = await session.start(found, openai.text(FOUND), refused, domain="flowise")
        assert waits_for(state) == "credential_check"
        assert state["interrupt"]["data"]["of"] == "model"
        before = len(flowise.credentials)
        given = {"type": "OPENAI_API_KEY", "values": {"OPENAI_API_KEY": MODEL_KEY + "new"}}
        answer = await session.client.post(f"{session.path}/credentials", json=given)
        assert answer.json()["interrupt"]["data"]["missing"] == []
        assert len(flowise.credentials) == before, "the key is given to Headgate and not to Flowise"
        assert waits_for(await session.answer({"type": "credential_check"}, openai.text(PLAN))) == "plan_approval"
        assert openai.asked[-1].headers["authorization"] == f"Bearer {MODEL_KEY}new"

    @ON_SQLITE
    async def test_asks_for_a_credential_and_makes_it(self, session: Session, flowise: FlowiseServer) -> None:
        openai = session.openai
        lacking = openai.text("CREDENTIALS_STATUS: MISSING\nMISSING_TYPES: airtableApi")
        state = await session.start(lacking, domain="flowise", instance_id="house")
        assert waits_for(state) == "credential_check"
        assert [one["type"] for one in state["interrupt"]["data"]["missing"]] == ["airtableApi"]
        given = {"type": "airtableApi", "name": "mine", "values": {"accessToken": "pat-nobody-sees"}}
        answer = await session.client.post(f"{session.path}/credentials", json=given)
        assert answer.status_code == 200, answer.text
        state = await session.answer({"type": "credential_check"}, openai.text(PLAN))
        assert waits_for(state) == "plan_approval"
        assert flowise.credentials[-1]["credentialName"] == "airtableApi"
        assert "pat-nobody-sees" not in json.dumps(state) + json.dumps([one.body for one in openai.asked])


class TestChatflowThatIsThere:
    @ON_SQLITE
    async def test_is_changed_and_rolled_back(self, session: Session, flowise: FlowiseServer) -> None:
        openai = session.openai
        flow_id = flowise.add("Chain", recorded_flow("llmchain"))
        before = flowise.flow(flow_id)
        await planned(session, flow_id=flow_id)
        edit = {"id": "promptTemplate_0", "inputs": {"template": "Sing: {q}"}}
        state = await session.approve(
            openai.tool_call("change_node", edit), openai.text("Changed."), openai.text("DONE")
        )
        assert waits_for(state) == "result_review"
        assert state["interrupt"]["data"]["diff"] == ['~ promptTemplate_0.template: "Say: {q}" -> "Sing: {q}"']
        await session.accept()
        assert (await session.client.post(f"{session.path}/rollback")).status_code == 200
        after = flowise.flow(flow_id)
        assert {key: after[key] for key in before} == before
        assert flowise.chatflows[flow_id]["name"] == "Chain"

    @ON_SQLITE
    async def test_that_somebody_else_changes_is_not_written_to(self, session: Session, flowise: FlowiseServer) -> None:
        openai = session.openai
        flow_id = flowise.add("Chain", recorded_flow("llmchain"))
        await planned(session, flow_id=flow_id)
        theirs = recorded_flow("llmchain")
        theirs["nodes"][1]["data"]["inputs"]["template"] = "Theirs: {q}"
        flowise.chatflows[flow_id]["flowData"] = json.dumps(theirs)
        update = {"nodes": LLM_CHAIN["nodes"], "edges": LLM_CHAIN["edges"]}
        state = await session.approve(
            openai.tool_call("update_chatflow", update), openai.text(FOUND), openai.text(PLAN)
        )
        assert waits_for(state) == "plan_approval"
        assert "changed by another user" in json.dumps(state["interrupt"]["data"]["conflict"])
        assert flowise.flow(flow_id) == theirs
        assert flowise.writes == 0
