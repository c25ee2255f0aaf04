"""Traces the external calls of a step. Used only when traces are exported."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headgate.features.connections.http import GuardedClient
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import ChatModels
from headgate.foundation.guarded_http import Credential, HttpAnswer
from headgate.foundation.telemetry import Telemetry, Tracing
from headgate.sdk import File, Model, Recording, Transcript

if TYPE_CHECKING:  # named without importing LangChain
    from langchain_core.language_models import BaseChatModel

    from headgate.features.models.embeddings import Embedded
    from headgate.features.models.reranking import Reranked


@dataclass(frozen=True, slots=True)
class TracedHttp:
    """The guarded client. Only the host of a URL is recorded: path and query may contain a secret."""

    client: GuardedClient
    traces: Tracing

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | str | None = None,
        timeout_seconds: float = 30.0,
        credential: Credential | None = None,
    ) -> HttpAnswer:
        """One request, with its redirects and retries, in one span."""
        about = {"http.request.method": method.upper(), "server.address": _host(url)}
        with self.traces.span(f"{method.upper()}", about, kind="client") as span:
            answer = await self.client.request(
                method, url, headers=headers, body=body, timeout_seconds=timeout_seconds, credential=credential
            )
            span.set({"http.response.status_code": answer.status})
            return answer


@dataclass(frozen=True, slots=True)
class TracedModels:
    """Chat models whose calls are traced."""

    models: ChatModels
    traces: Tracing

    async def chat_model(self, origin: Origin, model: Model) -> "BaseChatModel":
        """The model. Raises `Invalid` naming the missing key or extra."""
        from headgate.features.models.tracing import traced  # noqa: PLC0415 - brings LangChain

        return traced(await self.models.chat_model(origin, model), model, self.traces)

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        """Transcribe a recording, in one span."""
        with self.traces.span(f"transcribe {model.name}", {"gen_ai.request.model": model.name}, kind="client"):
            return await self.models.transcribe(origin, model, audio)

    async def embed(self, origin: Origin, model: Model, texts: Sequence[str]) -> "Embedded":
        """Embed texts, in one span."""
        with self.traces.span(f"embed {model.name}", {"gen_ai.request.model": model.name}, kind="client"):
            return await self.models.embed(origin, model, texts)

    async def rerank(self, origin: Origin, model: Model, query: str, texts: Sequence[str]) -> "Reranked":
        """Rerank texts, in one span."""
        with self.traces.span(f"rerank {model.name}", {"gen_ai.request.model": model.name}, kind="client"):
            return await self.models.rerank(origin, model, query, texts)

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Return the ids of files that the model accepts directly."""
        return self.models.check_inputs(model, files, unreadable=unreadable)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def traced_http(client: GuardedClient, telemetry: Telemetry) -> GuardedClient:
    """The client; its requests are traced where traces are exported."""
    return TracedHttp(client, telemetry.traces) if telemetry.traces.active else client


def traced_models(models: ChatModels, telemetry: Telemetry) -> ChatModels:
    """The models; their calls are traced where traces are exported."""
    return TracedModels(models, telemetry.traces) if telemetry.traces.active else models
