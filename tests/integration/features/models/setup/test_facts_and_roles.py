"""Facts about models and the models of roles, over the real application, on both databases."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from headgate.features.models.listing import forget_lists
from headgate.foundation.settings import Settings
from tests.support.openai_server import OpenAIServer
from tests.support.people import LOOPBACK
from tests.support.scripted_server import json_reply
from tests.support.team import Team, team

LISTED = {"data": [{"id": "small"}, {"id": "large"}]}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        running.model_list = json_reply(LISTED)
        yield running


@pytest.fixture
async def house(settings: Settings, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer) -> AsyncIterator[Team]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_COMPATIBLE_BASE_URL", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    forget_lists()
    async with team(settings, http=LOOPBACK) as found:
        path = "/model-servers/vllm?organisation=true"
        assert (await found.ask("admin", "PUT", path, json={"address": server.base_url})).status_code == 200
        yield found


async def put(house: Team, path: str, **body: Any) -> Any:
    answer = await house.ask("admin", "PUT", path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def names(house: Team) -> list[str]:
    return [one["name"] for one in await house.get("viewer", "/models?provider=vllm")]


async def role(house: Team, name: str) -> dict[str, Any]:
    roles = await house.get("viewer", "/model-roles")
    found: dict[str, Any] = next(one for one in roles["items"] if one["role"] == name)
    return found


class TestFacts:
    async def test_a_hidden_model_is_no_longer_offered_and_still_usable(self, house: Team) -> None:
        await put(house, "/model-facts/vllm/small", hidden=True)
        assert await names(house) == ["large"]
        everything = await house.get("viewer", "/model-facts?provider=vllm")
        assert {one["name"]: one["hidden"] for one in everything} == {"small": True, "large": False}
        config = await house.get("editor", "/agentic/check-config")
        assert config["default_model"] == "large"

    async def test_a_model_that_no_list_has_is_added(self, house: Team) -> None:
        await put(house, "/model-facts/vllm/org/fine-tuned", label="Ours", description="Contracts", price_in=2)
        added = next(
            one for one in await house.get("viewer", "/models?provider=vllm") if one["name"] == "org/fine-tuned"
        )
        assert (added["label"], added["description"], added["price_in"]) == ("Ours", "Contracts", 2)

    async def test_what_was_said_is_forgotten(self, house: Team) -> None:
        await put(house, "/model-facts/vllm/small", hidden=True)
        assert (await house.ask("admin", "DELETE", "/model-facts/vllm/small")).status_code == 204
        assert await names(house) == ["small", "large"]
        again = await house.ask("admin", "DELETE", "/model-facts/vllm/small")
        assert (again.status_code, again.json()["code"]) == (404, "model_not_set_up")

    async def test_an_unknown_provider_and_a_negative_price_are_refused(self, house: Team) -> None:
        answer = await house.ask("admin", "PUT", "/model-facts/nosuch/model", json={})
        assert answer.json()["code"] == "unknown_provider"
        assert (await house.ask("admin", "PUT", "/model-facts/vllm/small", json={"price_in": -1})).status_code == 422

    async def test_who_may_say_it(self, house: Team) -> None:
        answers = await house.answers("PUT", "/model-facts/vllm/small", json={"hidden": False})
        assert {who for who, status in answers.items() if status < 400} == {"admin"}


class TestRoles:
    async def test_the_first_that_is_ready_is_the_default_until_one_is_chosen(self, house: Team) -> None:
        before = await role(house, "assistant")
        assert (before["model"], before["source"], before["ready"]) == ("vllm/small", "first_ready", True)
        await put(house, "/model-roles/default", models=[{"model": "vllm/large", "params": {"temperature": 0.1}}])
        after = await role(house, "assistant")
        assert (after["model"], after["source"], after["params"]) == ("vllm/large", "settings", {"temperature": 0.1})
        config = await house.get("editor", "/agentic/check-config")
        assert (config["default_provider"], config["default_model"], config["configured"]) == ("vllm", "large", True)

    async def test_a_choice_is_removed(self, house: Team) -> None:
        await put(house, "/model-roles/assistant", models=[{"model": "vllm/large"}])
        assert (await house.ask("admin", "DELETE", "/model-roles/assistant")).status_code == 204
        assert (await role(house, "assistant"))["model"] == "vllm/small"
        assert (await house.ask("admin", "DELETE", "/model-roles/assistant")).status_code == 404

    async def test_a_parameter_that_the_server_does_not_take_is_refused(self, house: Team) -> None:
        wanted = {"models": [{"model": "vllm/large", "params": {"fallback": "x"}}]}
        answer = await house.ask("admin", "PUT", "/model-roles/default", json=wanted)
        assert (answer.json()["code"], "fallback" in answer.json()["detail"]) == ("bad_model_settings", True)

    async def test_only_the_assistant_can_be_offline(self, house: Team) -> None:
        await put(house, "/model-roles/assistant", models=[{"model": "offline"}])
        assert (await role(house, "assistant"))["model"] == "offline/offline"
        assert (await role(house, "codev"))["model"] == "vllm/small"
        answer = await house.ask("admin", "PUT", "/model-roles/step", json={"models": [{"model": "offline"}]})
        assert answer.json()["code"] == "bad_model_settings"

    async def test_a_model_that_is_not_ready_says_why(self, house: Team) -> None:
        await put(house, "/model-roles/default", models=[{"model": "anthropic/claude-sonnet-4-5"}])
        chosen = await role(house, "default")
        assert chosen["ready"] is False
        assert "ANTHROPIC_API_KEY" in chosen["problem"]

    async def test_the_fallback_chain_has_several(self, house: Team) -> None:
        chain = [{"model": "vllm/small"}, {"model": "vllm/large", "params": {"max_tokens": 100}}]
        await put(house, "/model-roles/fallback", models=chain)
        assert [one["name"] for one in (await role(house, "fallback"))["models"]] == ["small", "large"]
        answer = await house.ask("admin", "PUT", "/model-roles/step", json={"models": chain})
        assert answer.json()["code"] == "bad_model_settings"

    async def test_an_unknown_server_is_refused(self, house: Team) -> None:
        answer = await house.ask("admin", "PUT", "/model-roles/default", json={"models": [{"model": "vlm/large"}]})
        assert answer.json()["code"] == "unknown_provider"
        assert "Did you mean 'vllm'?" in answer.json()["remedy"]

    async def test_who_may_choose(self, house: Team) -> None:
        answers = await house.answers("PUT", "/model-roles/default", json={"models": [{"model": "vllm/large"}]})
        assert {who for who, status in answers.items() if status < 400} == {"admin"}


class TestCosts:
    async def test_a_run_costs_what_the_organisation_set(self, house: Team, server: OpenAIServer) -> None:
        await put(house, "/model-facts/vllm/large", price_in=1000, price_out=2000)
        server.script(server.text("Hello", tokens=(10, 5)))
        flow = (
            "name: Ask\nnodes:\n  question: ChatInput\n  think: AIStep\n    model: vllm/large\n"
            "    prompt: '{{question.text}}'\n  answer: ChatOutput\nedges:\n"
            "  question.message -> think.input\n  think.output -> answer.input\n"
        )
        made = await house.ask("editor", "POST", "/flows/import", json={"content": flow})
        run = await house.make("editor", f"/flows/{made.json()['id']}/runs", text="Hi", wait=True)
        cost = await house.get("editor", f"/flow-runs/{run['id']}/cost")
        assert cost["total"]["usd"] == pytest.approx(0.02)
        plan = await house.make("editor", f"/flow-runs/{run['id']}/rerun-plan")
        assert plan["redo"]["usd"] == pytest.approx(0.02)
        figures = await house.get("editor", "/run-statistics")
        assert figures["now"]["spent"]["usd"] == pytest.approx(0.02)


class TestAnswering:
    async def test_a_server_that_lists_nothing_is_reported_and_not_replaced_by_the_offline_builder(
        self, house: Team, server: OpenAIServer
    ) -> None:
        server.model_list = json_reply({"detail": "Not Found"}, status=404)
        forget_lists()
        config = await house.get("editor", "/agentic/check-config")
        assert (config["configured"], "choose a model" in config["remedy"].lower()) == (False, True)
        answer = await house.ask("editor", "POST", "/agentic/assist", json={"input_value": "Build a flow"})
        assert (answer.status_code, answer.json()["code"]) == (422, "provider_not_configured")
        await put(house, "/model-roles/assistant", models=[{"model": "vllm/unlisted"}])
        config = await house.get("editor", "/agentic/check-config")
        vllm = next(one for one in config["providers"] if one["name"] == "vllm")
        assert [one["name"] for one in vllm["models"]] == ["unlisted"]
