"""Shared assistants over the API, with a model behind the provider's real protocol."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from headgate.entrypoints.http.app import create_app
from headgate.features.access.principal import LOCAL
from headgate.features.secrets import service as secrets
from headgate.foundation.settings import Settings
from tests.integration.http.conftest import client, created
from tests.support.openai_server import OpenAIServer

__all__ = ["client"]

LINKED = """name: Linked
nodes:
  ask: ChatInput
  reply: AIStep
    prompt: Answer.
    assistant: Lena
  out: ChatOutput
edges:
  ask.text -> reply.input
  reply.output -> out.input
"""
LENA = {"name": "Lena", "instructions": "You are Lena.", "model": "openai/gpt-5-mini", "temperature": 0.5}


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        server.script(server.text("Hello."))
        yield server


@pytest.fixture
async def app(settings: Settings, openai: OpenAIServer) -> AsyncIterator[FastAPI]:
    made = create_app(settings)
    async with made.router.lifespan_context(made):
        async with made.state.database.writing() as session:
            for name, value in (("OPENAI_API_KEY", "sk-test-0123456789"), ("OPENAI_BASE_URL", openai.base_url)):
                await secrets.set_variable(session, LOCAL, made.state.box, name=name, value=SecretStr(value))
        yield made


async def assistant(client: httpx2.AsyncClient, **changed: Any) -> dict[str, Any]:
    answer = await client.post("/api/v1/assistants", json=LENA | changed)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def run(client: httpx2.AsyncClient, flow: dict[str, Any], version: Any = "draft") -> dict[str, Any]:
    body = {"text": "hi", "version": version, "wait": True}
    answer = await client.post(f"/api/v1/flows/{flow['id']}/runs", json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def system_of(openai: OpenAIServer) -> str:
    """The system prompt of the last request."""
    found: str = openai.asked[-1].body["messages"][0]["content"]
    return found


class TestLinking:
    async def test_gives_the_step_its_model_instructions_and_temperature(
        self, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        await assistant(client)
        done = await run(client, await created(client, LINKED))
        assert (done["status"], done["text"]) == ("completed", "Hello.")
        asked = openai.asked[-1].body
        assert asked["model"] == "gpt-5-mini"
        assert system_of(openai) == "You are Lena."

    async def test_yields_to_what_the_step_sets_itself(self, client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
        await assistant(client)
        own = LINKED.replace("    assistant: Lena", "    assistant: Lena\n    system: You are Per.")
        await run(client, await created(client, own))
        assert system_of(openai) == "You are Per."

    async def test_follows_a_change_in_the_draft_and_not_in_what_was_published(
        self, client: httpx2.AsyncClient, openai: OpenAIServer
    ) -> None:
        lena = await assistant(client)
        flow = await created(client, LINKED)
        published = (await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})).json()
        before = await run(client, flow, "published")
        changed = await client.patch(f"/api/v1/assistants/{lena['id']}", json={"instructions": "You are new."})
        assert changed.json()["instructions"] == "You are new."
        after = await run(client, flow, "published")
        assert system_of(openai) == "You are Lena."
        assert before["version"] == after["version"] == published["version"]
        drafted = await run(client, flow)
        assert system_of(openai) == "You are new."
        assert drafted["version"] == published["version"] + 1
        again = await run(client, flow)
        assert again["version"] == drafted["version"]

    async def test_leaves_the_assistant_as_it_is(self, client: httpx2.AsyncClient) -> None:
        lena = await assistant(client)
        await run(client, await created(client, LINKED))
        assert (await client.get(f"/api/v1/assistants/{lena['id']}")).json() == lena

    async def test_survives_the_assistant_in_published_versions_only(self, client: httpx2.AsyncClient) -> None:
        lena = await assistant(client)
        flow = await created(client, LINKED)
        await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})
        assert (await client.delete(f"/api/v1/assistants/{lena['id']}")).status_code == 204
        assert (await run(client, flow, "published"))["status"] == "completed"
        refused = await client.post(f"/api/v1/flows/{flow['id']}/runs", json={"text": "hi"})
        assert refused.status_code == 422
        assert "shared assistant 'Lena'" in refused.json()["detail"]

    async def test_is_restored_as_a_link(self, client: httpx2.AsyncClient) -> None:
        await assistant(client)
        flow = await created(client, LINKED)
        first = (await run(client, flow))["version"]
        url = f"/api/v1/flows/{flow['id']}"
        revision = (await client.get(url)).json()["revision"]
        restored = await client.post(f"{url}/versions/{first}/restore", json={"revision": revision})
        assert restored.status_code == 200, restored.text
        assert "You are Lena." not in restored.text
        version = (await client.get(f"{url}/versions/{first}")).text
        assert "You are Lena." in version


class TestAssistants:
    async def test_are_listed_and_named_once(self, client: httpx2.AsyncClient) -> None:
        lena = await assistant(client)
        taken = await client.post("/api/v1/assistants", json=LENA)
        assert (taken.status_code, taken.json()["code"]) == (409, "assistant_name_taken")
        other = await assistant(client, name="Per")
        renamed = await client.patch(f"/api/v1/assistants/{other['id']}", json={"name": "Lena"})
        assert renamed.status_code == 409
        listed = (await client.get("/api/v1/assistants")).json()["items"]
        assert [one["name"] for one in listed] == ["Lena", "Per"]
        assert listed[0] == lena

    async def test_refuse_a_model_that_is_none(self, client: httpx2.AsyncClient) -> None:
        refused = await client.post("/api/v1/assistants", json=LENA | {"model": "gpt"})
        assert refused.status_code == 422

    async def test_draft_that_claims_frozen_values_holds_none(self, client: httpx2.AsyncClient) -> None:
        flow = await created(client, LINKED)
        url = f"/api/v1/flows/{flow['id']}"
        draft = (await client.get(url)).json()
        definition = draft["definition"]
        definition["nodes"][1]["linked"] = {"system": "Do as I say."}
        saved = await client.patch(f"{url}/draft", json={"revision": draft["revision"], "definition": definition})
        assert saved.status_code == 200, saved.text
        assert "Do as I say." not in (await client.get(url)).text
