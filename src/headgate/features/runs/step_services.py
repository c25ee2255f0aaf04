"""Everything that a step may use; the entry points provide the adapters."""

from typing import TYPE_CHECKING, Protocol

from headgate.features.runs.capacity import Capacity
from headgate.features.runs.ports.flows import Components, Definitions, Deliveries, Sealer, SecurityClasses, Starters
from headgate.features.runs.ports.limits import Budgets, Circuits, FailureHandlers, Quotas, Slots
from headgate.features.runs.ports.services import ChatModels, CodeRunners, Connections, McpServers, Secrets, Workspaces
from headgate.features.runs.ports.storage import FlowState, KnowledgeBases, RunFiles
from headgate.features.runs.ports.waits import Approvals, SentEvents
from headgate.features.runs.spaces import Spaces
from headgate.foundation.events import EventSink
from headgate.foundation.settings import EngineSettings, LimitSettings
from headgate.foundation.telemetry import Telemetry
from headgate.sdk import HttpClient

if TYPE_CHECKING:  # referenced without importing them
    from headgate.features.flows.rules import FlowRules


class Services(Protocol):
    """Everything a step may use, and its limits. An entry point may create each part when it is first read."""

    @property
    def components(self) -> Components:
        """Component classes."""

    @property
    def definitions(self) -> Definitions:
        """Contents of versions."""

    @property
    def chat_models(self) -> ChatModels:
        """Chat models with the keys of a flow's space."""

    @property
    def http(self) -> HttpClient:
        """The guarded HTTP client."""

    @property
    def files(self) -> RunFiles:
        """Uploaded files and artifacts."""

    @property
    def secrets(self) -> Secrets:
        """Variables of a flow's space."""

    @property
    def connections(self) -> Connections:
        """Connections."""

    @property
    def code(self) -> CodeRunners:
        """The sandbox."""

    @property
    def isolated(self) -> CodeRunners:
        """Processes in which the platform's own functions handle untrusted content."""

    @property
    def mcp(self) -> McpServers:
        """MCP servers."""

    @property
    def workspaces(self) -> Workspaces:
        """Workspaces of users."""

    @property
    def deliveries(self) -> Deliveries:
        """Sends step outputs to web addresses."""

    @property
    def approvals(self) -> Approvals:
        """Decisions of users."""

    @property
    def flow_state(self) -> FlowState:
        """Values that last between runs."""

    @property
    def sent_events(self) -> SentEvents:
        """Events that steps send and wait for."""

    @property
    def knowledge(self) -> KnowledgeBases:
        """Documents that steps may read."""

    @property
    def bus(self) -> EventSink:
        """Bus for the events of runs."""

    @property
    def limits(self) -> LimitSettings:
        """Size limits."""

    @property
    def engine(self) -> EngineSettings:
        """Engine limits."""

    @property
    def spaces(self) -> Spaces:
        """The space of each flow."""

    @property
    def starters(self) -> Starters:
        """Users who start runs."""

    @property
    def sealer(self) -> Sealer:
        """Encrypts stored data."""

    @property
    def telemetry(self) -> Telemetry:
        """Metrics and traces of this process."""

    @property
    def capacity(self) -> Capacity | None:
        """Admission control; None if starts are never refused."""

    @property
    def budgets(self) -> Budgets:
        """Budgets of runs and of flows per day."""

    @property
    def slots(self) -> Slots:
        """Limits of what runs at the same time."""

    @property
    def failure_handlers(self) -> FailureHandlers:
        """Flows that handle the failures of runs."""

    @property
    def circuits(self) -> Circuits | None:
        """Circuit breakers of hosts; None if there are none."""

    @property
    def quotas(self) -> Quotas | None:
        """Limits of starts; None if there are none."""

    @property
    def rules(self) -> "FlowRules | None":
        """Readiness check; None if starts are not checked."""

    @property
    def classes(self) -> SecurityClasses | None:
        """Classifications of models; None if they are disabled."""
