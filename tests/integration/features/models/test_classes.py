"""Security classes over the API: set on models, checked when a flow is saved, published and run, kept with the run."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from headgate.entrypoints.http.app import create_app
from headgate.foundation.settings import ClassificationSettings, Settings
from tests.integration.http.conftest import created
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Reply

FLOW = """name: Letter
nodes:
  ask: TextInput
  brief: AIStep
    prompt: Summarise.
    model: openai/careful
    policy:
      {policy}
  tell: AIStep
    prompt: Translate.
    model: {model}
  out: ChatOutput
edges:
  ask.text -> brief.input
  brief.output -> tell.input
  tell.output -> out.input
"""


def spec(*, policy: str = "input_source: previous_step", model: str = "openai/quick") -> str:
    return FLOW.format(policy=policy, model=model)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
async def client(settings: Settings, server: OpenAIServer) -> AsyncIterator[httpx2.AsyncClient]:
    """The application with classes switched on, its models answered by the scripted server."""
    wanted = settings.model_copy(update={"classification": ClassificationSettings(enabled=True)})
    async with serving(wanted) as found:
        await found.put("/api/v1/variables/OPENAI_API_KEY", json={"value": "sk-test"})
        await found.put("/api/v1/variables/OPENAI_BASE_URL", json={"value": server.base_url})
        yield found


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(settings)
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:7411/") as found,
    ):
        yield found


async def put(client: httpx2.AsyncClient, model: str, level: int | str) -> dict[str, Any]:
    answer = await client.put(f"/api/v1/model-classes/{model}", json={"level": level})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def run(client: httpx2.AsyncClient, flow_id: str, **start: Any) -> dict[str, Any]:
    answer = await client.post(f"/api/v1/flows/{flow_id}/runs", json={"text": "hi", "wait": True, **start})
    found: dict[str, Any] = answer.json()
    return found


class TestModelClasses:
    async def test_are_set_read_and_taken_away(self, client: httpx2.AsyncClient) -> None:
        assert await put(client, "OpenAI/careful", "k2") == {
            "provider": "openai", "name": "careful", "level": 2, "class_name": "K2 confidential",
        }  # fmt: skip
        await put(client, "openai/*", 1)
        await put(client, "openai/org/with/slashes", "K3 secret")
        await put(client, "openai/careful", 3)
        found = (await client.get("/api/v1/model-classes")).json()
        assert found["enabled"]
        assert found["levels"][0] == "K0 public"
        assert [(one["name"], one["level"]) for one in found["items"]] == [
            ("*", 1), ("careful", 3), ("org/with/slashes", 3),
        ]  # fmt: skip
        assert (await client.delete("/api/v1/model-classes/openai/careful")).status_code == 204
        again = await client.delete("/api/v1/model-classes/openai/careful")
        assert (again.status_code, again.json()["code"]) == (404, "model_not_classed")

    @pytest.mark.parametrize("level", ["K9", 4, -1, ""])
    async def test_have_levels_that_exist(self, client: httpx2.AsyncClient, level: int | str) -> None:
        refused = await client.put("/api/v1/model-classes/openai/x", json={"level": level})
        assert refused.json()["code"] == "class_unknown"
        assert "0 (K0 public)" in refused.json()["remedy"]

    async def test_belong_to_providers_that_exist(self, client: httpx2.AsyncClient) -> None:
        refused = await client.put("/api/v1/model-classes/opnai/x", json={"level": 1})
        assert refused.json()["code"] == "unknown_provider"


class TestSave:
    async def test_keeps_the_draft_and_says_what_is_wrong(self, client: httpx2.AsyncClient) -> None:
        await put(client, "openai/careful", 2)
        flow = await created(client, spec())
        (issue,) = [one for one in flow["issues"] if one["code"] == "classification"]
        assert issue["node"] == "tell"
        assert "which is cleared for K0 public, but 'brief' brings K2 confidential" in issue["message"]
        await put(client, "openai/quick", 2)
        read = (await client.get(f"/api/v1/flows/{flow['id']}")).json()
        assert read["issues"] == []


class TestPublish:
    async def test_refuses_what_a_save_reports(self, client: httpx2.AsyncClient) -> None:
        await put(client, "openai/careful", 2)
        flow = await created(client, spec())
        refused = await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})
        assert refused.json()["code"] == "flow_invalid"
        assert refused.json()["issues"][0]["code"] == "classification"
        assert (await client.get(f"/api/v1/flows/{flow['id']}/versions")).json()["items"] == []
        await put(client, "openai/*", "K2")
        assert (await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})).status_code == 200


class TestRun:
    async def test_is_refused_before_anything_is_asked(self, client: httpx2.AsyncClient, server: OpenAIServer) -> None:
        await put(client, "openai/careful", 2)
        flow = await created(client, spec())
        assert (await run(client, flow["id"]))["code"] == "flow_invalid"
        assert server.asked == []
        assert (await client.get("/api/v1/flow-runs")).json()["items"] == []

    async def test_keeps_the_class_of_each_step(self, client: httpx2.AsyncClient, server: OpenAIServer) -> None:
        await put(client, "openai/careful", 2)
        server.script(server.text("Short."), server.text("Kort."))
        flow = await created(client, spec(policy="output_classification_override: 0"))
        done = await run(client, flow["id"])
        assert done["status"] == "completed", done
        steps = {}
        for step in ("ask", "brief", "tell", "out"):
            found = (await client.get(f"/api/v1/flow-runs/{done['id']}/steps/{step}")).json()
            steps[step] = found["classification"]["level"]
        assert steps == {"ask": 0, "brief": 0, "tell": 0, "out": 0}
        await put(client, "openai/quick", 1)
        server.script(server.text("Short."), server.text("Kort."))
        later = await run(client, flow["id"])
        graph = (await client.get(f"/api/v1/flows/{flow['id']}/graph?run_id={later['id']}")).json()
        assert {one["id"]: one["classification"] for one in graph["nodes"]}["tell"] == {
            "level": 1, "name": "K1 internal",
        }  # fmt: skip
        draft = (await client.get(f"/api/v1/flows/{flow['id']}/graph")).json()
        assert {one["id"]: one["classification"]["level"] for one in draft["nodes"]}["out"] == 1

    async def test_of_a_published_version_is_checked_as_models_are_classed_now(
        self, client: httpx2.AsyncClient, server: OpenAIServer
    ) -> None:
        await put(client, "openai/*", 2)
        flow = await created(client, spec())
        assert (await client.post(f"/api/v1/flows/{flow['id']}/publish", json={})).status_code == 200
        await put(client, "openai/quick", 1)
        refused = await run(client, flow["id"], version="published")
        assert refused["code"] == "flow_invalid"
        assert server.asked == []

    async def test_asks_again_before_each_step(self, client: httpx2.AsyncClient, server: OpenAIServer) -> None:
        """A model that is classed lower while the run is under way is not asked."""
        await put(client, "openai/*", 2)
        asked, lowered = threading.Event(), threading.Event()

        def waiting(question: Asked) -> Reply:
            asked.set()
            lowered.wait(30)
            return server.text("Short.")(question)

        server.script(waiting, server.text("never"))
        flow = await created(client, spec())
        began = await run(client, flow["id"], wait=False)
        assert await asyncio.to_thread(asked.wait, 30)
        await put(client, "openai/quick", 1)
        lowered.set()
        await client.get(f"/api/v1/flow-runs/{began['id']}/events")  # told to the run's end
        found = (await client.get(f"/api/v1/flow-runs/{began['id']}")).json()
        assert found["error"]["code"] == "classification_refused"
        assert "calls openai/quick, which is cleared for K1 internal" in found["error"]["message"]
        assert [step["status"] for step in found["steps"]][:3] == ["completed", "completed", "failed"]
        assert len(server.asked) == 1

    async def test_checks_the_model_that_is_really_asked(
        self, client: httpx2.AsyncClient, server: OpenAIServer
    ) -> None:
        """The flow does not name it: it comes with the input."""
        await put(client, "openai/careful", 2)
        await put(client, "openai/quick", 1)
        flow = await created(client, spec(model='"{{flow_input.text}}"'))
        assert [one for one in flow["issues"] if one["code"] == "classification"] == []
        server.script(server.text("Short."))
        failed = await run(client, flow["id"], text="openai/quick")
        assert failed["error"]["code"] == "classification_refused", failed
        assert "The model was not called." in failed["error"]["message"]
        assert len(server.asked) == 1
        server.script(server.text("Short."), server.text("Kort."))
        assert (await run(client, flow["id"], text="openai/careful"))["status"] == "completed"


class TestOff:
    async def test_nothing_is_classed_checked_or_shown(self, settings: Settings) -> None:
        async with serving(settings) as client:
            await put(client, "openai/careful", 2)
            flow = await created(client, spec())
            assert "classification" not in {one["code"] for one in flow["issues"]}
            assert not (await client.get("/api/v1/model-classes")).json()["enabled"]
            graph = (await client.get(f"/api/v1/flows/{flow['id']}/graph")).json()
            assert {one["classification"] for one in graph["nodes"]} == {None}
            echo = await created(client)
            done = await run(client, echo["id"])
            step = (await client.get(f"/api/v1/flow-runs/{done['id']}/steps/heard")).json()
            assert step["classification"] is None
