"""Components through the assistant over HTTP: made, found by the next request, run in flows, gone with the session."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.agents.assistant.protocol import COMPONENT_CONTINUATION_INPUT
from headgate.agents.assistant.schemas import AssistRequest
from headgate.agents.assistant.service import Assistant
from headgate.entrypoints.http.app import create_app
from headgate.features.access.permissions import Role
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import Settings
from tests.integration.agents.assistant.generation.test_pipeline import FAILED, PASSED, SUM, SYNTAX, answer
from tests.integration.agents.assistant.test_assist import acting, streamed
from tests.support.intents import IntentAnswers
from tests.support.openai_server import OpenAIServer
from tests.support.tenants import add_colleague

SHOUT = '''from headgate.sdk import Component, Text, field, output


class Shout(Component):
    """Says a text in capitals. Use it to shout."""

    text: str = field(label="Text", help="What to shout.", main=True, tool_mode=True)

    @output(label="Loud")
    def shout_text(self) -> Text:
        """The text in capitals."""
        return self.text.upper() + "!"
'''
SPEC = """name: Loud
nodes:
  heard: ChatInput
  loud: Shout
  said: ChatOutput
edges:
  heard.text -> loud.text
  loud.shout_text -> said.input
"""
AGENT = """name: Shouting agent
nodes:
  heard: ChatInput
  loud: Shout
  boss: Agent
    model: openai/gpt-5-mini
    policy:
      tool_policy: restricted
      tool_allowlist: ["shout_text"]
  said: ChatOutput
edges:
  heard.text -> boss.input
  loud.tool -> boss.tools
  boss.response -> said.input
