"""Testing a provider over the API: its own client library calls it for real, and says why where it does not work."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from headgate.features.models import connection
from headgate.features.models.providers import PROVIDERS
from headgate.foundation.settings import Settings
from tests.support.anthropic_server import AnthropicServer
from tests.support.openai_server import OpenAIServer
from tests.support.people import LOOPBACK
from tests.support.scripted_server import Pause, Reply, json_reply
from tests.support.team import Team, team

KEY = "sk-verysecretkey12345"
LISTED = {"object": "list", "data": [{"id": f"model-{n}", "object": "model", "created": 1} for n in range(3)]}


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, http=LOOPBACK) as found:
        yield found


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        running.model_list = None
        yield running


async def connect(house: Team, address: str, provider: str = "OPENAI") -> None:
    for name, value in ((f"{provider}_API_KEY", KEY), (f"{provider}_BASE_URL", address)):
        answer = await house.ask("admin", "PUT", f"/variables/{name}", json={"value": value})
        assert answer.status_code == 200, answer.text


async def outcome_of(house: Team, provider: str = "openai", **body: Any) -> Any:
    return await house.make("admin", f"/providers/{provider}/test", **body)


class TestTryProvider:
    async def test_counts_the_models_that_the_key_reaches(self, house: Team, server: OpenAIServer) -> None:
        await connect(house, server.base_url)
        server.script(json_reply(LISTED))
        found = await outcome_of(house)
        assert (found["ok"], found["models"], found["detail"]) == (True, 3, "")
        assert server.asked[0].path == "/v1/models"
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"

    async def test_says_that_a_server_lists_no_models(self, house: Team, server: OpenAIServer) -> None:
        await connect(house, server.base_url, "OPENAI_COMPATIBLE")
        server.script(json_reply({"detail": "Not Found"}, status=404))
        found = await outcome_of(house, "openai_compatible")
        assert (found["ok"], found["detail"]) == (False, "The server responds but does not list its models.")
        assert found["remedy"] == "Test it with the name of one of its models."

    async def test_lets_a_model_answer(self, house: Team, server: OpenAIServer) -> None:
        await connect(house, server.base_url)
        server.script(server.text("OK"))
        found = await outcome_of(house, model="gpt-5.4-mini")
        assert (found["ok"], found["models"], found["model"]) == (True, None, "gpt-5.4-mini")
        assert server.asked[0].body["model"] == "gpt-5.4-mini"

    async def test_speaks_each_providers_own_protocol(self, house: Team) -> None:
        with AnthropicServer() as server:
            server.model_list = None
            await connect(house, server.base_url, "ANTHROPIC")
            server.script(json_reply({"data": [{"id": "a", "type": "model"}], "has_more": False}))
            assert (await outcome_of(house, "anthropic"))["models"] == 1

    async def test_says_why_in_the_providers_words_and_hides_the_key(self, house: Team, server: OpenAIServer) -> None:
        await connect(house, server.base_url)
        server.script(server.wrong_key(f"Incorrect API key provided: {KEY}. You can find it in your account."))
        answer = await house.ask("admin", "POST", "/providers/openai/test", json={})
        found = answer.json()
        assert (answer.status_code, found["ok"], found["code"]) == (200, False, "model_key_rejected")
        assert "Incorrect API key provided" in found["detail"]
        assert "OPENAI_API_KEY" in found["remedy"]
        assert KEY not in answer.text

    async def test_names_the_missing_key(self, house: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in PROVIDERS["anthropic"].key.variables:  # type: ignore[union-attr]
            monkeypatch.delenv(name, raising=False)
        found = await outcome_of(house, "anthropic")
        assert (found["code"], "ANTHROPIC_API_KEY" in found["detail"]) == ("model_key_missing", True)

    async def test_names_what_to_install(self, house: Team) -> None:
        found = await outcome_of(house, "watsonx")
        assert (found["code"], "headgate[watsonx]" in found["remedy"]) == ("provider_not_installed", True)

    async def test_does_not_wait_for_ever(
        self, house: Team, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.3)
        await connect(house, server.base_url)
        server.script(Reply((Pause(20),), headers={"content-length": "5"}))
        found = await outcome_of(house)
        assert (found["ok"], found["code"]) == (False, "model_timed_out")

    async def test_is_for_admins(self, house: Team) -> None:
        answers = await house.answers("POST", "/providers/openai/test", json={})
        assert {who for who, status in answers.items() if status < 400} == {"admin"}

    async def test_is_limited(self, house: Team) -> None:
        statuses = [
            (await house.ask("admin", "POST", "/providers/watsonx/test", json={})).status_code for _ in range(21)
        ]
        assert (statuses[:20], statuses[20]) == ([200] * 20, 429)

    async def test_is_audited(self, house: Team) -> None:
        await outcome_of(house, "watsonx")
        (event,) = (await house.get("admin", "/audit?action=provider.tested"))["items"]
        assert "watsonx" in str(event)
