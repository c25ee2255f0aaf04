from collections.abc import Iterator

import pytest

from headgate.features.models import catalogue, service
from headgate.features.models import listing as listing_module
from headgate.features.models.listing import Listing, forget_lists, list_offered
from headgate.features.models.providers import PROVIDERS, find_provider
from headgate.features.models.service import ProviderStatus, all_models, list_providers
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


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    forget_lists()


SERVERS: dict[str, tuple[dict[str, str], str, dict[str, str], object]] = {
    "openai": (
        {"OPENAI_API_KEY": "k3y", "OPENAI_BASE_URL": "{origin}/v1"},
        "/v1/models",
        {"authorization": "Bearer k3y"},
        {"object": "list", "data": [{"id": "one"}, {"id": "two"}]},
    ),
    "openai_compatible": (
        {"OPENAI_COMPATIBLE_BASE_URL": "{origin}/v1/"},
        "/v1/models",
        {"authorization": "Bearer not-needed"},
        {"data": [{"id": "one", "owned_by": "vllm"}, {"id": "two"}]},
    ),
    "groq": (
        {"GROQ_API_KEY": "k3y", "GROQ_BASE_URL": "{origin}"},
        "/openai/v1/models",
        {"authorization": "Bearer k3y"},
        {"data": [{"id": "one"}, {"id": "two"}]},
    ),
    "anthropic": (
        {"ANTHROPIC_API_KEY": "k3y", "ANTHROPIC_BASE_URL": "{origin}"},
        "/v1/models?limit=1000",
        {"x-api-key": "k3y", "anthropic-version": "2023-06-01"},
        {"data": [{"type": "model", "id": "one", "display_name": "One"}, {"id": "two"}], "has_more": False},
    ),
    "google": (
        {"GOOGLE_API_KEY": "k3y", "GOOGLE_GEMINI_BASE_URL": "{origin}"},
        "/v1beta/models?pageSize=1000",
        {"x-goog-api-key": "k3y"},
        {
            "models": [
                {"name": "models/one", "supportedGenerationMethods": ["generateContent", "countTokens"]},
                {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
                {"name": "models/two", "supportedGenerationMethods": ["generateContent"]},
            ]
        },
    ),
    "ollama": (
        {"OLLAMA_BASE_URL": "{origin}/"},
        "/api/tags",
        {},
        {"models": [{"name": "one", "size": 5}, {"name": "two"}]},
    ),
    "watsonx": (
        {"WATSONX_API_KEY": "k3y", "WATSONX_URL": "{origin}", "WATSONX_PROJECT_ID": "p"},
        "/ml/v1/foundation_model_specs?version=2024-10-10&limit=200",
        {},
        {
            "resources": [
                {"model_id": "one", "functions": [{"id": "text_chat"}, {"id": "text_generation"}]},
                {"model_id": "old", "functions": [{"id": "text_generation"}]},
                {"model_id": "two", "functions": [{"id": "text_chat"}]},
            ]
        },
    ),
}
"""Provider to its variables, the path and headers of its list, and an answer in its provider's form."""
REMOTE = sorted(PROVIDERS.keys() - {"local"})


def keys_for(provider: str, server: ScriptedServer) -> GivenKeys:
    variables = SERVERS[provider][0]
    return GivenKeys(**{name: value.format(origin=server.origin) for name, value in variables.items()})


class TestListing:
    @pytest.mark.parametrize("provider", REMOTE)
    async def test_asks_each_provider_in_its_own_way(self, server: ScriptedServer, provider: str) -> None:
        _, path, headers, answer = SERVERS[provider]
        server.script(json_reply(answer))
        listing = await list_offered(find_provider(provider), keys_for(provider, server))
        assert listing == Listing(("one", "two"))
        (asked,) = server.asked
        assert asked.path == path
        assert {name: asked.headers.get(name) for name in headers} == headers

    @pytest.mark.parametrize("provider", REMOTE)
    async def test_says_that_the_key_was_refused_and_never_shows_it(
        self, server: ScriptedServer, provider: str
    ) -> None:
        server.script(json_reply({"error": "wrong key k3y"}, status=401))
        listing = await list_offered(find_provider(provider), keys_for(provider, server))
        assert listing.names is None
        assert listing.problem == f"The server at {_address(provider, server)} rejected the key (401)."
        assert "k3y" not in str(listing)

    async def test_keeps_an_answer_for_server_and_key(self, server: ScriptedServer) -> None:
        server.script(
            json_reply({"data": [{"id": "one"}]}),
            json_reply({"data": [{"id": "two"}]}),
            json_reply({"data": [{"id": "three"}]}),
        )
        provider = find_provider("openai_compatible")
        address = f"{server.origin}/v1"
        first, other = (
            GivenKeys(OPENAI_COMPATIBLE_BASE_URL=address, OPENAI_COMPATIBLE_API_KEY=key) for key in ("a", "b")
        )
        lists = [
            await list_offered(provider, first),
            await list_offered(provider, first),
            await list_offered(provider, other),
            await list_offered(provider, first, refresh=True),
            await list_offered(provider, first),
        ]
        assert [one.names for one in lists] == [("one",), ("one",), ("two",), ("three",), ("three",)]

    @pytest.mark.parametrize("status", [404, 405, 501])
    async def test_a_server_without_a_list_has_no_problem(self, server: ScriptedServer, status: int) -> None:
        server.script(json_reply({}, status=status))
        listing = await list_offered(find_provider("openai_compatible"), keys_for("openai_compatible", server))
        assert listing == Listing()

    @pytest.mark.parametrize(
        "reply",
        [
            Reply((b"<html>",)),
            json_reply([]),
            json_reply({"data": None, "models": None}),
            json_reply({"data": [{}], "models": [{}]}),
            json_reply({"data": ["one"], "models": [5]}),
            json_reply({}, status=500),
        ],
        ids=["page", "list", "null", "nameless", "no_objects", "broken"],
    )
    @pytest.mark.parametrize("provider", ["ollama", "openai_compatible"])
    async def test_an_answer_that_is_no_list_is_a_problem(
        self, server: ScriptedServer, reply: Reply, provider: str
    ) -> None:
        server.script(reply)
        listing = await list_offered(find_provider(provider), keys_for(provider, server))
        assert listing.names is None
        assert listing.problem

    async def test_a_server_that_does_not_answer_in_time_is_a_problem(
        self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(listing_module, "PATIENCE_SECONDS", 0.2)
        server.script(Reply((Pause(30), b"{}")))
        listing = await list_offered(find_provider("ollama"), keys_for("ollama", server))
        assert listing.problem == f"No Ollama server answers at {server.origin}."
        assert listing.remedy == "Start it, or set OLLAMA_BASE_URL to where it runs."

    async def test_what_is_missing_is_the_problem(self) -> None:
        listing = await list_offered(find_provider("openai"), GivenKeys())
        assert listing.problem == "OpenAI needs a key, and the variable OPENAI_API_KEY is not set."

    async def test_an_address_that_is_none_is_a_problem(self) -> None:
        listing = await list_offered(find_provider("ollama"), GivenKeys(OLLAMA_BASE_URL="http://[nonsense"))
        assert listing.problem


def _address(provider: str, server: ScriptedServer) -> str:
    return server.origin + ("/v1" if provider.startswith("openai") else "")


class TestOffered:
    async def test_known_models_come_first_and_what_answers_no_chat_is_left_out(self, server: ScriptedServer) -> None:
        names = ["gpt-9-new", "text-embedding-3-small", "gpt-5.4-mini-2026-03-17", "gpt-5.4-mini", "whisper-1"]
        server.script(json_reply({"data": [{"id": name} for name in names]}))
        found = await all_models(keys_for("openai", server), provider="openai")
        assert [(one.name, one.known) for one in found] == [("gpt-5.4-mini", True), ("gpt-9-new", False)]
        assert found[0].context_window == 400_000

    async def test_the_catalogue_stands_in_where_nothing_is_listed(self, server: ScriptedServer) -> None:
        server.script(json_reply({}, status=404))
        assert await all_models(keys_for("openai", server), provider="openai") == catalogue.list_models("openai")
        assert await all_models(GivenKeys(), provider="openai") == catalogue.list_models("openai")

    async def test_a_server_that_people_run_themselves_is_ready_with_its_own_models(
        self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(service, "is_installed", lambda _provider: True)
        server.script(json_reply({"data": [{"id": "bge-embedding"}, {"id": "Qwen/Qwen3-32B"}]}))
        keys = keys_for("openai_compatible", server)
        found = next(one for one in await list_providers(keys) if one.id == "openai_compatible")
        assert (found.configured, found.default_model, found.reason) == (True, "Qwen/Qwen3-32B", "Ready.")
        assert [one.name for one in await all_models(keys, provider="openai_compatible")] == ["Qwen/Qwen3-32B"]

    async def test_a_server_that_is_away_is_not_ready(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(service, "is_installed", lambda _provider: True)
        with ScriptedServer() as gone:
            keys = keys_for("openai_compatible", gone)
        found = next(one for one in await list_providers(keys) if one.id == "openai_compatible")
        assert not found.configured
        assert found.reason.startswith("No OpenAI-compatible server answers at http://127.0.0.1:")
        assert found.remedy == "Start it, or set OPENAI_COMPATIBLE_BASE_URL to where it runs."


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
        assert found.remedy == "Download one: ollama pull qwen3:8b"
