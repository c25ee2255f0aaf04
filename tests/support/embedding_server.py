"""A loopback server that embeds texts: OpenAI's `/v1/embeddings` and Ollama's `/api/embed`.

A text becomes a bag of its words, in which words of the same meaning count as one word.
"""

import hashlib
import re
from typing import Any

from tests.support.openai_server import OpenAIServer
from tests.support.scripted_server import Asked, Reply, Script, json_reply

DIMENSIONS = 256
_MEANINGS = {"vacation": "holiday", "holidays": "holiday", "automobile": "car", "cars": "car", "pay": "salary"}


class Embeddings:
    """Answers requests for embeddings; `texts` are all texts that it embedded, by model in `models`."""

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self.dimensions = dimensions
        self.texts: list[str] = []
        self.models: list[str] = []
        self.broken: Reply | None = None
        """What it answers in place of vectors."""

    def answer(self, asked: Asked) -> Script | None:
        """The answer to a request for embeddings; None for other requests: the `sort` of a server."""
        if asked.path.endswith("/embeddings"):
            return lambda request: self.broken or self._openai(request)
        if asked.path.endswith("/api/embed"):
            return lambda request: self.broken or self._ollama(request)
        return None

    def _openai(self, asked: Asked) -> Reply:
        vectors, tokens = self._vectors(asked)
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return json_reply({"object": "list", "model": asked.body["model"], "data": data, "usage": usage})

    def _ollama(self, asked: Asked) -> Reply:
        vectors, tokens = self._vectors(asked)
        return json_reply({"model": asked.body["model"], "embeddings": vectors, "prompt_eval_count": tokens})

    def _vectors(self, asked: Asked) -> tuple[list[list[float]], int]:
        texts: Any = asked.body["input"]
        self.texts += texts
        self.models += [asked.body["model"]] * len(texts)
        return [vector_of(text, self.dimensions) for text in texts], sum(len(text.split()) for text in texts)


class EmbeddingServer(OpenAIServer):
    """A server with `embeddings`."""

    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings()
        self.sort = self.embeddings.answer


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """The vector of a text."""
    vector = [0.001] * dimensions
    for word in re.findall(r"\w+", text.lower()):
        digest = hashlib.sha256(_MEANINGS.get(word, word).encode()).digest()
        vector[int.from_bytes(digest[:4], "big") % dimensions] += 1.0
    return vector
