from collections.abc import Iterator

import pytest

from headgate.features.models import service
from headgate.features.models.credentials import Server
from headgate.features.models.ollama import pulled_models
from headgate.features.models.service import ProviderStatus, list_providers
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from tests.support.keys import GivenKeys
from tests.support.scripted_server import Pause, Reply, ScriptedServer, json_reply


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


async def status(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ProviderStatus:
    monkeypatch.setattr(service, "is_installed", lambda _provider: True)
    statuses = await list_providers(GivenKeys(OLLAMA_BASE_URL=server.origin))
    return next(one for one in statuses if one.id == "ollama")


class TestPulledModels:
    async def test_names_what_the_server_has(self, server: ScriptedServer) -> None:
        server.script(json_reply({"models": [{"name": "qwen3:8b", "size": 5}, {"name": "mine:latest"}]}))
        assert await pulled_models(Server(f"{server.origin}/", OPERATOR_NETWORKS)) == ["qwen3:8b", "mine:latest"]
        assert server.asked[0].path == "/api/tags"

    @pytest.mark.parametrize(
        "reply",
        [
            Reply((b"<html>",)),
            json_reply([]),
            json_reply({"models": None}),
            json_reply({"models": [{}]}),
            Reply((Pause(5),)),
        ],
        ids=["page", "list", "null", "nameless", "slow"],
    )
    async def test_takes_anything_else_for_no_ollama(self, server: ScriptedServer, reply: Reply) -> None:
        server.script(reply)
        assert await pulled_models(Server(server.origin, OPERATOR_NETWORKS)) is None

    async def test_takes_an_address_that_is_none_for_no_ollama(self) -> None:
        assert await pulled_models(Server("http://[nonsense", None)) is None


class TestOllamaStatus:
    async def test_offers_a_model_that_is_there(self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
        server.script(json_reply({"models": [{"name": "mine:latest"}, {"name": "llama3.2:3b"}]}))
        found = await status(server, monkeypatch)
        assert (found.configured, found.default_model) == (True, "llama3.2:3b")

    async def test_says_what_to_fetch_when_there_is_none(
        self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.script(json_reply({"models": []}))
        found = await status(server, monkeypatch)
        assert not found.configured
        assert found.remedy == "Fetch one: ollama pull qwen3:8b"
