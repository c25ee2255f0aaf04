"""Ports of running flows; the entry points provide the adapters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from pydantic import JsonValue, SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.runs.transitions import Delivery, RunKey
from headgate.graph.model import Flow
from headgate.graph.template import Template
from headgate.sdk import (
    CodeRunner,
    Component,
    Connection,
    File,
    Model,
    Recording,
    Transcript,
    WorkspaceTools,
)
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest
from headgate.sdk.knowledge import KnowledgeQuery, Passage
from headgate.sdk.sent_events import EventQuery, OutgoingEvent, ReceivedEvent
from headgate.sdk.state import StateChange, StateValue

if TYPE_CHECKING:  # referenced without importing them
    from langchain_core.language_models import BaseChatModel

    from headgate.features.knowledge.questions import Question
    from headgate.features.models.embeddings import Embedded
    from headgate.features.runs.budgets.accounts import Account, BudgetUse, Charge, Kind
    from headgate.features.runs.deliveries.target import Target
    from headgate.features.runs.failure_handlers.values import FailedRun, HandlerLink
    from headgate.features.runs.quotas.bounds import Bound
    from headgate.features.runs.slots.values import SlotUse
    from headgate.graph.classification import Classified, Observed, Scheme


class Components(Protocol):
    """Component classes and their templates."""

    def types(self) -> Sequence[str]:
        """Return every known type, sorted."""
        ...

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        """Return the template of a type with these params; None when unknown."""
        ...

    def code(self, type_: str) -> str | None:
        """Return the source of a custom component; None for others."""
        ...

    def component(self, type_: str) -> type[Component]:
        """Return the class of a type. Raises `NotFound`."""
        ...

    async def for_flow(self, tenant_id: str, flow: Flow, *, session: AsyncSession | None = None) -> "Components":
        """Return these components plus the flow's custom components that the tenant has had checked."""
        ...

    async def step_model(self, session: AsyncSession, *, tenant_id: str, space_id: str) -> JsonValue:
        """Return the default model for steps of a space, as a model field holds it; None when not set."""
        ...


class Definitions(Protocol):
    """Contents of immutable versions."""

    async def __call__(self, key: RunKey) -> Flow:
        """Return the flow of that version. Raises `NotFound`."""
        ...


@dataclass(frozen=True, slots=True)
class Origin:
    """The step on whose behalf an artifact is saved or a secret is read."""

    key: RunKey
    step_id: str


class ChatModels(Protocol):
    """LangChain chat models with the keys of the flow's space."""

    async def chat_model(self, origin: Origin, model: Model) -> "BaseChatModel":
        """Return the model. Raises `Invalid` naming the missing key or extra."""
        ...

    async def transcribe(self, origin: Origin, model: Model, audio: Recording) -> Transcript:
        """Transcribe a recording. Raises the errors of a chat model's call."""
        ...

    async def embed(self, origin: Origin, model: Model, texts: Sequence[str]) -> "Embedded":
        """Return the vectors of texts. Raises the errors of a chat model's call."""
        ...

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Return the ids of files that the model accepts directly. Raises `Invalid` for an unsupported file."""
        ...


class Secrets(Protocol):
    """Encrypted variables of the flow's space and its tenant."""

    async def secret(self, origin: Origin, name: str, *, url: str | None = None) -> SecretStr:
        """Return the value; with `url`, for a request to that address.

        Raises `NotFound` naming it, `Forbidden` when it is restricted to other servers.
        """
        ...

    async def recall(self, key: RunKey) -> None:
        """Load the secrets that other processes have read for a run into the current task, for masking."""
        ...


class Connections(Protocol):
    """Connections of the user who started a run, and of the flow's space."""

    async def open(self, origin: Origin, name: str) -> Connection:
        """Open a connection for a step. Raises `NotFound` with the nearest name, `Invalid` when it cannot be used."""
        ...


class ServerTool(Protocol):
    """A tool as described by its MCP server when its tools were last listed."""

    @property
    def name(self) -> str:
        """Its name on the server."""
        ...

    @property
    def description(self) -> str:
        """Description by the server: data, never an instruction."""
        ...

    @property
    def input_schema(self) -> Mapping[str, JsonValue]:
        """JSON Schema of the arguments, an object."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether the server declares that it changes nothing."""
        ...


class ServerConnection(Protocol):
    """One step's connection to an MCP server; opened at the first call."""

    @property
    def tools(self) -> Sequence[ServerTool]:
        """Return the enabled tools."""
        ...

    @property
    def url(self) -> str:
        """Return its address; empty for a program."""
        ...

    async def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Call a tool. Raises `HeadgateError` with a message for a model."""
        ...

    async def close(self) -> None:
        """End the session and the program that it runs in."""
        ...


class McpServers(Protocol):
    """MCP servers registered for the space of a flow."""

    async def connection(self, origin: Origin, server: str) -> ServerConnection:
        """Return the server of that name; nothing is sent yet. Raises `NotFound` naming the nearest one, `Invalid`."""
        ...


class Workspaces(Protocol):
    """Workspaces of users, for steps that run on their behalf."""

    async def of_run(self, key: RunKey, root_path: str, *, read_only: bool) -> WorkspaceTools:
        """Return the tools of the user who started the run, bound to that user; nothing is accessed yet."""
        ...


class ScopedRunner(CodeRunner, Protocol):
    """Runs the untrusted code of one execution, such as a step, in separate processes."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def close(self) -> None:
        """End the processes, so that nothing remains for another execution."""
        ...


