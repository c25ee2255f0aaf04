"""The assistant over HTTP: real application, real OpenAI client, a scripted server speaking OpenAI's protocol."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.entrypoints.http.app import create_app
from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import LOCAL, Access, Principal
from headgate.features.models.providers import PROVIDER_VARIABLES
from headgate.features.models.setup.roles import environment_roles
from headgate.features.models.setup.space import SpaceModels
from headgate.features.secrets import service as secrets
from headgate.foundation.ids import new_id
from headgate.foundation.settings import CodevSettings, ModelSettings, Settings
from tests.integration.http.conftest import ECHO, created
from tests.support.direct import DIRECT
from tests.support.intents import IntentAnswers
from tests.support.openai_server import OpenAIServer
from tests.support.patience import PATIENCE_SECONDS
from tests.support.secret_reads import NotedReads
from tests.support.tenants import ActingAs, add_colleague, add_person

KEY = "sk-test-0123456789abcdef"
MODEL = {"provider": "openai", "model_name": "gpt-5-mini"}


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        IntentAnswers(server)
        yield server


@pytest.fixture
async def app(settings: Settings, openai: OpenAIServer) -> AsyncIterator[FastAPI]:
    made = create_app(settings)
    async with made.router.lifespan_context(made):
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(session, LOCAL, made.state.box, name=name, value=SecretStr(value))
        yield made


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411", timeout=60) as found:
        yield found


async def streamed(client: httpx2.AsyncClient, **body: Any) -> list[dict[str, Any]]:
    answer = await client.post("/api/v1/agentic/assist/stream", json=MODEL | body)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    frames = [frame for frame in answer.text.split("\n\n") if frame]
    assert [frame.split("\n")[0] for frame in frames] == [f"id: {number}" for number in range(1, len(frames) + 1)]
    return [json.loads(frame.split("data: ", 1)[1]) for frame in frames]


class TestStream:
    async def test_builds_a_flow_and_never_saves_it_unasked(
        self, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        openai.script(openai.tool_call("build_flow", {"spec": ECHO}), openai.text("It repeats what it hears."))
        events = await streamed(client, input_value="build an echo")
        kinds = [event["event"] for event in events]
        assert kinds[0] == "progress"
        assert kinds[-1] == "complete"
        preview = next(event for event in events if event["event"] == "flow_preview")
        assert (preview["name"], preview["node_count"], preview["edge_count"]) == ("Echo", 2, 1)
        update = next(event for event in events if event["event"] == "flow_update")
        assert update["action"] == "set_flow"
        data = events[-1]["data"]
        assert data["result"] == "It repeats what it hears."
        assert data["usage"]["total_tokens"] > 0
        assert data["duration_seconds"] > 0
        assert data["saved"] is False
        assert (await client.get("/api/v1/flows")).json()["items"] == []

    async def test_saves_what_it_built_when_it_may(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        openai.script(openai.tool_call("build_flow", {"spec": ECHO}), openai.text("Done."))
        data = (await streamed(client, input_value="build an echo", apply=True))[-1]["data"]
        flow = (await client.get(f"/api/v1/flows/{data['flow_id']}")).json()
        assert flow["name"] == "Echo"
        assert data["saved"] is True

    async def test_builds_and_runs_in_one_request(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        openai.script(
            openai.tool_call("build_flow", {"spec": ECHO}),
            openai.tool_call("run_flow", {"text": "hej"}),
            openai.text("It said hej."),
        )
        events = await streamed(client, input_value="build an echo and run it with hej")
        kinds = [event["kind"] for event in events if event["event"] == "run_update"]
        assert kinds[0] == "run_started"
        assert kinds[-1] == "run_completed"
        data = events[-1]["data"]
        assert data["run_status"] == "completed"
        run = (await client.get(f"/api/v1/flow-runs/{data['run_id']}")).json()
        assert run["output"]["text"] == "hej"

    async def test_tells_what_changed_from_the_flow_not_from_the_words(
        self, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        flow = await created(client)
        openai.script(openai.text("I have renamed everything and published it."))
        data = (await streamed(client, input_value="rename it all", flow_id=flow["id"]))[-1]["data"]
        assert data["changes"] == []
        assert data["flow"] is None

    async def test_edits_the_flow_it_was_given(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        flow = await created(client)
        openai.script(
            openai.tool_call("configure_component", {"node_id": "heard", "params": {"text": "fixed"}}),
            openai.text("It now says fixed."),
        )
        data = (await streamed(client, input_value="always say fixed", flow_id=flow["id"], apply=True))[-1]["data"]
        assert any("heard" in line for line in data["changes"])
        assert data["revision"] == 2
        saved = (await client.get(f"/api/v1/flows/{flow['id']}")).json()
        assert saved["definition"]["nodes"][0]["params"] == {"text": "fixed"}

    async def test_keeps_the_flow_that_it_replaced(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        flow = await created(client)
        other = ECHO.replace("heard", "asked").replace("said", "told")
        openai.script(openai.tool_call("build_flow", {"spec": other}), openai.text("A new one."))
        data = (await streamed(client, input_value="start over", flow_id=flow["id"], apply=True))[-1]["data"]
        kept = (await client.get(f"/api/v1/flows/{flow['id']}/versions/{data['kept_version']}")).json()
        assert [node["id"] for node in kept["definition"]["nodes"]] == ["heard", "said"]

    async def test_says_what_keeps_a_flow_from_running(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        modelless = ECHO.replace("said: ChatOutput", "said: AIStep\n    prompt: Summarise.")
        openai.script(openai.tool_call("build_flow", {"spec": modelless}), openai.text("All is well."))
        data = (await streamed(client, input_value="summarise what I say"))[-1]["data"]
        assert "model" in data["issues"][0]["message"]


class TestBrokenModels:
    async def test_a_wrong_key_names_the_variable_and_hides_the_key(
        self, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        openai.script(openai.wrong_key(f"Incorrect API key provided: {KEY}."))
        last = (await streamed(client, input_value="hello"))[-1]
        assert last["event"] == "error"
        assert "OPENAI_API_KEY" in last["message"] + last["remedy"]
        assert KEY not in json.dumps(last)

    async def test_an_answer_cut_short_loses_nothing(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        flow = await created(client)
        openai.script(
            openai.tool_call("configure_component", {"node_id": "heard", "params": {"text": "half"}}),
            openai.reset_half_way(),
            openai.reset_half_way(),
            openai.reset_half_way(),
            openai.reset_half_way(),
        )
        last = (await streamed(client, input_value="edit", flow_id=flow["id"], apply=True))[-1]
        assert (last["event"], last["flow_id"]) == ("error", flow["id"])
        assert last["changes"] == ["~ node 'heard' params.text set to \"half\""]
        saved = (await client.get(f"/api/v1/flows/{flow['id']}")).json()
        assert saved["revision"] == 2

    async def test_a_missing_key_is_told_before_anything_is_asked(self, client: httpx2.AsyncClient) -> None:
        await client.delete("/api/v1/variables/OPENAI_API_KEY")
        last = (await streamed(client, input_value="hello"))[-1]
        assert last["event"] == "error"
        assert "OPENAI_API_KEY" in last["message"] + last["remedy"]

    async def test_an_unknown_provider_names_the_nearest(self, client: httpx2.AsyncClient) -> None:
        last = (await streamed(client, input_value="hello", provider="opneai"))[-1]
        assert "openai" in last["message"].lower() + last["remedy"].lower()

    async def test_an_unknown_flow_is_told(self, client: httpx2.AsyncClient) -> None:
        for path in ("assist", "assist/stream"):
            answer = await client.post(f"/api/v1/agentic/{path}", json={"input_value": "hello", "flow_id": "nope"})
            assert (answer.status_code, answer.json()["code"]) == (404, "flow_not_found")


class TestFiles:
    async def test_the_model_is_told_whether_flows_see_them(
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        """With auto-login flows have a folder that everybody shares."""
        openai.script(openai.tool_call("write_file", {"path": "notes.md", "content": "mine"}), openai.text("Written."))
        await streamed(client, input_value="write notes.md")
        asked = str(openai.asked[-1].body["messages"])
        assert "a flow does not see what write_file writes" in asked
        assert "the same that" not in asked
        areas = [(await client.get(f"/api/v1/workspace/files?area={area}")).json() for area in ("assistant", "flows")]
        assert ["notes.md" in str(one) for one in areas] == [True, False]


class TestTableOfTheSeed:
    """Cases of seed 001's table of errors, with the statuses that ADR 31 gives them."""

    async def refused(self, client: httpx2.AsyncClient, **body: Any) -> tuple[int, str, str]:
        """Status, code and text; the stream ends with the same code and text."""
        asked = MODEL | {"input_value": "hello"} | body
        answer = await client.post("/api/v1/agentic/assist", json=asked)
        problem = answer.json()
        event = (await streamed(client, **asked))[-1]
        assert (event["event"], event["code"], event["message"]) == ("error", problem["code"], problem["detail"])
        assert event["remedy"] == problem["remedy"]
        return answer.status_code, problem["code"], problem["detail"]

    async def test_no_provider_is_configured(self, client: httpx2.AsyncClient) -> None:
        await client.delete("/api/v1/variables/OPENAI_API_KEY")
        status, code, text = await self.refused(client)
        assert (status, code) == (422, "provider_not_configured")
        opening = "No model provider is configured. Please configure at least one model provider in Settings. "
        assert text.startswith(opening)
        assert "OPENAI_API_KEY" in text

    async def test_another_provider_is_configured(self, client: httpx2.AsyncClient) -> None:
        status, code, text = await self.refused(client, provider="anthropic", model_name="claude-sonnet-4-5")
        assert (status, code) == (422, "provider_not_configured")
        assert text.startswith("Provider 'anthropic' is not configured. Available providers: openai. ")

    async def test_an_unknown_provider(self, client: httpx2.AsyncClient) -> None:
        status, code, text = await self.refused(client, provider="opneai")
        assert (status, code) == (422, "unknown_provider")
        assert "opneai" in text

    @pytest.mark.parametrize(
        ("reply", "wanted"),
        [
            (("wrong_key", "Incorrect API key."), (502, "model_key_rejected")),
            (("out_of_money",), (429, "model_quota_exhausted")),
            (("too_long",), (413, "prompt_too_long")),
            (("no_such_model", "gpt-5-mini"), (502, "model_not_accessible")),
        ],
    )
    async def test_the_model_fails(
        self, client: httpx2.AsyncClient, openai: OpenAIServer, reply: tuple[str, ...], wanted: tuple[int, str]
    ) -> None:
        openai.script(getattr(openai, reply[0])(*reply[1:]))
        status, code, _ = await self.refused(client)
        assert (status, code) == wanted


