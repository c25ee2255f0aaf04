"""Texts reranked over the wire shapes of the servers that have a `/rerank`."""

import pytest
from pydantic import SecretStr

from headgate.features.models.errors import (
    BadModelSettings,
    BrokenModelAnswer,
    KeyRejected,
    ModelCallFailed,
    ModelNotAccessible,
    ModelUnreachable,
)
from headgate.features.models.reranking import Reranked, rerank
from headgate.features.models.setup.values import ModelServer, ModelSetup, ServerAccess
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.sdk.values import Model
from tests.support.keys import GivenKeys
from tests.support.rerank_server import SHAPES, RerankServer, Shape, score_of
from tests.support.scripted_server import json_reply
from tests.support.web import open_web

QUERY, TEXTS = "red car", ["a blue house", "red car", "a red bus in Malmö"]
MODEL = Model(provider="ranker", name="rerank-v3.5")
KEY = "sk-rerank-0123456789"


async def reranked(server: RerankServer, texts: list[str] = TEXTS, model: Model = MODEL) -> Reranked:
    named = ModelServer("ranker", "openai", server.address, networks=OPERATOR_NETWORKS)
    access = ServerAccess(SecretStr(KEY), {"X-Team": "search"})
    keys = GivenKeys(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.base_url)
    return await rerank(
        model, QUERY, texts, keys.with_setup(ModelSetup({"ranker": named}), ranker=access), web=open_web()
    )


class TestRerank:
    @pytest.mark.parametrize("shape", SHAPES)
    async def test_returns_a_score_for_each_text_and_the_tokens(self, shape: Shape) -> None:
        with RerankServer(shape) as server:
            answer = await reranked(server)
        assert answer.scores == tuple(score_of(QUERY, text) for text in TEXTS)
        assert answer.tokens == (None if shape in {"cohere", "tei"} else 10)
        asked = server.asked[-1]
        assert asked.path == {"cohere": "/v2/rerank", "tei": "/rerank"}.get(shape, "/v1/rerank")
        assert (asked.headers["authorization"], asked.headers["x-team"]) == (f"Bearer {KEY}", "search")
        texts = {"query": QUERY, "texts": TEXTS, "truncate": True}
        assert asked.body == (texts if shape == "tei" else {"model": "rerank-v3.5", "query": QUERY, "documents": TEXTS})
        assert server.texts == TEXTS, "each text is scored once"

    async def test_sends_tei_as_many_texts_as_it_takes(self) -> None:
        texts = [f"car {number}" for number in range(70)]
        with RerankServer("tei") as server:
            answer = await reranked(server, texts)
        assert [len(asked.body["texts"]) for asked in server.asked[1:]] == [32, 32, 6]
        assert len(answer.scores) == 70

    async def test_says_what_is_wrong_as_a_chat_model_does(self) -> None:
        with RerankServer() as server:
            server.broken = server.wrong_key(f"Incorrect API key provided: {KEY}.")
            with pytest.raises(KeyRejected) as rejected:
                await reranked(server)
            assert KEY not in str(rejected.value)
            server.broken = json_reply({"detail": "The model `rerank-v3.5` does not exist."}, status=404)
            with pytest.raises(ModelNotAccessible, match=r"rerank-v3\.5"):
                await reranked(server)
            server.broken = json_reply({"error": {"message": "overloaded"}}, status=503)
            with pytest.raises(ModelCallFailed, match="overloaded"):
                await reranked(server)
        with pytest.raises(ModelUnreachable):
            await reranked(server)

    @pytest.mark.parametrize(
        "answer",
        [
            [],
            {"results": [{"index": 0, "relevance_score": 1}]},
            {"results": [{"index": index, "relevance_score": 1} for index in (0, 1, 1)]},
            {"results": [{"index": index, "relevance_score": 1} for index in (0, 1, 2, 2)]},
            {"results": [{"index": index, "relevance_score": "NaN"} for index in range(3)]},
            {"results": [{"index": index} for index in range(3)]},
            {"data": "nothing"},
            "text",
            None,
            {"results": [[0, 1], [1, 1], [2, 1]]},
            {"results": {"index": 0}},
        ],
    )
    async def test_refuses_scores_that_are_none(self, answer: object) -> None:
        with RerankServer() as server:
            server.broken = json_reply(answer)
            with pytest.raises(BrokenModelAnswer, match="one score for each of 3 texts"):
                await reranked(server)

    @pytest.mark.parametrize("usage", [{"total_tokens": -1}, {"total_tokens": "x"}, [], {"total_tokens": 1e300}])
    async def test_ignores_a_count_of_tokens_that_is_none(self, usage: object) -> None:
        results = [{"index": index, "relevance_score": index} for index in range(3)]
        with RerankServer() as server:
            server.broken = json_reply({"results": results, "usage": usage})
            assert (await reranked(server)) == Reranked((0.0, 1.0, 2.0), None)

    async def test_refuses_a_provider_without_reranking(self) -> None:
        with RerankServer() as server, pytest.raises(BadModelSettings, match="no rerank API"):
            await reranked(server, model=Model(provider="ollama", name="bge"))

    async def test_does_not_follow_a_redirect(self) -> None:
        with RerankServer() as server, RerankServer() as other:
            server.broken = json_reply({}, status=307, headers={"Location": f"{other.origin}/v1/rerank"})
            with pytest.raises(ModelCallFailed):
                await reranked(server)
        assert other.asked == []