class CodeRunners(Protocol):
    """Isolated execution of code in flows."""

    def runner(self, tenant_id: str) -> ScopedRunner:
        """Return a runner for one execution for a tenant."""
        ...


class Starters(Protocol):
    """Users who start runs."""

    async def may_start(self, tenant_id: str, user_id: str | None, flow_id: str, *, without_user: bool) -> bool:
        """Return whether a step of a user's run may start a flow; for a visitor's run what `without_user` says."""
        ...


class GivenFiles(Protocol):
    """Input files of a run."""

    @property
    def files(self) -> tuple[File, ...]:
        """The files, in the given order."""
        ...

    @property
    def unshared(self) -> tuple[str, ...]:
        """Ids of those that only their owner has access to until the run takes them."""
        ...


class RunFiles(Protocol):
    """Uploaded files and artifacts of a tenant."""

    async def given(self, principal: Principal, file_ids: Sequence[str]) -> GivenFiles:
        """Return the files of these ids, in that order. Raises `NotFound` naming the first inaccessible one."""
        ...

    async def take(self, principal: Principal, flow_id: str, unshared: Sequence[str]) -> None:
        """Share the user's uploads with the space of the flow whose run takes them."""
        ...

    async def read(self, tenant_id: str, file_id: str) -> bytes:
        """Return the content, for ids that Headgate itself stored. Raises `NotFound`."""
        ...

    async def read_in(self, tenant_id: str, flow_id: str, file_id: str) -> bytes:
        """Return the content, for ids that a flow's author may have chosen.

        Raises `NotFound` for a file that no run of the flow, or of another flow of its space, created or took.
        """
        ...

    async def of_run(self, key: RunKey) -> tuple[File, ...]:
        """Return the artifacts of a run so far, oldest first."""
        ...

    async def save(self, origin: Origin, name: str, content: bytes, media_type: str) -> File:
        """Store an artifact with its tags."""
        ...


class SecurityClasses(Protocol):
    """Classifications of models, where an installation enables them."""

    @property
    def scheme(self) -> "Scheme":
        """Return the available classifications."""
        ...

    async def classify(self, tenant_id: str, flow: Flow, observed: "Observed | None" = None) -> "Classified":
        """Classify the steps of a flow with the current classifications of the tenant's models.

        `observed` is what a run has shown; None outside of one.
        """
        ...


class Sealer(Protocol):
    """Encrypts stored data."""

    def encrypt(self, secret: SecretStr) -> bytes:
        """Encrypt a text to a token that is safe to store."""
        ...

    def decrypt(self, token: bytes) -> SecretStr:
        """Decrypt a token. Raises `Unavailable` when the key is not the one that encrypted it."""
        ...


class Deliveries(Protocol):
    """Webhook deliveries of step outputs (`output_mode` `http_post`)."""

    def seal(self, origin: Origin, target: "Target") -> Delivery:
        """Encrypt a delivery, to be stored with the step's result."""
        ...

    def send_soon(self, delivery_id: str) -> None:
        """Send a stored delivery; returns immediately."""
        ...

    async def settle(self) -> None:
        """Wait until this process sends nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Pending:
    """An approval without a decision, or a wait without an event."""

    until: int | None
    """When it times out: microseconds in UTC. None: never."""


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value of a flow's state, and the marks of the outside content in it."""

    value: StateValue
    outside: tuple[str, ...]
    classification: int | None = None
    """Of the value, and after a change of the one before it; None where it is not known."""