class TestCancel:
    async def test_hanging_up_stops_the_turn_and_saves_nothing(self, app: FastAPI, openai: OpenAIServer) -> None:
        openai.script(openai.slow(30))
        from headgate.agents.assistant.schemas import AssistRequest

        request = AssistRequest(input_value="build", apply=True, **MODEL)
        stream = app.state.assistant.stream(await app.state.assistant.open(LOCAL, request), request)
        assert (await anext(stream))["event"] == "progress"
        await asyncio.wait_for(stream.aclose(), timeout=PATIENCE_SECONDS)


class TestCheckConfig:
    async def test_lists_providers_and_the_offline_builder(self, client: httpx2.AsyncClient) -> None:
        found = (await client.get("/api/v1/agentic/check-config")).json()
        assert found["configured"] is True
        assert "openai" in found["configured_providers"]
        assert found["offline_builder"] is True
        assert KEY not in json.dumps(found)

    @pytest.mark.parametrize(
        ("chosen", "told"),
        [
            ({}, ("openai", "gpt-5.4-mini")),
            ({"default": "openai/gpt-5-mini"}, ("openai", "gpt-5-mini")),
            (
                {"default": "openai/gpt-5-mini", "assistant": "groq/openai/gpt-oss-120b"},
                ("groq", "openai/gpt-oss-120b"),
            ),
            ({"assistant": "offline"}, ("offline", "offline")),
        ],
    )
    async def test_tells_the_model_that_a_turn_would_ask(
        self, app: FastAPI, client: httpx2.AsyncClient, chosen: dict[str, str], told: tuple[str, str]
    ) -> None:
        assistant = app.state.assistant
        roles = environment_roles(ModelSettings(**chosen), CodevSettings())

        def keys_of(principal: Principal, _session_id: str) -> SpaceModels:
            state = app.state
            listed = PROVIDER_VARIABLES
            where = principal.tenant_id, principal.space_id
            return SpaceModels(
                state.database, state.box, *where, audit=NotedReads(), outgoing=DIRECT, listed=listed, roles=roles
            )

        models = replace(assistant.models, keys_of=keys_of)
        app.state.assistant = replace(assistant, models=models)
        found = (await client.get("/api/v1/agentic/check-config")).json()
        assert (found["default_provider"], found["default_model"]) == told


