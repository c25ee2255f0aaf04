"""Texts into vectors, over the real protocols of OpenAI and Ollama."""

import pytest

from headgate.features.models.embeddings import embed
from headgate.features.models.errors import (
    BadModelSettings,
    BrokenModelAnswer,
    KeyRejected,
    ModelCallFailed,
    ModelNotAccessible,
)
from headgate.features.models.setup.values import ModelServer, ModelSetup, ServerAccess
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.sdk.values import Model
from tests.support.embedding_server import EmbeddingServer, vector_of
from tests.support.keys import GivenKeys
from tests.support.scripted_server import json_reply
from tests.support.web import open_web

TEXTS = ["a red car", "Größe 4"]


def keys_of(server: EmbeddingServer) -> GivenKeys:
    return GivenKeys(OPENAI_API_KEY="sk-test", OPENAI_BASE_URL=server.base_url, OLLAMA_BASE_URL=server.origin)


class TestEmbed:
    @pytest.mark.parametrize(
        ("model", "path"),
        [("openai/text-embedding-3-small", "/v1/embeddings"), ("ollama/nomic-embed-text", "/api/embed")],
    )
    async def test_returns_a_vector_for_each_text_and_the_tokens(self, model: str, path: str) -> None:
        with EmbeddingServer() as server:
            embedded = await embed(Model.model_validate(model), TEXTS, keys_of(server), web=open_web())
        assert [list(vector) for vector in embedded.vectors] == [pytest.approx(vector_of(text)) for text in TEXTS]
        assert embedded.tokens == 5
        (asked,) = server.asked
        assert (asked.path, asked.body["input"]) == (path, TEXTS)

    @pytest.mark.parametrize("kind", ["openai", "ollama"])
    async def test_uses_the_key_and_headers_of_a_named_server(self, kind: str) -> None:
        with EmbeddingServer() as server:
            address = server.base_url if kind == "openai" else server.origin
            named = ModelServer("vllm", kind, address, networks=OPERATOR_NETWORKS)  # type: ignore[arg-type]
            access = ServerAccess(None, {"X-Team": "search"})
            keys = GivenKeys().with_setup(ModelSetup({"vllm": named}), vllm=access)
            await embed(Model(provider="vllm", name="bge-m3"), ["text"], keys, web=open_web())
        assert (server.asked[0].body["model"], server.asked[0].headers["x-team"]) == ("bge-m3", "search")

    async def test_says_what_is_wrong_as_a_chat_model_does(self) -> None:
        with EmbeddingServer() as server:
            server.embeddings.broken = server.wrong_key("Incorrect API key provided: sk-test.")
            with pytest.raises(KeyRejected, match="OPENAI_API_KEY"):
                await embed(Model(provider="openai", name="e"), TEXTS, keys_of(server), web=open_web())
            server.embeddings.broken = json_reply({"error": "model not found"}, status=404)
            with pytest.raises(ModelNotAccessible, match="ollama/e"):
                await embed(Model(provider="ollama", name="e"), TEXTS, keys_of(server), web=open_web())
        with pytest.raises(ModelCallFailed, match="does not accept a connection"):
            await embed(Model(provider="ollama", name="e"), TEXTS, keys_of(server), web=open_web())

    @pytest.mark.parametrize("vectors", [[], [[1.0]], [[1.0], [1.0, 2.0]], [[0.0], [0.0]], [["x"], ["y"]], [[], []]])
    async def test_refuses_vectors_that_are_none(self, vectors: list[list[object]]) -> None:
        with EmbeddingServer() as server:
            data = [{"object": "embedding", "index": index, "embedding": one} for index, one in enumerate(vectors)]
            server.embeddings.broken = json_reply(
                {"object": "list", "model": "e", "data": data, "usage": {"prompt_tokens": 1}}
            )
            with pytest.raises(BrokenModelAnswer, match="one embedding for each of 2 texts"):
                await embed(Model(provider="openai", name="e"), TEXTS, keys_of(server), web=open_web())

    async def test_refuses_a_provider_without_embeddings(self) -> None:
        with pytest.raises(BadModelSettings, match="openai/text-embedding-3-small"):
            await embed(Model(provider="anthropic", name="claude"), TEXTS, GivenKeys(), web=open_web())
