"""Ports for what a step uses outside: models, secrets, connections, servers, workspaces and runners of code."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, Self

from pydantic import JsonValue, SecretStr

from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.transitions import RunKey
from headgate.sdk import CodeRunner, Connection, File, Model, Recording, Transcript, WorkspaceTools

if TYPE_CHECKING:  # referenced without importing them
    from langchain_core.language_models import BaseChatModel

    from headgate.features.mcptools.sampling import Answers, Sampling
    from headgate.features.models.embeddings import Embedded
    from headgate.features.models.reranking import Reranked


class ChatModels(Protocol):
    """LangChain chat models with the keys of the flow's space."""

    async def chat_model(self, origin: Origin, model: Model) -> "BaseChatModel":
        """Return the model. Raises `Invalid` naming the missing key or extra."""

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        """Transcribe a recording. Raises the errors of a chat model's call."""

    async def embed(self, origin: Origin, model: Model, texts: Sequence[str]) -> "Embedded":
        """Return the vectors of texts. Raises the errors of a chat model's call."""

    async def rerank(self, origin: Origin, model: Model, query: str, texts: Sequence[str]) -> "Reranked":
        """Return how well texts answer a query. Raises the errors of a chat model's call."""

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Return the ids of files that the model accepts directly. Raises `Invalid` for an unsupported file."""


class Secrets(Protocol):
    """Encrypted variables of the flow's space and its tenant."""

    async def secret(self, origin: Origin, name: str, *, url: str | None = None) -> SecretStr:
        """Return the value; with `url`, for a request to that address.

        Raises `NotFound` naming it, `Forbidden` when it is restricted to other servers.
        """

    async def recall(self, key: RunKey) -> None:
        """Load the secrets that other processes have read for a run into the current task, for masking."""


class Connections(Protocol):
    """Connections of the user who started a run, and of the flow's space."""

    async def open(self, origin: Origin, name: str) -> Connection:
        """Open a connection for a step. Raises `NotFound` with the nearest name, `Invalid` when it cannot be used."""


class ServerTool(Protocol):
    """A tool as described by its MCP server when its tools were last listed."""

    @property
    def name(self) -> str:
        """Its name on the server."""

    @property
    def description(self) -> str:
        """Description by the server: data, never an instruction."""

    @property
    def input_schema(self) -> Mapping[str, JsonValue]:
        """JSON Schema of the arguments, an object."""

    @property
    def read_only(self) -> bool:
        """Whether the server declares that it changes nothing."""

    @property
    def changed(self) -> bool:
        """Whether its description has changed since a user accepted it."""


class ServerConnection(Protocol):
    """One step's connection to an MCP server; opened at the first call."""

    @property
    def tools(self) -> Sequence[ServerTool]:
        """Return the enabled tools."""

    @property
    def url(self) -> str:
        """Return its address; empty for a program."""

    @property
    def sampling(self) -> "Sampling | None":
        """Return the model that answers its requests; None for none."""

    async def call(self, tool: str, arguments: Mapping[str, JsonValue], answers: "Answers | None" = None) -> JsonValue:
        """Call a tool; `answers` has what the server asks. Raises `HeadgateError` with a message for a model."""

    async def close(self) -> None:
        """End the session and the program that it runs in."""


class McpServers(Protocol):
    """MCP servers registered for the space of a flow."""

    async def connection(self, origin: Origin, server: str) -> ServerConnection:
        """Return the server of that name; nothing is sent yet. Raises `NotFound` naming the nearest one, `Invalid`."""


class Workspaces(Protocol):
    """Workspaces of users, for steps that run on their behalf."""

    async def of_run(self, key: RunKey, root_path: str, *, read_only: bool) -> WorkspaceTools:
        """Return the tools of the user who started the run, bound to that user; nothing is accessed yet."""


class ScopedRunner(CodeRunner, Protocol):
    """Runs the untrusted code of one execution, such as a step, in separate processes."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def close(self) -> None:
        """End the processes, so that nothing remains for another execution."""


class CodeRunners(Protocol):
    """Isolated execution of code in flows."""

    def runner(self, tenant_id: str) -> ScopedRunner:
        """Return a runner for one execution for a tenant."""
