"""Services of steps as plain values, for tests that replace some."""

from dataclasses import dataclass, field

from headgate.features.flows.rules import FlowRules
from headgate.features.runs import ports
from headgate.features.runs.capacity import Capacity
from headgate.features.runs.spaces import Spaces
from headgate.foundation.events import EventSink
from headgate.foundation.settings import EngineSettings, LimitSettings
from headgate.foundation.telemetry import Telemetry
from headgate.sdk import HttpClient


@dataclass(frozen=True, slots=True)
class FixedServices:
    """`ports.Services` whose parts are given."""

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
    quotas: ports.Quotas | None = None
    classes: ports.SecurityClasses | None = None
    rules: FlowRules | None = None
