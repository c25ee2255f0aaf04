"""A loopback server that reranks texts, in the wire shapes of Cohere, Jina, Voyage, vLLM, llama.cpp and TEI.

Shapes as documented by the providers and written by the servers: docs.cohere.com/v2/reference/rerank,
api.jina.ai/redoc, docs.voyageai.com/reference/reranker-api, vLLM `RerankResponse`, llama.cpp `format_response_rerank`,
Text Embeddings Inference `/rerank`.
"""

import re
from typing import Any, Literal

from tests.support.embedding_server import Embeddings
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Reply, Script, json_reply

Shape = Literal["cohere", "jina", "voyage", "vllm", "llama.cpp", "tei"]
SHAPES: tuple[Shape, ...] = ("cohere", "jina", "voyage", "vllm", "llama.cpp", "tei")
_MEMBERS = {"model", "query", "documents"}


class RerankServer(OpenAIServer):
    """Reranks, and embeds like `EmbeddingServer`; `texts` are all texts that it reranked."""

    def __init__(self, shape: Shape = "jina") -> None:
        super().__init__()
        self.shape = shape
        self.texts: list[str] = []
        self.broken: Reply | None = None
        """What it answers in place of scores."""
        self.embeddings = Embeddings()
        self.sort = self._answer

    @property
    def address(self) -> str:
        """The address that a user stores for it."""
        return f"{self.origin}/v2" if self.shape == "cohere" else f"{self.origin}/v1"

    def _answer(self, asked: Asked) -> Script | None:
        if asked.path.endswith("/rerank"):
            return lambda request: self.broken or self._reranked(request)
        return self.embeddings.answer(asked)

    def _reranked(self, asked: Asked) -> Reply:
        if self.shape == "tei":
            return self._tei(asked)
        path = "/v2/rerank" if self.shape == "cohere" else "/v1/rerank"
        if asked.path != path:
            return json_reply({"detail": "Not Found"}, status=404)
        unknown = set(asked.body) - _MEMBERS
        if unknown:
            return json_reply({"detail": f"Argument {sorted(unknown)} is not supported by our API"}, status=400)
        results = self._results(asked.body["query"], asked.body["documents"])
        tokens = sum(len(text.split()) for text in asked.body["documents"])
        model = asked.body["model"]
        match self.shape:
            case "cohere":
                meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
                return json_reply({"id": "r", "results": results, "meta": meta})
            case "voyage":
                usage = {"total_tokens": tokens}
                return json_reply({"object": "list", "data": results, "model": model, "usage": usage})
            case "llama.cpp":
                usage = {"prompt_tokens": tokens, "total_tokens": tokens}
                return json_reply({"model": model, "object": "list", "usage": usage, "results": results})
            case _:
                texts = asked.body["documents"]
                documents = [{**row, "document": {"text": texts[row["index"]]}} for row in results]
                return json_reply({"model": model, "usage": {"total_tokens": tokens}, "results": documents})

    def _tei(self, asked: Asked) -> Reply:
        if asked.path != "/rerank":
            return Reply(status=404)
        if "texts" not in asked.body:
            return json_reply({"error": "missing field `texts`", "error_type": "Validation"}, status=422)
        if len(asked.body["texts"]) > 32:
            return json_reply({"error": "batch size > maximum allowed batch size 32"}, status=422)
        results = self._results(asked.body["query"], asked.body["texts"])
        return json_reply([{"index": row["index"], "score": row["relevance_score"]} for row in results])

    def _results(self, query: str, texts: list[str]) -> list[dict[str, Any]]:
        self.texts += texts
        rows = [{"index": index, "relevance_score": score_of(query, text)} for index, text in enumerate(texts)]
        return sorted(rows, key=lambda row: -row["relevance_score"])


def score_of(query: str, text: str) -> float:
    """The share of the words of a text that are in the query, as a logit may be: also negative."""
    words = re.findall(r"\w+", text.lower())
    asked = set(re.findall(r"\w+", query.lower()))
    return round(sum(word in asked for word in words) / max(len(words), 1) - 0.5, 6)