"""
RESET = "/api/v1/agentic/sessions/reset"
pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture
def intents(openai: OpenAIServer) -> IntentAnswers:
    return IntentAnswers(openai, intent="generate_component")


@pytest.fixture
async def app(settings: Settings, openai: OpenAIServer, intents: IntentAnswers) -> AsyncIterator[FastAPI]:
    made = create_app(settings)
    async with made.router.lifespan_context(made):
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", "sk-test-0123456789"), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(session, LOCAL, made.state.box, name=name, value=SecretStr(value))
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411", timeout=60) as found:
        yield found


async def saved(client: httpx2.AsyncClient, events: list[dict[str, Any]]) -> None:
    """The user accepts the component that the turn proposed."""
    data = events[-1]["data"]
    body = {"code": data["component_code"], "proposal_id": data["component_proposal"]}
    (await client.post("/api/v1/agentic/components", json=body)).raise_for_status()


def steps(events: list[dict[str, Any]]) -> list[str]:
    return [event["step"] for event in events if event.get("step") in {*PASSED, *FAILED, "retrying"}]


class TestGenerateComponent:
    async def test_streams_every_stage_and_ends_with_the_component(
        self, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        openai.script(openai.text(answer(SYNTAX), tokens=(100, 10)), openai.text(answer(SUM), tokens=(200, 20)))
        events = await streamed(client, input_value="create a component that sums a + b")
        assert steps(events) == [*FAILED, "retrying", *PASSED]
        data = events[-1]["data"]
        assert (data["validated"], data["class_name"], data["validation_attempts"]) == (True, "SumComponent", 2)
        assert data["component_code"] == SUM
        assert data["usage"]["total_tokens"] == 330 + 72
        assert not [event for event in events if event["event"] == "token"]

    async def test_is_an_honest_answer_when_no_attempt_passed(
        self, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        openai.script(openai.text(answer(SYNTAX)))
        events = await streamed(client, input_value="create a component", max_retries=2)
        assert steps(events) == [*FAILED, "retrying", *FAILED]
        data = events[-1]["data"]
        assert (data["validated"], data["validation_attempts"], data["component_code"]) == (False, 2, SYNTAX)
        assert "No working component after 2 attempts" in data["result"]

    async def test_goes_on_with_the_providers_next_model_without_using_up_an_attempt(
        self, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        openai.script(openai.no_such_model("gpt-5-mini"), openai.text(answer(SUM)))
        events = await streamed(client, input_value="create a component that sums a + b")
        assert steps(events) == PASSED
        data = events[-1]["data"]
        assert (data["validation_attempts"], data["class_name"]) == (1, "SumComponent")
        asked = [one.body["model"] for one in openai.asked]
        assert (asked[0], data["model"]) == ("gpt-5-mini", f"openai/{asked[1]}")
        assert asked[1] != asked[0]

    async def test_is_nothing_when_the_asker_hangs_up(
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        openai.script(openai.slow_text(answer(SUM), 30))
        request = AssistRequest(input_value="create a component", provider="openai", model_name="gpt-5-mini")
        assistant: Assistant = app.state.assistant
        stream = assistant.stream(await assistant.open(LOCAL, request), request)
        async for event in stream:
            if event.get("step") == "generating_component":
                break
        await stream.aclose()
        assert await app.state.workshop.components.own_components(LOCAL) == ()
        assert (await client.post(RESET)).json()["components_cleared"] == 0

    async def test_leaves_example_code_in_answers_to_questions_alone(
        self, client: httpx2.AsyncClient, openai: OpenAIServer, intents: IntentAnswers
    ) -> None:
        intents.intent = "question"
        openai.script(openai.text(answer(SUM)))
        events = await streamed(client, input_value="how do I create a component?")
        assert steps(events) == []
        assert SUM.strip() in events[-1]["data"]["result"]
        assert "component_code" not in events[-1]["data"]


class TestNextRequest:
    async def test_finds_builds_with_and_runs_what_was_made(
        self, client: httpx2.AsyncClient, openai: OpenAIServer, intents: IntentAnswers
    ) -> None:
        openai.script(
            openai.text(answer(SHOUT)),
            openai.tool_call("search_components", {"query": "shout a text in capitals"}),
            openai.tool_call("build_flow", {"spec": SPEC}),
            openai.tool_call("run_flow", {"text": "hej"}),
            openai.text("It shouted."),
        )
        await saved(client, await streamed(client, input_value="create a component that shouts", session_id="one"))
        intents.intent = "build_flow"
        events = await streamed(client, input_value="build a flow with Shout and run it", session_id="two")
        data = events[-1]["data"]
        assert data["run_status"] == "completed", data
        run = (await client.get(f"/api/v1/flow-runs/{data['run_id']}")).json()
        assert run["output"]["text"] == "HEJ!"
        node = next(one for one in data["flow"]["nodes"] if one["type"] == "Shout")
        assert node["code"] == SHOUT

    async def test_of_somebody_else_does_not_find_it(
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer, intents: IntentAnswers
    ) -> None:
        asks = openai.tool_call("describe_component", {"component_type": "Shout"})
        openai.script(openai.text(answer(SHOUT)), asks, openai.text("No."))
        await saved(client, await streamed(client, input_value="create a component that shouts"))
        intents.intent = "build_flow"
        async with acting(app, await add_colleague(app.state.database, "bob", Role.EDITOR)) as bob:
            await streamed(bob, input_value="what is Shout?")
        assert "There is no component 'Shout'" in json.dumps(openai.asked[-1].body)


class TestInTheLoop:
    async def test_proposes_a_component_and_continues_with_it_when_it_is_saved(
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer, intents: IntentAnswers
    ) -> None:
        intents.intent = "component_then_flow"
        openai.script(
            openai.tool_call("generate_component", {"description": "Says a text in capitals."}),
            openai.text(answer(SHOUT), tokens=(300, 30)),
            openai.text("It waits for you."),
            openai.tool_call("build_flow", {"spec": SPEC}),
            openai.tool_call("run_flow", {"text": "hej"}),
            openai.text("It shouted."),
        )
        request = "make a component that shouts, build a flow with it, run it"
        events = await streamed(client, input_value=request, session_id="one")
        assert steps(events) == PASSED
        data = events[-1]["data"]
        assert (data["continuation_expected"], data["done"]) == (True, ["Component Shout proposed."])
        assert data["usage"]["total_tokens"] >= 330
        assert await app.state.workshop.components.own_components(LOCAL) == ()
        told = "".join(event["chunk"] for event in events if event["event"] == "token")
        assert "class Shout" not in told
        assert "shout_text" in json.dumps(openai.asked[2].body)
        await saved(client, events)
        events = await streamed(client, input_value=COMPONENT_CONTINUATION_INPUT, session_id="one")
        data = events[-1]["data"]
        assert data["run_status"] == "completed", data
        assert (await client.get(f"/api/v1/flow-runs/{data['run_id']}")).json()["output"]["text"] == "HEJ!"
        assert request in json.dumps(openai.asked[3].body)

    async def test_proposes_code_that_the_model_wrote_itself_and_tells_every_fault(
        self, client: httpx2.AsyncClient, openai: OpenAIServer, intents: IntentAnswers
    ) -> None:
        intents.intent = "component_then_flow"
        wrong = SHOUT.replace("shout_text", "to_toolkit").replace("return self", "import socket\n        return self")
        openai.script(
            openai.tool_call("propose_component", {"code": wrong}),
            openai.tool_call("propose_component", {"code": SHOUT}),
            openai.text("Proposed."),
        )
        events = await streamed(client, input_value="use this component")
        assert events[-1]["event"] == "complete"
        refusal = json.loads(openai.asked[1].body["messages"][-1]["content"])
        assert refusal["ok"] is False
        assert [one["line"] for one in refusal["findings"]] == sorted(one["line"] for one in refusal["findings"])
        assert len(refusal["findings"]) >= 1
        accepted = json.loads(openai.asked[2].body["messages"][-1]["content"])
        assert (accepted["class_name"], accepted["tool_name"], accepted["attempts"]) == ("Shout", "shout_text", 1)
        assert accepted["reach"] == {"imports": ["headgate"], "hosts": [], "files": False, "secrets": []}
        assert "every output" in accepted["test"]


class TestAsTool:
    async def test_is_called_by_what_its_method_does_and_allowed_by_that_name(
        self, client: httpx2.AsyncClient, openai: OpenAIServer, intents: IntentAnswers
    ) -> None:
        openai.script(
            openai.text(answer(SHOUT)),
            openai.tool_call("build_flow", {"spec": AGENT}),
            openai.tool_call("run_flow", {"text": "shout hej"}),
            openai.tool_call("shout_text", {"text": "hej"}),
            openai.text("It says HEJ!"),
            openai.text("Done."),
        )
        await saved(client, await streamed(client, input_value="create a component that shouts"))
        intents.intent = "build_flow"
        data = (await streamed(client, input_value="give an agent Shout as its tool and run it"))[-1]["data"]
        assert data["run_status"] == "completed", data
        (offered,) = openai.asked[3].body["tools"]
        assert offered["function"]["name"] == "shout_text"
        assert "Use it to shout." in offered["function"]["description"]
        assert openai.asked[4].body["messages"][-1]["content"] == "HEJ!"


class TestReset:
    async def test_clears_the_callers_own_alone(
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        openai.script(openai.text(answer(SUM)))
        bob = await add_colleague(app.state.database, "bob", Role.EDITOR)
        async with acting(app, bob) as other:
            for who in (client, other):
                await saved(who, await streamed(who, input_value="create a component", session_id="shared"))
            done = await client.post(RESET, params={"session_id": "shared", "user_id": bob.user_id})
            assert done.json() == {"status": "ok", "components_cleared": 1, "session_id": "shared"}
            again = await client.post(RESET, params={"session_id": "shared"})
            assert again.json()["components_cleared"] == 0
            assert (await other.post(RESET)).json() == {"status": "ok", "components_cleared": 1, "session_id": None}

    async def test_counts_what_it_did(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        openai.script(openai.text(answer(SUM)))
        await saved(client, await streamed(client, input_value="create a component"))
        await client.post(RESET)
        figures = (await client.get("/metrics")).text
        assert "headgate_assistant_session_reset_total 1.0" in figures
        assert "headgate_assistant_session_reset_components_cleared_total 1.0" in figures

    async def test_refuses_ids_that_are_too_long_and_people_who_may_not_ask(
        self, app: FastAPI, client: httpx2.AsyncClient
    ) -> None:
        assert (await client.post(RESET, params={"session_id": "x" * 129})).status_code == 422
        assert (await client.post(RESET, params={"session_id": "x" * 128})).status_code == 200
        async with acting(app, await add_colleague(app.state.database, "viewer", Role.VIEWER)) as viewer:
            assert (await viewer.post(RESET)).status_code == 403
