"""Small adapters that join one slice's port to another slice's service."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import GuardedWeb
from headgate.features.models.setup.space import SpaceModels
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.secret_reads import service as secret_reads
from headgate.features.runs.spaces import Spaces
from headgate.features.runs.starters import RunStarters
from headgate.features.runs.transitions import RunKey
from headgate.features.secrets.reads import STORED_WITH, ReadAudit, Source
from headgate.foundation import secret_values
from headgate.foundation.database import Database
from headgate.foundation.lazy import lazy_module
from headgate.sdk import Connection as OpenConnection
from headgate.sdk import File, Model, Recording, Transcript

if TYPE_CHECKING:  # named without importing LangChain
    from langchain_core.language_models import BaseChatModel

    from headgate.features.connections import http as connection_http
    from headgate.features.connections import opening
    from headgate.features.mcptools import connector as mcp
    from headgate.features.models import credentials, embeddings, inputs, reranking, transcription
    from headgate.features.models import service as models
    from headgate.features.models.setup import facts as model_facts
else:
    connection_http = lazy_module("headgate.features.connections.http")
    opening = lazy_module("headgate.features.connections.opening")
    mcp = lazy_module("headgate.features.mcptools.connector")
    credentials = lazy_module("headgate.features.models.credentials")
    embeddings = lazy_module("headgate.features.models.embeddings")
    inputs = lazy_module("headgate.features.models.inputs")
    reranking = lazy_module("headgate.features.models.reranking")
    transcription = lazy_module("headgate.features.models.transcription")
    models = lazy_module("headgate.features.models.service")
    model_facts = lazy_module("headgate.features.models.setup.facts")

VariablesOf = Callable[[str, str, ReadAudit], SpaceModels]
"""Variables of a tenant's space, whose reads are recorded."""


@dataclass(frozen=True, slots=True)
class StepVariables:
    """The variables that a step may use: those of its flow's space and of the organisation."""

    database: Database
    variables_of: VariablesOf
    spaces: Spaces

    async def of(self, origin: Origin) -> SpaceModels:
        """Those of one step."""
        key = origin.key
        space = await self.spaces.of(key.tenant_id, key.flow_id)
        return self.variables_of(key.tenant_id, space, secret_reads.SecretReads(self.database, origin))

    async def recall(self, key: RunKey, names: Sequence[str]) -> None:
        """Read variables that other processes have read for a run, for redaction in this one."""
        space = await self.spaces.of(key.tenant_id, key.flow_id)
        variables = self.variables_of(key.tenant_id, space, secret_reads.WrittenDown(frozenset(names)))
        for name in names:
            if STORED_WITH not in name:
                await variables.key(name)


@dataclass(frozen=True, slots=True)
class StepModels:
    """Chat models with the keys of a step's space."""

    variables: StepVariables
    local: LocalModels
    web: GuardedWeb

    async def chat_model(self, origin: Origin, model: Model) -> "BaseChatModel":
        """The model. Raises `Invalid` naming the missing key or extra."""
        keys = await self.variables.of(origin)
        return await models.create_chat_model(model, keys, local=self.local, web=self.web)

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        """Transcribe a recording. Raises the errors of a chat model's call."""
        return await transcription.transcribe(model, audio, await self.variables.of(origin), web=self.web)

    async def embed(self, origin: Origin, model: Model, texts: Sequence[str]) -> "embeddings.Embedded":
        """Embed texts. Raises the errors of a chat model's call."""
        keys = await self.variables.of(origin)
        return await embeddings.embed(model, texts, keys, web=self.web, local=self.local)

    async def rerank(self, origin: Origin, model: Model, query: str, texts: Sequence[str]) -> "reranking.Reranked":
        """Rerank texts. Raises the errors of a chat model's call."""
        keys = await self.variables.of(origin)
        return await reranking.rerank(model, query, texts, keys, web=self.web, local=self.local)

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Return the ids of files that the model accepts directly. Raises `Invalid` for an unsupported file."""
        return inputs.check_inputs(model, files, unreadable=unreadable)


@dataclass(frozen=True, slots=True)
class StepModelFacts:
    """Prices and limits of models in the space of a step's flow."""

    variables: StepVariables

    async def of(self, origin: Origin, model: Model) -> tuple[float, float] | None:
        """US dollars per million tokens of prompt and answer: the organisation's, else list prices; None when unknown.

        List prices do not apply to a model at an address in its parameters.
        """
        setup = await (await self.variables.of(origin)).setup()
        known = model_facts.known_of(model, setup)
        if model.params.get("base_url") is not None and not known.changed:
            return None
        return None if known.price_in is None or known.price_out is None else (known.price_in, known.price_out)

    async def most(self, origin: Origin, model: Model) -> int | None:
        """How many steps may call a model at the same time; None: any number."""
        setup = await (await self.variables.of(origin)).setup()
        return model_facts.known_of(model, setup).max_concurrent


