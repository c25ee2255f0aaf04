"""Services of steps as plain values, for tests that replace some."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headgate.features.flows.rules import FlowRules
from headgate.features.knowledge.questions import Question
from headgate.features.runs import ports
from headgate.features.runs.budgets.accounts import Account, BudgetUse, Charge, Kind
from headgate.features.runs.capacity import Capacity
from headgate.features.runs.failure_handlers.values import FailedRun, HandlerLink
from headgate.features.runs.slots.values import SlotUse
from headgate.features.runs.spaces import Spaces
from headgate.foundation.events import EventSink
from headgate.foundation.settings import EngineSettings, LimitSettings
from headgate.foundation.telemetry import Telemetry
from headgate.sdk import HttpClient, Model
from headgate.sdk.approvals import ApprovalAnswer, ApprovalRequest
from headgate.sdk.connections import Connection
from headgate.sdk.knowledge import KnowledgeQuery, Passage
from headgate.sdk.sent_events import EventQuery, OutgoingEvent
from headgate.sdk.state import StateChange


class NoApprovals:
    """Refuses every request for an approval."""

    async def ask(
        self,
        origin: ports.Origin,
        request: ApprovalRequest,
        *,
        scope: str = "",
        classification: int | None = None,
    ) -> ApprovalAnswer | ports.Pending:
        raise AssertionError(f"step {origin.step_id} asks: {request.question}")


class NoState:
    """Refuses to read and write state."""

    async def read(self, origin: ports.Origin, name: str) -> ports.StoredValue:
        raise AssertionError(f"step {origin.step_id} reads {name}")

    async def write(
        self,
        origin: ports.Origin,
        change: StateChange,
        *,
        outside: Sequence[str],
        classification: int | None = None,
    ) -> ports.StoredValue:
        raise AssertionError(f"step {origin.step_id} writes {change.name}")


class NoBudgets:
    """Refuses to charge budgets."""

    async def price(self, origin: ports.Origin, model: Model) -> tuple[float, float] | None:
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

    async def take_flow(self, origin: ports.Origin, most: int, priority: int) -> bool:
        return True

    async def take_key(self, origin: ports.Origin, space_id: str, key: str, most: int, priority: int) -> bool:
        return True

    async def take_model(self, origin: ports.Origin, model: Model, priority: int) -> bool:
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
        origin: ports.Origin,
        event: OutgoingEvent,
        *,
        key: str,
        classification: int | None,
        outside: tuple[str, ...],
    ) -> str:
        raise AssertionError(f"step {origin.step_id} sends: {event.name}")

    async def wait(self, origin: ports.Origin, query: EventQuery) -> ports.EventReceipt | ports.Pending | None:
        raise AssertionError(f"step {origin.step_id} waits: {query.name}")


class NoKnowledge:
    """Refuses to search."""

    async def embedding_model(self, origin: ports.Origin, query: KnowledgeQuery) -> str:
        return ""

    async def search(
        self,
        origin: ports.Origin,
        query: KnowledgeQuery,
        *,
        clearance: int | None,
        question: Question | None = None,
    ) -> ports.FoundPassages:
        raise AssertionError(f"step {origin.step_id} searches {query.base}")


class OnePassage:
    """Every base has one passage, which every question finds."""

    async def embedding_model(self, origin: ports.Origin, query: KnowledgeQuery) -> str:
        return ""

    async def search(
        self,
        origin: ports.Origin,
        query: KnowledgeQuery,
        *,
        clearance: int | None,
        question: Question | None = None,
    ) -> ports.FoundPassages:
        sha256 = "0" * 64
        passage = Passage("It is green.", "", "a.txt", "d", "b", 1, sha256, 0, 0, 12, None, sha256, 1.0)
        return ports.FoundPassages((passage,), 1, "lexical")


class NoConnections:
    """There is no connection."""

    async def open(self, origin: ports.Origin, name: str) -> Connection:
        raise AssertionError(f"step {origin.step_id} opens {name}")


class EveryStarter:
    """Every user may start every flow."""

    async def may_start(self, tenant_id: str, user_id: str | None, flow_id: str, *, without_user: bool) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class FixedServices:
    """`step_services.Services` whose parts are given."""

    components: ports.Components
    definitions: ports.Definitions
    chat_models: ports.ChatModels
    http: HttpClient
    files: ports.RunFiles
    secrets: ports.Secrets
    code: ports.CodeRunners
    isolated: ports.CodeRunners
    mcp: ports.McpServers
    workspaces: ports.Workspaces
    deliveries: ports.Deliveries
    bus: EventSink
    limits: LimitSettings
    engine: EngineSettings
    spaces: Spaces
    sealer: ports.Sealer
    telemetry: Telemetry = field(default_factory=Telemetry)
    capacity: Capacity | None = None
    connections: ports.Connections = field(default_factory=NoConnections)
    approvals: ports.Approvals = field(default_factory=NoApprovals)
    flow_state: ports.FlowState = field(default_factory=NoState)
    knowledge: ports.KnowledgeBases = field(default_factory=NoKnowledge)
    sent_events: ports.SentEvents = field(default_factory=NoSentEvents)
    budgets: ports.Budgets = field(default_factory=NoBudgets)
    failure_handlers: ports.FailureHandlers = field(default_factory=NoFailureHandlers)
    circuits: ports.Circuits | None = None
    slots: ports.Slots = field(default_factory=FreeSlots)
    quotas: ports.Quotas | None = None
    classes: ports.SecurityClasses | None = None
    rules: FlowRules | None = None
    starters: ports.Starters = field(default_factory=EveryStarter)
