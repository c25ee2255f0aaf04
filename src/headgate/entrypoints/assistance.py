"""Wires the assistant: models, memory, metrics, and the component workshop."""

from dataclasses import dataclass

from headgate.agents.assistant.generation.personal import PersonalComponents
from headgate.agents.assistant.generation.workshop import Workshop
from headgate.agents.assistant.memory.opening import open_conversations
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.models.choice import ModelChooser
from headgate.agents.assistant.service import Assistant, StoredOf
from headgate.entrypoints.flow_runs import FlowRuns
from headgate.entrypoints.services import StepServices
from headgate.features.catalog.search import WordIndex
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class Assistance:
    """The assistant and its services."""

    assistant: Assistant
    workspace: Workspace
    workshop: Workshop


def assistance_of(  # noqa: PLR0917 - the parts of an installation
    settings: Settings,
    services: StepServices,
    runs: FlowRuns,
    index: WordIndex,
    telemetry: Telemetry,
    stored_of: StoredOf | None = None,
) -> Assistance:
    """The assistant of an installation; close its conversations at the end."""
    base, metrics = services.installation, AssistantMetrics(telemetry.metrics)
    workspace = base.workspace
    workshop = Workshop(
        PersonalComponents(runs.database, workspace, base.registry, metrics), services.checker, base.box
    )

    assistant = Assistant(
        database=runs.database,
        registry=base.registry,
        index=index,
        models=ModelChooser(base.assistant_keys, base.local_models, services.web, metrics, services.circuits),
        runs=runs,
        limits=settings.assistant,
        metrics=metrics,
        conversations=open_conversations(settings, runs.database, metrics, base.data_keys),
        workshop=workshop,
        rules=base.rules,
        files_of=workspace.for_agent,
        stored_of=stored_of,
        storage=lambda: base.storage,
    )
    return Assistance(assistant, workspace, workshop)
