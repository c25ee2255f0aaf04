"""Services of steps as plain values, for tests that replace some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headgate.features.flows.rules import FlowRules
from headgate.features.knowledge.search.queries import Question, Variant
from headgate.features.knowledge.search.reranking import Reranking
from headgate.features.runs.budgets.accounts import Account, BudgetUse, Charge, Kind
from headgate.features.runs.capacity import Capacity
from headgate.features.runs.failure_handlers.values import FailedRun, HandlerLink
from headgate.features.runs.ports.flows import Components, Definitions, Deliveries, Sealer, SecurityClasses, Starters
from headgate.features.runs.ports.limits import Budgets, Circuits, FailureHandlers, Quotas, Slots
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import ChatModels, CodeRunners, Connections, McpServers, Secrets, Workspaces
from headgate.features.runs.ports.storage import (
    FlowState,
    FoundPassages,
    KnowledgeBases,
    RunFiles,
    SearchModels,
    StoredValue,
)
from headgate.features.runs.ports.waits import Approvals, EventReceipt, Pending, SentEvents
from headgate.features.runs.slots.values import SlotUse
from headgate.features.runs.spaces import Spaces
from headgate.foundation.events import EventSink
from headgate.foundation.settings import EngineSettings, LimitSettings
from headgate.foundation.telemetry import Telemetry
from headgate.sdk import HttpClient, Model
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest
from headgate.sdk.connections import Connection
from headgate.sdk.knowledge import AddedDocument, DocumentState, KnowledgeQuery, NewDocument, Passage
from headgate.sdk.sent_events import EventQuery, OutgoingEvent
from headgate.sdk.state import StateChange


class NoApprovals:
    """Refuses every request for an approval."""

    async def ask(
        self,
        origin: Origin,
        request: ApprovalRequest,
        *,
        scope: str = "",
        classification: int | None = None,
    ) -> ApprovalAnswer | Pending:
        raise AssertionError(f"step {origin.step_id} asks: {request.question}")


class NoState:
    """Refuses to read and write state."""

    async def read(self, origin: Origin, name: str) -> StoredValue:
        raise AssertionError(f"step {origin.step_id} reads {name}")

    async def write(
        self,
        origin: Origin,
        change: StateChange,
        *,
        outside: Sequence[str],
        classification: int | None = None,
    ) -> StoredValue:
        raise AssertionError(f"step {origin.step_id} writes {change.name}")


class NoBudgets:
    """Refuses to charge budgets."""

    async def price(self, origin: Origin, model: Model) -> tuple[float, float] | None:
        raise AssertionError(f"step {origin.step_id} asks for the price of {model}")

    async def charge(
        self, tenant_id: str, accounts: Sequence[Account], amounts: Mapping[Kind, int], *, partial: bool = False
    ) -> Sequence[Charge]:
        raise AssertionError(f"{accounts} are charged")

    async def correct(self, tenant_id: str, charges: Sequence[Charge], amounts: Mapping[Kind, int]) -> None:
        raise AssertionError(f"{charges} are corrected")

    async def read(self, tenant_id: str, accounts: Sequence[Account], at: int) -> Sequence[BudgetUse]:
        return []


class NoFailureHandlers:
    """No failure is handled."""

    async def claim(self) -> Sequence[FailedRun]:
        return []

    async def settle(self, failed: FailedRun, problem: str | None = None) -> None:
        raise AssertionError(f"{failed} was not claimed")

    async def link(self, tenant_id: str, run_id: str, *, handled: bool) -> HandlerLink | None:
        return None


class FreeSlots:
    """Nothing is limited."""

    async def take_flow(self, origin: Origin, most: int) -> bool:
        return True

    async def take_key(self, origin: Origin, space_id: str, key: str, most: int) -> bool:
        return True

    async def most_of_model(self, origin: Origin, model: Model) -> int | None:
        return None

    async def take_model(self, origin: Origin, model: Model, most: int) -> bool:
        return True

    async def take_connection(self, origin: Origin, connection_id: str, most: int) -> bool:
        return True

    async def grant_free(self) -> None:
        return

    async def read(self, tenant_id: str, run_id: str) -> Sequence[SlotUse]:
        return []

    async def count_flow(self, tenant_id: str, flow_id: str) -> tuple[int, int]:
        return 0, 0


class NoSentEvents:
    """Refuses to send events and to wait for them."""

    async def send(
        self,
        origin: Origin,
        event: OutgoingEvent,
        *,
        key: str,
        classification: int | None,
        outside: tuple[str, ...],
    ) -> str:
        raise AssertionError(f"step {origin.step_id} sends: {event.name}")

    async def wait(self, origin: Origin, query: EventQuery) -> EventReceipt | Pending | None:
        raise AssertionError(f"step {origin.step_id} waits: {query.name}")


class NoKnowledge:
    """Refuses to search."""

    async def models(self, origin: Origin, query: KnowledgeQuery) -> SearchModels:
        return SearchModels()

    async def search(
        self,
        origin: Origin,
        query: KnowledgeQuery,
        *,
        clearance: int | None,
        question: Question | None = None,
        reranking: Reranking | None = None,
        variants: Sequence[Variant] = (),
    ) -> FoundPassages:
        raise AssertionError(f"step {origin.step_id} searches {query.base}")

    async def add(self, origin: Origin, document: NewDocument, *, level: int) -> AddedDocument:
        raise AssertionError(f"step {origin.step_id} adds {document.name}")

    async def states(self, origin: Origin, base: str, document_ids: Sequence[str]) -> Mapping[str, DocumentState]:
        raise AssertionError(f"step {origin.step_id} reads states")


class OnePassage(NoKnowledge):
    """Every base has one passage, which every question finds."""

    async def search(
        self,
        origin: Origin,
        query: KnowledgeQuery,
        *,
        clearance: int | None,
        question: Question | None = None,
        reranking: Reranking | None = None,
        variants: Sequence[Variant] = (),
    ) -> FoundPassages:
        sha256 = "0" * 64
        passage = Passage("It is green.", "", "a.txt", "d", "b", 1, sha256, 0, 0, 12, None, sha256, 1.0)
        return FoundPassages((passage,), 1, "lexical")


@dataclass(frozen=True, slots=True)
class LimitedConnections:
    """Every connection allows one step at a time, and reaches nothing."""

    http: HttpClient

    async def open(self, origin: Origin, name: str) -> Connection:
        return Connection(name, "webhook", {}, (), self.http, nowhere, id=name, max_concurrent=1)


async def nowhere(host: str, port: int) -> Sequence[str]:
    """Return no address."""
    return ()


class NoConnections:
    """There is no connection."""

    async def open(self, origin: Origin, name: str) -> Connection:
        raise AssertionError(f"step {origin.step_id} opens {name}")


class EveryStarter:
    """Every user may start every flow."""

    async def may_start(self, tenant_id: str, user_id: str | None, flow_id: str, *, without_user: bool) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class FixedServices:
    """`step_services.Services` whose parts are given."""

    components: Components
    definitions: Definitions
    chat_models: ChatModels
    http: HttpClient
    files: RunFiles
    secrets: Secrets
    code: CodeRunners
    isolated: CodeRunners
    mcp: McpServers
    workspaces: Workspaces
    deliveries: Deliveries
    bus: EventSink
    limits: LimitSettings
    engine: EngineSettings
    spaces: Spaces
    sealer: Sealer
    telemetry: Telemetry = field(default_factory=Telemetry)
    capacity: Capacity | None = None
    connections: Connections = field(default_factory=NoConnections)
    approvals: Approvals = field(default_factory=NoApprovals)
    flow_state: FlowState = field(default_factory=NoState)
    knowledge: KnowledgeBases = field(default_factory=NoKnowledge)
    sent_events: SentEvents = field(default_factory=NoSentEvents)
    budgets: Budgets = field(default_factory=NoBudgets)
    failure_handlers: FailureHandlers = field(default_factory=NoFailureHandlers)
    circuits: Circuits | None = None
    slots: Slots = field(default_factory=FreeSlots)
    quotas: Quotas | None = None
    classes: SecurityClasses | None = None
    rules: FlowRules | None = None
    starters: Starters = field(default_factory=EveryStarter)
