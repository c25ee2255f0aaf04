"""Settings in, parts wired: what the server and the command line both stand on."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from typing import Any

from headgate.agents.assistant.generation.workshop import Workshop
from headgate.agents.assistant.service import Assistant
from headgate.agents.codev.domains.flowise.domain import FlowiseServers
from headgate.agents.codev.sessions.expiry import expiry_of
from headgate.agents.codev.sessions.service import Sessions
from headgate.entrypoints.assistance import open_assistance
from headgate.entrypoints.development.ground import Ground
from headgate.entrypoints.development.opening import flowise_servers, open_development
from headgate.entrypoints.flow_runs import FlowRuns
from headgate.entrypoints.services import StepServices, open_services
from headgate.features.access.principal import Principal
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import WordIndex, component_index
from headgate.features.files.storage import Storage
from headgate.features.flows.rules import FlowRules
from headgate.features.maintenance.service import Maintenance
from headgate.features.mcptools.connector import McpConnector
from headgate.features.models.classes import ModelClasses
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import PROVIDER_VARIABLES
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine, open_events
from headgate.features.runs.evidence.service import Notary
from headgate.features.runs.preview.service import DryRuns
from headgate.features.secrets.lookup import Variables
from headgate.features.testing.gate import TestsGate
from headgate.features.testing.runner import TestRuns
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.crypto import EvidenceSeed, SecretBox
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import upgrade
from headgate.foundation.events import EventSink
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry import Telemetry
from headgate.foundation.telemetry.opening import telemetry_of

COMMAND = "command"
_OF_STEPS = ("registry", "checker", "box", "storage", "mcp", "local_models", "classes")
"""Parts that steps stand on too, by their names in `StepServices`."""


@dataclass(frozen=True)
class Parts:
    """Everything an entry point serves, open."""

    settings: Settings
    database: Database
    registry: Registry
    index: WordIndex
    checker: ComponentChecker
    box: SecretBox
    storage: Storage
    bus: EventSink
    mcp: McpConnector
    engine: ExecutionBackend
    local_models: LocalModels
    runs: FlowRuns
    maintenance: Maintenance
    assistant: Assistant
    workspace: Workspace
    workshop: Workshop
    telemetry: Telemetry
    notary: Notary
    classes: ModelClasses
    rules: FlowRules
    dry_runs: DryRuns
    codev: Sessions
    flowise: FlowiseServers
    tests: TestRuns

    def variables_of(self, tenant_id: str) -> Variables:
        """The variables of a tenant."""
        return Variables(self.database, self.box, tenant_id, listed=PROVIDER_VARIABLES)

    def keys_of(self, principal: Principal) -> KeySource:
        """Where the keys of a person's models come from."""
        return self.variables_of(principal.tenant_id)

    def as_state(self) -> dict[str, Any]:
        """The parts by name, for the application's state."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"keys_of": self.keys_of}


@asynccontextmanager
async def open_parts(settings: Settings, *, recover: bool = False, role: str = COMMAND) -> AsyncIterator[Parts]:
    """Open the database (migrating it), the engine and the rest; close them in the opposite order.

    Args:
        settings: What is in force.
        recover: Take up runs that were queued or running when their process ended. The server does; a command does not.
        role: What this process is, in traces; all but commands count what they do for Prometheus.
    """
    database = Database(settings)
    try:
        await upgrade(database)
        async with _engine_and_rest(settings, database, recover=recover, role=role) as parts:
            yield parts
    finally:
        await database.close()


@asynccontextmanager
async def _engine_and_rest(settings: Settings, database: Database, *, recover: bool, role: str) -> AsyncIterator[Parts]:
    async with (
        telemetry_of(settings.telemetry, role, counts=role != COMMAND) as telemetry,
        open_events(settings) as bus,
        open_services(settings, database, bus, recover=recover, telemetry=telemetry) as base,
        _engine(settings, database, base, bus) as engine,
    ):
        runs = FlowRuns(database=database, engine=engine)
        tests = TestRuns(database, engine, base.jobs)
        more = {"codev_sessions": expiry_of(settings)}
        maintenance = Maintenance(database, base.storage, settings.retention, base.jobs, more)
        index = component_index(base.registry)
        rules = FlowRules(base.registry, base.classes, (TestsGate(),))
        flowise = flowise_servers(settings, database, base)
        async with (
            open_assistance(settings, base, runs, index, telemetry) as assistance,
            open_development(
                Ground(settings, base, runs, index, engine, rules, assistance, flowise),
                recover=recover,
                shares=role != COMMAND,
            ) as codev,
            base.jobs.running(),
        ):
            yield Parts(
                settings=settings,
                database=database,
                index=index,
                bus=bus,
                engine=engine,
                runs=runs,
                maintenance=maintenance,
                assistant=assistance.assistant,
                workspace=assistance.workspace,
                workshop=assistance.workshop,
                telemetry=telemetry,
                notary=Notary(base.box, EvidenceSeed(settings)),
                rules=rules,
                dry_runs=DryRuns(database, base.services, rules, base.variables_of, base.local_models),
                tests=tests,
                codev=codev,
                flowise=flowise,
                **{name: getattr(base, name) for name in _OF_STEPS},
            )


@asynccontextmanager
async def _engine(
    settings: Settings, database: Database, base: StepServices, bus: EventSink
) -> AsyncIterator[ExecutionBackend]:
    """The engine, open."""
    database.bus = bus
    engine = build_engine(settings, database, base.services)
    await engine.open()
    try:
        yield engine
    finally:
        await engine.close()
