"""Local models as a provider: what is there, and the arguments that make a chat model of one."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.features.models.local.server import LocalModelServer
from headgate.features.models.local.store import LocalModel, default_models_dir, find_local, list_local
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    import httpx2

    from headgate.features.models.local import transport
else:
    httpx2 = lazy_module("httpx2")
    transport = lazy_module("headgate.features.models.local.transport")


@dataclass(frozen=True, slots=True)
class LocalModels:
    """The folder of local models and the one server that runs them; one instance a process."""

    models_dir: Path = field(default_factory=default_models_dir)
    server: LocalModelServer = field(default_factory=LocalModelServer)

    def ready(self) -> list[LocalModel]:
        """Models that can be used now."""
        return [model for model in list_local(self.models_dir) if model.ready]

    def client_arguments(self, name: str) -> dict[str, Any]:
        """Constructor arguments that lead an OpenAI client to the model. Raises `LocalModelMissing`."""
        path = find_local(self.models_dir, name)
        return {
            "base_url": transport.PLACEHOLDER_URL,
            "api_key": "local",
            "http_client": httpx2.Client(transport=transport.LocalTransport(self.server, path), trust_env=False),
            "http_async_client": httpx2.AsyncClient(
                transport=transport.AsyncLocalTransport(self.server, path), trust_env=False
            ),
        }

    def close(self) -> None:
        """End the model's process, if one runs. Call when the program ends."""
        self.server.close()