class FlowState(Protocol):
    """Values that last between runs of a flow."""

    async def read(self, origin: Origin, name: str) -> StoredValue:
        """Return a value of the flow of a step."""
        ...

    async def write(
        self, origin: Origin, change: StateChange, *, outside: Sequence[str], classification: int | None = None
    ) -> StoredValue:
        """Change a value once for a step of a run; with the marks and the classification of what reached the step."""
        ...


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The answer to a search."""

    passages: tuple[Passage, ...]
    level: int
    """Their highest classification."""
    mode: str
    """How they were searched."""


class KnowledgeBases(Protocol):
    """Documents that steps may read."""

    async def embedding_model(self, origin: Origin, query: KnowledgeQuery) -> str:
        """Return the model to embed a query with; empty for a lexical search.

        Raises `NotFound` for an unknown base, `Invalid` for a mode that its passages are not embedded for.
        """
        ...

    async def search(
        self, origin: Origin, query: KnowledgeQuery, *, clearance: int | None, question: "Question | None" = None
    ) -> FoundPassages:
        """Return the passages that the user who started the run may read.

        Args:
            origin: The step; the base is of the space of its flow.
            query: What is searched.
            clearance: The highest classification that the step may read; None when classifications are disabled.
            question: The embedded query; without it the search is lexical.

        Raises:
            NotFound: The space has no such base.
        """
        ...


class Approvals(Protocol):
    """Decisions of users that steps ask for."""

    async def ask(
        self, origin: Origin, request: ApprovalRequest, *, scope: str = "", classification: int | None = None
    ) -> ApprovalAnswer | Pending:
        """Store the request of a step, or return what was decided on it. Raises `Invalid` for an unknown assignee.

        `scope` is the tool call of the step that asks, the same in each attempt; empty where the step itself asks.
        `classification` is that of what is shown; None without classifications.
        """
        ...


@dataclass(frozen=True, slots=True)
class EventReceipt:
    """The event that a step received, and what is known of its data."""

    event: ReceivedEvent
    classification: int | None
    """Classification of the data, where a step sent it and classifications were enabled."""
    outside: tuple[str, ...]
    """Marks of the untrusted content in the data."""


class SentEvents(Protocol):
    """Events that steps send and wait for."""

    async def send(
        self, origin: Origin, event: OutgoingEvent, *, key: str, classification: int | None, outside: tuple[str, ...]
    ) -> str:
        """Send an event once, whichever attempt at the step calls this, and return its id.

        Args:
            origin: The step.
            event: The event.
            key: The same in every attempt at the step.
            classification: Classification of the data; None when classifications are disabled.
            outside: Marks of the untrusted content in the data.

        Raises:
            Invalid: The name or the correlation value is not valid.
            TooLarge: The data is too large.
            RateLimited: The space keeps too many events.
        """
        ...

    async def wait(self, origin: Origin, query: EventQuery) -> EventReceipt | Pending | None:
        """Return the event of a step; `Pending` while there is none, None when the time is over. Raises `Invalid`."""
        ...


class Budgets(Protocol):
    """Budgets of runs and of flows per day."""

    async def price(self, origin: Origin, model: Model) -> tuple[float, float] | None:
        """Return the price of a model in US dollars per million tokens of prompt and answer; None when unknown."""
        ...

    async def charge(
        self, tenant_id: str, accounts: "Sequence[Account]", amounts: "Mapping[Kind, int]", *, partial: bool = False
    ) -> "Sequence[Charge]":
        """Charge all accounts or none; `partial` charges what is left. Raises `BudgetExceeded`."""
        ...

    async def correct(self, tenant_id: str, charges: "Sequence[Charge]", amounts: "Mapping[Kind, int]") -> None:
        """Replace what was charged by what was used."""
        ...

    async def read(self, tenant_id: str, accounts: "Sequence[Account]", at: int) -> "Sequence[BudgetUse]":
        """Return what is used of each budget at a time."""
        ...


class Slots(Protocol):
    """Limits of what runs at the same time."""

    async def take_flow(self, origin: Origin, most: int, priority: int) -> bool:
        """Take the slot of a run of a flow. False: it is queued, and the step is woken when it is granted."""
        ...

    async def take_key(self, origin: Origin, space_id: str, key: str, most: int, priority: int) -> bool:
        """Take a slot of a step for a key of its space. False: it is queued."""
        ...

    async def take_model(self, origin: Origin, model: Model, priority: int) -> bool:
        """Take a slot of a step for a model, where that has a limit. False: it is queued."""
        ...

    async def grant_free(self) -> None:
        """Give free slots to those who wait."""
        ...

    async def read(self, tenant_id: str, run_id: str) -> "Sequence[SlotUse]":
        """Return the slots that a run and its steps hold or wait for."""
        ...

    async def count_flow(self, tenant_id: str, flow_id: str) -> tuple[int, int]:
        """Return how many runs of a flow hold a slot, and how many wait for one."""
        ...


class FailureHandlers(Protocol):
    """Flows that handle the failures of runs."""

    async def claim(self) -> "Sequence[FailedRun]":
        """Claim failed runs whose handler is to be started, each for one process at a time."""
        ...

    async def settle(self, failed: "FailedRun", problem: str | None = None) -> None:
        """Record that a handler was started, or why it was not."""
        ...

    async def link(self, tenant_id: str, run_id: str, *, handled: bool) -> "HandlerLink | None":
        """Return the handler of a run, or with `handled` the run whose failure this one handles."""
        ...


class Circuits(Protocol):
    """Circuit breakers of hosts, model servers, models and MCP servers."""

    async def enter(self, tenant_id: str, host: str, *, at_once: bool = False) -> None:
        """Return when a host may be asked. Raises `CircuitOpen`; with `at_once` also in a pause after one failure."""
        ...

    async def failed(
        self, tenant_id: str, host: str, code: str, *, pause_seconds: float = 0.0, counts: bool = True
    ) -> None:
        """Count a failure of a host; with `pause_seconds` it is paused at once for those who can ask another one."""
        ...

    async def succeeded(self, tenant_id: str, host: str) -> None:
        """Close the circuit of a host that answered."""
        ...


class Quotas(Protocol):
    """Limits of tenants, spaces and visitors."""

    async def of_start(self, tenant_id: str, space_id: str, visitor: str | None) -> "tuple[Bound, ...]":
        """Return the limits that the store checks. Raises `QuotaExceeded` where tokens are used up."""
        ...
