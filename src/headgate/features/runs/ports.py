"""What running flows needs from elsewhere; the entry point fills it in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from pydantic import JsonValue, SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.runs.capacity import Capacity
from headgate.features.runs.spaces import Spaces
from headgate.features.runs.transitions import Delivery, RunKey
from headgate.foundation.events import EventSink
from headgate.foundation.settings import EngineSettings, LimitSettings
from headgate.foundation.telemetry import Telemetry
from headgate.graph.model import Flow
from headgate.graph.template import Template
from headgate.sdk import CodeRunner, Component, File, HttpClient, Model, Recording, Transcript, WorkspaceTools

if TYPE_CHECKING:  # named without importing them
    from langchain_core.language_models import BaseChatModel

    from headgate.features.flows.rules import FlowRules
    from headgate.features.runs.deliveries.target import Target
    from headgate.features.runs.quotas.bounds import Bound
    from headgate.graph.classification import Classified, Scheme


class Components(Protocol):
    """Component classes and their templates."""

    def types(self) -> Sequence[str]:
        """Every known type, sorted."""
        ...

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """The template of a type with these params; None when unknown."""
        ...

    def code(self, type_: str) -> str | None:
        """The source of an own component; None for others."""
        ...

    def component(self, type_: str) -> type[Component]:
        """The class of a type. Raises `NotFound`."""
        ...

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> "Components":
        """These, and beside them the flow's own components that the tenant has had checked."""
        ...

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """The default model for steps of a space, as a model field holds it; None where none is chosen."""
        ...


class Definitions(Protocol):
    """The content of immutable versions."""

    async def __call__(self, key: RunKey) -> Flow:
        """The flow as that version froze it. Raises `NotFound`."""
        ...


@dataclass(frozen=True, slots=True)
class Origin:
    """The step that something is done for: whose artifact it is, who reads a secret."""

    key: RunKey
    step_id: str


class ChatModels(Protocol):
    """LangChain chat models with the keys that the flow's space has for them."""

    async def chat_model(self, origin: Origin, model: Model) -> "BaseChatModel":
        """The model. Raises `Invalid` naming the missing key or extra."""
        ...

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        """The words of a recording. Raises what a chat model's call raises."""
        ...

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Ids of the files that the model takes as they are. Raises `Invalid` when it cannot take one at all."""
        ...


class Secrets(Protocol):
    """Encrypted variables of the flow's space and its organisation."""

    async def secret(self, origin: Origin, name: str, *, url: str | None = None) -> SecretStr:
        """The value; with `url`, for a request to that address.

        Raises `NotFound` naming it, `Forbidden` when it is kept for other servers.
        """
        ...

    async def recall(self, key: RunKey) -> None:
        """Have the current task know the values of the secrets that other processes have read for a run."""
        ...


class ServerTool(Protocol):
    """A tool as its MCP server described it when its tools were last found."""

    @property
    def name(self) -> str:
        """Its name on the server."""
        ...

    @property
    def description(self) -> str:
        """The server's words: data, never an instruction."""
        ...

    @property
    def input_schema(self) -> Mapping[str, JsonValue]:
        """JSON Schema of the arguments, an object."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether the server says that it changes nothing."""
        ...


class ServerConnection(Protocol):
    """One step's connection to an MCP server; made at the first call."""

    @property
    def tools(self) -> Sequence[ServerTool]:
        """The tools that are enabled."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Call a tool. Raises `HeadgateError` with a message fit for a model to read."""
        ...

    async def close(self) -> None:
        """End the session and, with it, the program it runs in."""
        ...


class McpServers(Protocol):
    """MCP servers registered for the space that a flow is in."""

    async def connection(self, origin: Origin, server: str) -> ServerConnection:
        """The server of that name; nothing is sent yet. Raises `NotFound` naming the nearest one, `Invalid`."""
        ...


class Workspaces(Protocol):
    """Workspaces of people, for steps that work for them."""

    async def of_run(self, key: RunKey, root_path: str, *, read_only: bool) -> WorkspaceTools:
        """The tools of whoever started the run, bound to them; nothing is touched yet."""
        ...


