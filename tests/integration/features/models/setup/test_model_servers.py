"""Model servers by name, over the real application and the protocols of real servers, on both databases."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.models.listing import forget_lists
from headgate.foundation.settings import Settings
from tests.support.openai_server import OpenAIServer
from tests.support.people import LOOPBACK
from tests.support.scripted_server import ScriptedServer, json_reply
from tests.support.team import Team, team

KEY = "sk-local-verysecretkey"
LISTED = {"object": "list", "data": [{"id": "qwen3-32b", "object": "model"}, {"id": "nomic-embed-text"}]}


@pytest.fixture
async def house(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Team]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_COMPATIBLE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    forget_lists()
    async with team(settings, http=LOOPBACK) as found:
        yield found


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        running.model_list = json_reply(LISTED)
        yield running


async def connect(house: Team, name: str, address: str, **members: Any) -> dict[str, Any]:
    answer = await house.ask(
        "admin", "PUT", f"/model-servers/{name}?organisation=true", json={"address": address, **members}
    )
    assert answer.status_code == 200, answer.text
    stored: dict[str, Any] = answer.json()
    return stored


class TestServers:
    async def test_a_model_of_a_named_server_is_listed_under_its_name(self, house: Team, server: OpenAIServer) -> None:
        server.model_list = None
        server.script(json_reply(LISTED))
        await connect(house, "vllm", server.base_url, key=KEY, headers={"X-Team": "research"})
        models = await house.get("viewer", "/models?provider=vllm")
        assert [(one["provider"], one["name"]) for one in models] == [("vllm", "qwen3-32b")]
        asked = server.asked[-1]
        assert asked.path == "/v1/models"
        assert (asked.headers["authorization"], asked.headers["x-team"]) == (f"Bearer {KEY}", "research")
        status = next(one for one in await house.get("viewer", "/providers") if one["id"] == "vllm")
        assert (status["configured"], status["default_model"], status["server"]) == (True, "qwen3-32b", True)

    async def test_two_servers_are_asked_each_with_its_own_key(self, house: Team, server: OpenAIServer) -> None:
        with OpenAIServer() as other:
            other.model_list = json_reply({"data": [{"id": "llama-3"}]})
            await connect(house, "vllm", server.base_url, key=KEY)
            await connect(house, "studio", other.base_url, key="sk-of-the-other")
            for name, running, word in (("vllm", server, "one"), ("studio", other, "two")):
                running.script(running.text(word))
                outcome = await house.make("admin", f"/model-servers/{name}/test")
                assert (outcome["ok"], outcome["detail"]) == (True, "")
            assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
            assert other.asked[-1].headers["authorization"] == "Bearer sk-of-the-other"
            assert (server.asked[-1].body["model"], other.asked[-1].body["model"]) == ("qwen3-32b", "llama-3")

    async def test_the_key_is_encrypted_and_in_no_answer(self, house: Team, server: OpenAIServer) -> None:
        made = await connect(house, "vllm", server.base_url, key=KEY, headers={"X-Api-Key": "another-secret-1"})
        assert made["secret_names"] == ["key", "X-Api-Key"]
        listed = await house.ask("admin", "GET", "/model-servers")
        audit = await house.ask("admin", "GET", "/audit")
        async with house.database.reading() as session:
            row = (await session.execute(text("SELECT * FROM model_servers"))).one()
        for shown in (listed.text, audit.text, str(row)):
            assert KEY not in shown
            assert "another-secret" not in shown
        assert "model_server.set" in audit.text

    async def test_a_key_does_not_follow_its_server_to_another_address(self, house: Team, server: OpenAIServer) -> None:
        await connect(house, "vllm", server.base_url, key=KEY)
        await connect(house, "vllm", f"{server.base_url}/")  # the same place keeps it
        outcome = await house.make("admin", "/model-servers/vllm/test", model="qwen3-32b")
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}", outcome
        answer = await house.ask(
            "admin", "PUT", "/model-servers/vllm?organisation=true", json={"address": "http://127.0.0.1:9/v1"}
        )
        assert (answer.status_code, answer.json()["code"]) == (422, "bad_model_server")

    async def test_a_header_takes_its_value_from_a_variable(self, house: Team, server: OpenAIServer) -> None:
        server.model_list = None
        server.script(json_reply(LISTED))
        stored = {"value": "gateway-token-1", "hosts": [server.origin]}
        assert (await house.ask("admin", "PUT", "/organisation/variables/GATEWAY", json=stored)).status_code == 200
        secret = {"secret": "GATEWAY", "scheme": "Bearer"}
        await connect(house, "litellm", server.base_url, headers={"X-Gateway": secret})
        await house.get("viewer", "/models?provider=litellm")
        assert server.asked[-1].headers["x-gateway"] == "Bearer gateway-token-1"

    async def test_a_key_of_the_servers_environment_goes_to_no_server_that_a_user_names(
        self, house: Team, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("GROQ_API_KEY", "gsk-of-the-operator")
        await connect(house, "mine", server.base_url, key={"secret": "GROQ_API_KEY"})
        status = next(one for one in await house.get("viewer", "/providers") if one["id"] == "mine")
        assert status["configured"] is False
        assert "GROQ_API_KEY" in status["reason"]
        assert server.asked == []

    async def test_an_address_that_no_server_may_have_is_refused(self, house: Team) -> None:
        for address, code in (
            ("http://169.254.169.254/v1", "address_refused"),
            ("ftp://models.example.org", "bad_url"),
            ("http://127.0.0.1:8000/v1?key=1", "bad_model_server"),
        ):
            answer = await house.ask("admin", "PUT", "/model-servers/vllm?organisation=true", json={"address": address})
            assert answer.json()["code"] == code, answer.text

    async def test_a_name_of_a_provider_is_refused(self, house: Team, server: OpenAIServer) -> None:
        for name in ("openai", "ollama", "offline", "With Space", "a.b"):
            answer = await house.ask(
                "admin", "PUT", f"/model-servers/{name}?organisation=true", json={"address": server.base_url}
            )
            assert answer.json()["code"] == "bad_model_server", name

    async def test_a_space_has_its_own_before_the_organisations(self, house: Team, server: OpenAIServer) -> None:
        with OpenAIServer() as theirs:
            theirs.model_list = json_reply({"data": [{"id": "of-the-space"}]})
            await connect(house, "vllm", server.base_url)
            body = {"address": theirs.base_url}
            assert (await house.ask("owner", "PUT", "/model-servers/vllm", json=body)).status_code == 200
            assert [one["name"] for one in await house.get("viewer", "/models?provider=vllm")] == ["of-the-space"]
            assert [one["name"] for one in await house.get("stranger", "/models?provider=vllm")] == ["qwen3-32b"]
            assert (await house.ask("owner", "DELETE", "/model-servers/vllm")).status_code == 204
            assert [one["name"] for one in await house.get("viewer", "/models?provider=vllm")] == ["qwen3-32b"]

    async def test_who_may_set_one(self, house: Team, server: OpenAIServer) -> None:
        body = {"address": server.base_url}
        path = f"/model-servers/vllm?space_id={house.space}"
        assert await house.allowed("PUT", path, json=body) == {"owner", "admin"}
        answers = await house.answers("PUT", "/model-servers/vllm?organisation=true", json=body)
        assert {who for who, status in answers.items() if status < 400} == {"admin"}

    async def test_removing_one_that_is_not_there_is_an_error(self, house: Team) -> None:
        answer = await house.ask("admin", "DELETE", "/model-servers/vllm?organisation=true")
        assert (answer.status_code, answer.json()["code"]) == (404, "model_server_not_found")


class TestTest:
    async def test_names_the_address_that_most_servers_answer_at(self, house: Team, server: OpenAIServer) -> None:
        server.model_list = json_reply({"detail": "Not Found"}, status=404)
        await connect(house, "vllm", server.origin)
        outcome = await house.make("admin", "/model-servers/vllm/test")
        assert outcome["ok"] is False
        assert f"{server.origin}/v1" in outcome["remedy"]

    async def test_a_server_that_is_not_up_is_an_answer_with_a_remedy(self, house: Team) -> None:
        await connect(house, "studio", "http://127.0.0.1:9/v1")
        outcome = await house.make("admin", "/model-servers/studio/test")
        assert outcome["ok"] is False
        assert "127.0.0.1:9" in outcome["detail"]
        assert "Start it" in outcome["remedy"]

    async def test_a_wrong_key_names_the_server_and_where_to_change_it(self, house: Team, server: OpenAIServer) -> None:
        await connect(house, "litellm", server.base_url, key=KEY)
        server.script(server.wrong_key(f"Bad key {KEY}"))
        outcome = await house.make("admin", "/model-servers/litellm/test")
        assert (outcome["ok"], outcome["code"]) == (False, "model_key_rejected")
        assert "'litellm' in Settings, Models" in outcome["remedy"]
        assert KEY not in outcome["detail"]

    async def test_an_ollama_server_speaks_its_own_protocol(self, house: Team) -> None:
        with ScriptedServer() as ollama:
            ollama.script(
                json_reply({"models": [{"name": "qwen3:8b"}]}),
                json_reply(
                    {
                        "model": "qwen3:8b",
                        "created_at": "2026-11-23T10:00:00Z",
                        "message": {"role": "assistant", "content": "OK"},
                        "done": True,
                        "done_reason": "stop",
                    }
                ),
            )
            await connect(house, "gpu", ollama.origin, kind="ollama", key=KEY)
            outcome = await house.make("admin", "/model-servers/gpu/test")
        assert (outcome["ok"], outcome["models"], outcome["detail"]) == (True, ["qwen3:8b"], "")
        assert [one.path for one in ollama.asked] == ["/api/tags", "/api/chat"]
        assert {one.headers["authorization"] for one in ollama.asked} == {f"Bearer {KEY}"}


class TestFlows:
    async def test_a_step_names_a_model_of_a_server(self, house: Team, server: OpenAIServer) -> None:
        await connect(house, "vllm", server.base_url, key=KEY)
        server.script(server.text("Forty-two."))
        flow = (
            "name: Ask\nnodes:\n  question: ChatInput\n  think: AIStep\n    model: vllm/qwen3-32b\n"
            "    prompt: '{{question.text}}'\n  answer: ChatOutput\nedges:\n"
            "  question.message -> think.input\n  think.output -> answer.input\n"
        )
        made = await house.ask("editor", "POST", "/flows/import", json={"content": flow})
        assert made.status_code < 300, made.text
        body = {"text": "How many?", "wait": True}
        run = await house.ask("editor", "POST", f"/flows/{made.json()['id']}/runs", json=body)
        assert "Forty-two." in run.text
        assert server.asked[-1].body["model"] == "qwen3-32b"
