"""Wires the assistant: its models, what it remembers, what it counts, and where components are made."""

from headgate.agents.assistant.generation.workshop import Workshop
from headgate.agents.assistant.memory.opening import open_conversations
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.models import ModelChooser
from headgate.agents.assistant.service import Assistant
from headgate.agents.assistant.sessions.components import PersonalComponents
from headgate.entrypoints.flow_runs import FlowRuns
from headgate.entrypoints.services import StepServices
from headgate.features.access.principal import Principal
from headgate.features.catalog.search import WordIndex
from headgate.features.models.ports import KeySource
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry import Telemetry


def build_assistant(
    settings: Settings,
    base: StepServices,
    runs: FlowRuns,
    index: WordIndex,
    telemetry: Telemetry,
    *,
    workspace: Workspace,
    workshop: Workshop,
) -> Assistant:
    """The assistant of an installation; close its `conversations` at the end."""
    metrics = AssistantMetrics(telemetry.metrics)

    def keys_of(principal: Principal) -> KeySource:
        return base.variables_of(principal.tenant_id)

    return Assistant(
        database=runs.database,
        registry=base.registry,
        index=index,
        models=ModelChooser(settings.models, keys_of, base.local_models, metrics),
        runs=runs,
        limits=settings.assistant,
        metrics=metrics,
        conversations=open_conversations(settings, metrics),
        workshop=workshop,
        files_of=workspace.for_agent,
    )


def build_workshop(database: Database, base: StepServices, workspace: Workspace, telemetry: Telemetry) -> Workshop:
    """Where the assistant and MCP clients have components made."""
    kept = PersonalComponents(database, workspace, base.registry, AssistantMetrics(telemetry.metrics))
    return Workshop(kept, base.checker)