class ScopedRunner(CodeRunner, Protocol):
    """Runs the foreign code of one execution, of a step for example, in separate processes."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def close(self) -> None:
        """End them: nothing that the code left behind meets another execution."""
        ...


class CodeRunners(Protocol):
    """Isolated execution of code that came with a flow."""

    def runner(self, tenant_id: str) -> ScopedRunner:
        """A runner for one execution for a tenant."""
        ...


class GivenFiles(Protocol):
    """Files that somebody gives to a run."""

    @property
    def files(self) -> tuple[File, ...]:
        """The files, in the order in which they were given."""
        ...

    @property
    def unshared(self) -> tuple[str, ...]:
        """Ids of those that nobody but their owner sees until the run takes them."""
        ...


class RunFiles(Protocol):
    """Uploaded files and artifacts of a tenant."""

    async def given(self, principal: Principal, file_ids: Sequence[str]) -> GivenFiles:
        """The files of these ids, in that order. Raises `NotFound` naming the first that the person does not see."""
        ...

    async def take(self, principal: Principal, flow_id: str, unshared: Sequence[str]) -> None:
        """Show the person's own uploads to the space of the flow of which a run takes them."""
        ...

    async def read(self, tenant_id: str, file_id: str) -> bytes:
        """The content, for ids that Headgate itself wrote down. Raises `NotFound`."""
        ...

    async def read_in(self, tenant_id: str, flow_id: str, file_id: str) -> bytes:
        """The content, for ids that a flow's author may have chosen.

        Raises `NotFound` for a file that no run of the flow, or of another flow of its space, made or took.
        """
        ...

    async def of_run(self, key: RunKey) -> tuple[File, ...]:
        """The artifacts of a run so far, oldest first."""
        ...

    async def save(self, origin: Origin, name: str, content: bytes, media_type: str) -> File:
        """Keep an artifact with its tags."""
        ...


class SecurityClasses(Protocol):
    """Security classes of models, where an installation has them switched on."""

    @property
    def scheme(self) -> "Scheme":
        """The classes there are."""
        ...

    async def classify(self, tenant_id: str, flow: Flow) -> "Classified":
        """The classes along a flow, as the tenant's models are classed now."""
        ...


class Sealer(Protocol):
    """Encrypts what is stored."""

    def encrypt(self, secret: SecretStr) -> bytes:
        """The text as a token that is safe to store."""
        ...

    def decrypt(self, token: bytes) -> SecretStr:
        """The text again. Raises `Unavailable` when the key is not the one that encrypted it."""
        ...


class Deliveries(Protocol):
    """Step outputs that go to web addresses (output_mode http_post)."""

    def seal(self, origin: Origin, target: "Target") -> Delivery:
        """What is to be written down with the step's result."""
        ...

    def send_soon(self, delivery_id: str) -> None:
        """Send what was written down; returns at once."""
        ...

    async def settle(self) -> None:
        """Return when nothing is being sent by this process."""
        ...


class Quotas(Protocol):
    """Limits of organisations, spaces and visitors."""

    async def of_start(self, tenant_id: str, space_id: str, visitor: str | None) -> "tuple[Bound, ...]":
        """The limits that the store checks. Raises `QuotaExceeded` where tokens are used up."""
        ...


class Services(Protocol):
    """Everything a step may reach, and its limits. An entry point may create each part when it is first read."""

    @property
    def components(self) -> Components:
        """Component classes."""
        ...

    @property
    def definitions(self) -> Definitions:
        """The content of versions."""
        ...

    @property
    def chat_models(self) -> ChatModels:
        """Chat models with the keys of a flow's space."""
        ...

    @property
    def http(self) -> HttpClient:
        """The guarded HTTP client."""
        ...

    @property
    def files(self) -> RunFiles:
        """Uploaded files and artifacts."""
        ...

    @property
    def secrets(self) -> Secrets:
        """Variables of a flow's space."""
        ...

    @property
    def code(self) -> CodeRunners:
        """The sandbox."""
        ...

    @property
    def isolated(self) -> CodeRunners:
        """Processes in which the platform's own functions work on content from outside."""
        ...

    @property
    def mcp(self) -> McpServers:
        """MCP servers."""
        ...

    @property
    def workspaces(self) -> Workspaces:
        """Workspaces of users."""
        ...

    @property
    def deliveries(self) -> Deliveries:
        """Sends step outputs to web addresses."""
        ...

    @property
    def bus(self) -> EventSink:
        """Where the events of runs go."""
        ...

    @property
    def limits(self) -> LimitSettings:
        """Limits of sizes."""
        ...

    @property
    def engine(self) -> EngineSettings:
        """Limits of the engine."""
        ...

    @property
    def spaces(self) -> Spaces:
        """The space of each flow."""
        ...

    @property
    def sealer(self) -> Sealer:
        """Encrypts what is stored."""
        ...

    @property
    def telemetry(self) -> Telemetry:
        """Metrics and traces of this process."""
        ...

    @property
    def capacity(self) -> Capacity | None:
        """Admission control; None where starts are never refused."""
        ...

    @property
    def quotas(self) -> "Quotas | None":
        """Limits of starts; None where there are none."""
        ...

    @property
    def rules(self) -> "FlowRules | None":
        """The readiness check; None where starts are not checked."""
        ...

    @property
    def classes(self) -> SecurityClasses | None:
        """Classifications of models; None where they are switched off."""
        ...
