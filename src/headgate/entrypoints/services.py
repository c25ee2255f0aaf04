"""What steps stand on, wired: the server, the command line and every worker child open this and nothing less."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headgate.entrypoints.adapters import SpaceServers, TenantModels, TenantSecrets, VariablesOf, VersionContents
from headgate.entrypoints.installation import Installation
from headgate.entrypoints.starter_workspaces import StarterWorkspaces
from headgate.entrypoints.traced import measured
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.registry import Registry
from headgate.features.files.run_files import RunFiles
from headgate.features.files.storage import Storage
from headgate.features.jobs.leases import Leases
from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.features.mcptools.connector import McpConnector
from headgate.features.models.classes import ModelClasses
from headgate.features.models.local.models import LocalModels
from headgate.features.runs.capacity import Capacity
from headgate.features.runs.deliveries.attempt import Sender
from headgate.features.runs.deliveries.courier import Courier
from headgate.features.runs.ports import Services
from headgate.features.runs.spaces import FlowSpaces
from headgate.features.runs.starters import RunStarters
from headgate.features.workspace.workspace import Workspace
from headgate.foundation.crypto import SecretBox
from headgate.foundation.events import EventSink
from headgate.foundation.guarded_http import AddressPolicy, GuardedHttp, RequestSlots
from headgate.foundation.settings import Settings
from headgate.sandbox.broker.rules import NetworkRules
from headgate.sandbox.limits import Limits
from headgate.sandbox.pool import SandboxPool


@dataclass(frozen=True)
class StepServices:
    """The services of steps, and the parts behind them that others need too."""

    services: Services
    registry: Registry
    box: SecretBox
    storage: Storage
    local_models: LocalModels
    variables_of: VariablesOf
    jobs: JobRunner
    classes: ModelClasses
    mcp: McpConnector
    checker: ComponentChecker
    workspace: Workspace


@asynccontextmanager
async def open_services(
    installation: Installation, bus: EventSink, *, recover: bool = False, scans: bool | None = None
) -> AsyncIterator[StepServices]:
    """Wire the services of steps; they are closed at the end.

    Args:
        installation: Settings and the migrated database; it stays the caller's.
        bus: Where the runs' events go.
        recover: Whether the engine takes up what an earlier process left.
        scans: Whether jobs that other processes made due run here; None: where runs are recovered.
    """
    settings, database, telemetry = installation.settings, installation.database, installation.telemetry
    registry, classes, storage = installation.registry, installation.classes, installation.storage
    box, local, variables_of = installation.box, installation.local_models, installation.variables_of
    http = GuardedHttp(settings.http, slots=_slots(settings))
    sandbox = SandboxPool(limits=_limits(settings), insecure=settings.sandbox.insecure, network=_network(settings))

    spaces = FlowSpaces(database)
    files = RunFiles(database, storage, spaces, settings.limits)
    secrets = TenantSecrets(variables_of)
    jobs = JobRunner(database, _leases(settings), scans=recover if scans is None else scans)
    courier = Courier(database, box, Sender(http, secrets, files), bus, jobs, metrics=telemetry.metrics)
    mcp = McpConnector(database, box, secrets, http, settings.mcp)
    services = Services(
        components=registry,
        definitions=VersionContents(database),
        chat_models=TenantModels(variables_of, local, http),
        http=http,
        files=files,
        secrets=secrets,
        code=sandbox,
        mcp=SpaceServers(mcp, spaces),
        workspaces=StarterWorkspaces(installation.workspace, RunStarters(database)),
        deliveries=courier,
        bus=bus,
        limits=settings.limits,
        engine=settings.engine.model_copy(update={"recover_on_start": recover}),
        spaces=spaces,
        sealer=box,
        classes=classes if classes.enabled else None,
        capacity=Capacity(settings.engine, settings.data_dir, connection_wait=lambda: database.wait_seconds),
    )
    try:
        checker, shown = ComponentChecker(sandbox, registry), measured(services, telemetry)
        yield StepServices(
            shown, registry, box, storage, local, variables_of, jobs, classes, mcp, checker, installation.workspace
        )
    finally:
        await sandbox.aclose()
        await http.close()
        local.close()


def _leases(settings: Settings) -> Leases:
    return Leases(Worker(settings.data_dir / "workers"), settings.engine.lease_seconds)


def _network(settings: Settings) -> NetworkRules:
    return NetworkRules.of(settings.sandbox.hosts, AddressPolicy(settings.http.allowed_internal_cidrs))


def _slots(settings: Settings) -> RequestSlots:
    """As many requests at once as there may be steps at once, where the operator sets no number."""
    steps = settings.engine.max_concurrent_runs * settings.engine.max_concurrent_steps
    return RequestSlots(settings.http.max_connections or steps, settings.http.max_connections_per_host)


def _limits(settings: Settings) -> Limits:
    seconds = settings.sandbox.timeout_seconds
    memory = settings.sandbox.memory_mb * 1024 * 1024
    return Limits(memory_bytes=memory, wall_seconds=seconds, processor_seconds=seconds)
