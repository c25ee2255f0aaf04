"""Local models as a provider: what is there, and the arguments that make a chat model of one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from headgate.features.models.errors import BadModelSettings
from headgate.features.models.local.server import LocalModelServer
from headgate.features.models.local.store import LocalModel, default_models_dir, find_local, list_local, use_of
from headgate.features.models.local.weights import Use
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import httpx2

    from headgate.features.models.local import transport
else:
    httpx2 = lazy_module("httpx2")
    transport = lazy_module("headgate.features.models.local.transport")

PLACEHOLDER_URL = "http://local.headgate.invalid/v1"
"""Base URL for the client library; the real address is determined at each call, and may change between calls."""


@dataclass(frozen=True, slots=True)
class LocalModels:
    """The folder of local models and the servers that run them; one instance a process.

    A server has one model at a time. Each use has its own, so that an answer from documents does not load its models
    in turn.
    """

    models_dir: Path = field(default_factory=default_models_dir)
    server: LocalModelServer = field(default_factory=LocalModelServer)
    embedding_server: LocalModelServer = field(default_factory=lambda: LocalModelServer(use="embedding"))
    rerank_server: LocalModelServer = field(default_factory=lambda: LocalModelServer(use="rerank"))

    def ready(self, use: Use = "chat") -> list[LocalModel]:
        """Models of a use that can be used now."""
        return [model for model in list_local(self.models_dir) if model.ready and model.use == use]

    def client_arguments(self, name: str) -> dict[str, Any]:
        """Return what leads an OpenAI client to the model. Raises `LocalModelMissing`, `BadModelSettings`."""
        path = self._find(name, "chat")
        return {
            "base_url": PLACEHOLDER_URL,
            "api_key": "local",
            "http_client": httpx2.Client(transport=transport.LocalTransport(self.server, path), trust_env=False),
            "http_async_client": httpx2.AsyncClient(
                transport=transport.AsyncLocalTransport(self.server, path), trust_env=False
            ),
        }

    def client(self, name: str, use: Literal["embedding", "rerank"]) -> "httpx2.AsyncClient":
        """Return a client whose requests go to a model. Raises `LocalModelMissing`, `BadModelSettings`."""
        path = self._find(name, use)
        server = self.embedding_server if use == "embedding" else self.rerank_server
        return httpx2.AsyncClient(transport=transport.AsyncLocalTransport(server, path), trust_env=False)

    def _find(self, name: str, use: Use) -> Path:
        path = find_local(self.models_dir, name)
        actual = use_of(path)
        if actual != use:
            purpose = {"chat": "is a chat model", "embedding": "only embeds texts", "rerank": "only reranks texts"}[
                actual
            ]
            ready = ", ".join(f"local/{model.name}" for model in self.ready(use)) or "headgate models local"
            raise BadModelSettings(f"The local model '{name}' {purpose}.", remedy=f"Choose another: {ready}.")
        return path

    def close(self) -> None:
        """End the processes of the models, if any run. Call when the program ends."""
        self.server.close()
        self.embedding_server.close()
        self.rerank_server.close()