@dataclass(frozen=True, slots=True)
class SpaceSecrets:
    """Encrypted variables of one space and its organisation."""

    variables: SpaceModels

    async def secret(self, name: str, *, url: str | None = None) -> SecretStr:
        """The value; with `url`, for a request to that address, which the flow chose.

        Raises `NotFound` naming it; `Forbidden` when it is restricted to other servers, or is a model provider's and
        the address is not.
        """
        if url is None:
            return await self.variables.require(name)
        return await credentials.secret_for(name, url, self.variables)

    async def note(self, name: str, source: Source) -> None:
        """Record the read of a value that is stored for a server."""
        await self.variables.note(name, source)


@dataclass(frozen=True, slots=True)
class StepSecrets:
    """Encrypted variables of steps."""

    variables: StepVariables
    connections: "Callable[[], StepConnections]"

    async def secret(self, origin: Origin, name: str, *, url: str | None = None) -> SecretStr:
        """The value for a step; see `SpaceSecrets`."""
        return await SpaceSecrets(await self.variables.of(origin)).secret(name, url=url)

    async def recall(self, key: RunKey) -> None:
        """Have the current task know the secrets that other processes have read for a run.

        Raises when one cannot be read; the next call reads it again: nothing is shown that may contain it.
        """
        known = secret_values.names_read()
        names = sorted(set(await secret_reads.names_read_by(self.variables.database, key)) - (known or set()))
        if not names:
            return
        await self.variables.recall(key, names)
        if any(name.startswith(opening.READ_AS) for name in names):
            await self.connections().recall(key, names)
        if known is not None:
            known.update(names)


@dataclass(frozen=True, slots=True)
class StepConnections:
    """Connections of steps."""

    connections: "opening.Connections"
    variables: StepVariables

    async def open(self, origin: Origin, name: str) -> OpenConnection:
        """Open the connection of the user who started the run and still may, else of the flow's space."""
        key, database = origin.key, self.variables.database
        return await self.connections.open(
            tenant_id=key.tenant_id,
            space_id=await self.variables.spaces.of(key.tenant_id, key.flow_id),
            user_id=await RunStarters(database).of(key),
            name=name,
            audit=secret_reads.SecretReads(database, origin),
        )

    async def recall(self, key: RunKey, names: Sequence[str]) -> None:
        """Read the secrets of connections that a run has read in other processes, for redaction in this one."""
        connection_names = [name.removeprefix(opening.READ_AS) for name in names if name.startswith(opening.READ_AS)]
        if not connection_names:
            return
        space = await self.variables.spaces.of(key.tenant_id, key.flow_id)
        user = await secret_reads.starter_of(self.variables.database, key)
        for name in connection_names:
            await self.connections.recall(tenant_id=key.tenant_id, space_id=space, user_id=user, name=name)


@dataclass(frozen=True, slots=True)
class SpaceServers:
    """The MCP servers of the space that a run's flow is in."""

    connector: "mcp.McpConnector"
    variables: StepVariables
    connections: StepConnections

    async def connection(self, origin: Origin, server: str) -> "mcp.Connection":
        """The server of that name, nothing sent yet."""
        key = origin.key
        return await self.connector.connection(
            tenant_id=key.tenant_id,
            space_id=await self.variables.spaces.of(key.tenant_id, key.flow_id),
            name=server,
            reader=mcp.Reader(
                SpaceSecrets(await self.variables.of(origin)),
                lambda name: http_of(self.connections.open(origin, name)),
            ),
        )


async def http_of(opened: Awaitable[OpenConnection]) -> "connection_http.ConnectionHttp":
    """Return the HTTP client of a connection that is being opened."""
    http = (await opened).http
    if not isinstance(http, connection_http.ConnectionHttp):
        raise TypeError(f"{type(http).__name__} adds no credential")
    return http