class TestPermissions:
    @pytest.mark.parametrize("role", [Role.VIEWER, Role.RUNNER])
    async def test_refuse_who_may_not_edit_before_a_model_is_asked(
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer, role: Role
    ) -> None:
        flow = await created(client)
        who = await add_colleague(app.state.database, role.value, role)
        async with acting(app, who) as person:
            for path in ("assist", "assist/stream"):
                for about in ({"flow_id": flow["id"]}, {}):
                    answer = await person.post(f"/api/v1/agentic/{path}", json=MODEL | {"input_value": "hi"} | about)
                    assert answer.status_code == 403
                    told = answer.json()
                    assert (told["code"], told["permission"]) == ("permission_missing", "flows.edit")
                assert "'Personal'" in told["detail"]
            assert (await person.get("/api/v1/agentic/check-config")).status_code == 403
        assert openai.asked == []

    async def test_hide_flows_of_other_spaces(
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        flow = await created(client)
        stranger = replace(LOCAL, user_id=new_id(), space_id="", access=Access())
        await add_person(app.state.database, stranger, name="stranger")
        async with acting(app, stranger) as person:
            for path in ("assist", "assist/stream"):
                body = MODEL | {"input_value": "hello"}
                answer = await person.post(f"/api/v1/agentic/{path}", json=body | {"flow_id": flow["id"]})
                assert (answer.status_code, answer.json()["code"]) == (404, "flow_not_found")
                nowhere = await person.post(f"/api/v1/agentic/{path}", json=body)
                assert (nowhere.status_code, "no space" in nowhere.json()["detail"]) == (403, True)
        assert openai.asked == []

    async def test_let_editors_build_and_run_in_their_space(self, app: FastAPI, openai: OpenAIServer) -> None:
        openai.script(
            openai.tool_call("build_flow", {"spec": ECHO}),
            openai.tool_call("run_flow", {"text": "hello"}),
            openai.text("Done."),
        )
        async with acting(app, await add_colleague(app.state.database, "editor", Role.EDITOR)) as person:
            data = (await streamed(person, input_value="build an echo and run it"))[-1]["data"]
            assert data["run_status"] == "completed"
            flow = (await person.get(f"/api/v1/flows/{data['flow_id']}")).json()
        assert flow["space_id"] == LOCAL.space_id

    async def test_offer_a_model_only_what_an_api_key_is_for(self, app: FastAPI, openai: OpenAIServer) -> None:
        openai.script(
            openai.tool_call("build_flow", {"spec": ECHO}),
            openai.tool_call("run_flow", {"text": "hello"}),
            openai.text("It could not be run."),
        )
        scopes = frozenset({Permission.FLOWS_EDIT})
        who = await add_colleague(app.state.database, "key", Role.OWNER, scopes=scopes)
        async with acting(app, who) as person:
            answer = await person.post("/api/v1/agentic/assist", json=MODEL | {"input_value": "build", "apply": True})
        assert answer.status_code == 200, answer.text
        assert (answer.json()["saved"], "run_id" in answer.json()) == (True, False)
        offered = {tool["function"]["name"] for tool in openai.asked[0].body["tools"]}
        assert "build_flow" in offered
        assert offered.isdisjoint({"run_flow", "search_components", "get_field_value"})

    async def test_keep_files_of_others_out_of_runs(
        self, app: FastAPI, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        made = (await client.post("/api/v1/files", files={"file": ("mine.txt", b"mine")})).json()["id"]
        openai.script(
            openai.tool_call("build_flow", {"spec": ECHO}),
            openai.tool_call("run_flow", {"text": "hello"}),
            openai.text("It could not be run."),
        )
        async with acting(app, await add_colleague(app.state.database, "editor", Role.EDITOR)) as person:
            data = (await streamed(person, input_value="build and run", file_ids=[made]))[-1]["data"]
        assert "run_id" not in data
        assert "There is no file" in json.dumps(openai.asked[-1].body)

    async def test_keep_conversations_of_one_session_apart(self, app: FastAPI, openai: OpenAIServer) -> None:
        openai.script(openai.text("I heard you."), openai.text("Who are you?"))
        for name, said in (("first", "my secret is blue"), ("second", "what did I say?")):
            async with acting(app, await add_colleague(app.state.database, name, Role.EDITOR)) as person:
                await streamed(person, input_value=said, session_id="the same")
        assert "blue" not in json.dumps(openai.asked[-1].body)


def acting(app: FastAPI, principal: Principal) -> httpx2.AsyncClient:
    """A client that acts as somebody."""
    transport = httpx2.ASGITransport(app=ActingAs(app, principal), raise_app_exceptions=False)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411", timeout=60)
