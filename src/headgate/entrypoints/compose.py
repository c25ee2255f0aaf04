"""Wires an installation from its settings, for the server and the command line.

The engine is open from the start; every other part is made, and its modules are imported, when it is first used.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING

from headgate.entrypoints.installation import Installation, open_database
from headgate.foundation.database import Database
from headgate.foundation.lazy import lazy_module
from headgate.foundation.log import get_logger
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry import Telemetry

if TYPE_CHECKING:
    from headgate.agents.assistant.generation.workshop import Workshop
    from headgate.agents.assistant.service import Assistant
    from headgate.agents.codev.domains.flowise.domain import FlowiseServers
    from headgate.agents.codev.sessions import expiry
    from headgate.agents.codev.sessions.service import Sessions
    from headgate.entrypoints import assistance, flow_runs, model_asking, services, studios
    from headgate.entrypoints.backups import scheduled
    from headgate.entrypoints.development import ground, opening
    from headgate.features.alerts import evaluation as alert_evaluation
    from headgate.features.alerts import sending as alert_sending
    from headgate.features.catalog.own.check import ComponentChecker
    from headgate.features.connections import manage
    from headgate.features.flows.packs import service as pack_service
    from headgate.features.keyring import rotation
    from headgate.features.knowledge import indexing
    from headgate.features.knowledge.documents import page_pictures, previewing, verifying
    from headgate.features.knowledge.search import service as knowledge_search
    from headgate.features.knowledge_sources import syncing
    from headgate.features.maintenance import service as maintenance
    from headgate.features.mcptools.connector import McpConnector
    from headgate.features.mcptools.registry import McpRegistry
    from headgate.features.processes import heartbeat
    from headgate.features.runs.engine import build
    from headgate.features.runs.engine.backend import ExecutionBackend
    from headgate.features.runs.preview import service as preview
    from headgate.features.slos import counting as slo_counting
    from headgate.features.testing import judging, runner
    from headgate.features.triggers import firing, scheduler, uploads
    from headgate.features.triggers.polling import context as poll_context
    from headgate.features.triggers.polling import poller
    from headgate.foundation.events import EventSink
    from headgate.foundation.guarded_http import GuardedHttp
    from headgate.foundation.telemetry import opening as telemetry_opening
else:
    expiry = lazy_module("headgate.agents.codev.sessions.expiry")
    scheduled = lazy_module("headgate.entrypoints.backups.scheduled")
    assistance = lazy_module("headgate.entrypoints.assistance")
    flow_runs = lazy_module("headgate.entrypoints.flow_runs")
    services = lazy_module("headgate.entrypoints.services")
    studios = lazy_module("headgate.entrypoints.studios")
    ground = lazy_module("headgate.entrypoints.development.ground")
    opening = lazy_module("headgate.entrypoints.development.opening")
    alert_evaluation = lazy_module("headgate.features.alerts.evaluation")
    alert_sending = lazy_module("headgate.features.alerts.sending")
    manage = lazy_module("headgate.features.connections.manage")
    pack_service = lazy_module("headgate.features.flows.packs.service")
    rotation = lazy_module("headgate.features.keyring.rotation")
    maintenance = lazy_module("headgate.features.maintenance.service")
    heartbeat = lazy_module("headgate.features.processes.heartbeat")
    build = lazy_module("headgate.features.runs.engine.build")
    preview = lazy_module("headgate.features.runs.preview.service")
    slo_counting = lazy_module("headgate.features.slos.counting")
    judging = lazy_module("headgate.features.testing.judging")
    runner = lazy_module("headgate.features.testing.runner")
    firing = lazy_module("headgate.features.triggers.firing")
    syncing = lazy_module("headgate.features.knowledge_sources.syncing")
    poll_context = lazy_module("headgate.features.triggers.polling.context")
    poller = lazy_module("headgate.features.triggers.polling.poller")
    uploads = lazy_module("headgate.features.triggers.uploads")
    scheduler = lazy_module("headgate.features.triggers.scheduler")
    telemetry_opening = lazy_module("headgate.foundation.telemetry.opening")

log = get_logger(__name__)
COMMAND = "command"


class Parts(Installation):
    """Everything that an entry point serves.

    Args:
        settings: The settings.
        database: The open, migrated database.
        telemetry: Metrics and traces of this process.
        bus: Bus for the events of runs.
        closing: Closes the parts, the last created first.
        recover: Whether the engine recovers runs of ended processes.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        telemetry: Telemetry,
        bus: "EventSink",
        closing: AsyncExitStack,
        *,
        recover: bool,
    ) -> None:
        super().__init__(settings, database, telemetry)
        self.bus = bus
        self._closing = closing
        self.services = services.StepServices(self, bus, recover=recover)
        self.engine: ExecutionBackend = build.build_engine(settings, database, self.services)

    @property
    def mcp(self) -> "McpConnector":
        """Connects to MCP servers."""
        return self.services.connector

    @property
    def mcp_registry(self) -> "McpRegistry":
        """Searches the operator's registry of MCP servers."""
        return self.services.mcp_registry

    @cached_property
    def connections(self) -> "manage.ConnectionManager":
        """Tests, authorizes and deletes connections."""
        return manage.ConnectionManager(
            self.services.opener,
            lambda principal: self.secret_reads.of(principal, "connection"),
            self.settings.connections.test_seconds,
            self.services.oauth_providers,
            self.services.isolated,
        )

    @property
    def web(self) -> "GuardedHttp":
        """The way to the servers of models."""
        return self.services.web

    @property
    def indexer(self) -> "indexing.Indexer":
        """Indexes documents of knowledge bases."""
        return self.services.indexer

    @property
    def pictures(self) -> "page_pictures.Pictures":
        """Draws pages of documents."""
        return self.services.pictures

    @property
    def searcher(self) -> "knowledge_search.Searcher":
        """Searches knowledge bases as users."""
        return self.services.searcher

    @property
    def asker(self) -> "model_asking.SpaceAsker":
        """Asks chat models outside of runs."""
        return self.services.asker

    @property
    def citations(self) -> "verifying.Verifier":
        """Verifies citations of documents."""
        return self.services.citations

    @property
    def previews(self) -> "previewing.Previewer":
        """Divides documents without storing them."""
        return self.services.previews

    @property
    def checker(self) -> "ComponentChecker":
        """Checks the source of components in the sandbox."""
        return self.services.checker

    @cached_property
    def runs(self) -> "flow_runs.FlowRuns":
        """Runs a flow to its end."""
        return flow_runs.FlowRuns(database=self.database, engine=self.engine)

    @cached_property
    def maintenance(self) -> "maintenance.Maintenance":
        """Retention and other periodic jobs."""
        more = {"codev_sessions": expiry.expiry_of(self.settings)}
        if self.settings.backup.every_hours is not None:
            more |= scheduled.backup_jobs(self.settings)
        return maintenance.Maintenance(self.database, self.storage, self.settings.retention, self.services.jobs, more)

    @cached_property
    def rotation(self) -> "rotation.Rotation":
        """Rotations of the installation's keys."""
        return rotation.Rotation(self.database, self.ring, self.box, self.services.jobs)

    @cached_property
    def packs(self) -> "pack_service.Packs":
        """Installs, upgrades and removes packs."""
        return pack_service.Packs(self.database, self.checker, self.rules, self.registry)

    @cached_property
    def dry_runs(self) -> "preview.DryRuns":
        """dry_runs: Performs dry runs."""
        return preview.DryRuns(self.database, self.services, self.rules, self.checks_of)

    @cached_property
    def tests(self) -> "runner.TestRuns":
        """Runs the tests of flows."""
        judge = judging.Judge(self.database, self.services.asker)
        return runner.TestRuns(self.database, self.engine, self.services.jobs, judge)

    @cached_property
    def firing(self) -> "firing.Firing":
        """firing: Starts the runs of triggers."""
        return firing.Firing(self.database, self.engine, auto_login=self.settings.server.auto_login)

    @cached_property
    def _reading(self) -> "poll_context.Sources":
        """With what triggers poll, and sources of knowledge bases are read."""
        return poll_context.Sources(self.services, self.services.opener, self.secret_reads, self.workspace)

    @cached_property
    def poller(self) -> "poller.Poller":
        """poller: Polls the sources of triggers."""
        return poller.Poller(self.firing, self._reading, uploads.UploadStore(self.storage, self.services.quotas))

    @cached_property
    def source_sync(self) -> "syncing.SourceSync":
        """Synchronises the sources of knowledge bases; registers its jobs."""
        services = self.services
        return syncing.SourceSync(
            self.database,
            uploads.UploadStore(self.storage, services.quotas),
            services.indexer,
            services.jobs,
            sources=self._reading,
            auto_login=self.settings.server.auto_login,
        )

    @cached_property
    def alert_sender(self) -> "alert_sending.AlertSender":
        """Sends notices of alerts; registers its jobs."""
        services = self.services
        attempts = alert_sending.Attempts(
            self.database,
            self.box,
            services.web,
            services.opener,
            services.isolated,
            self.variables_of,
            self.secret_reads,
            self.settings.server.public_url,
        )
        return alert_sending.AlertSender(attempts, services.jobs)

    @cached_property
    def _alerts(self) -> "alert_evaluation.Evaluator":
        return alert_evaluation.Evaluator(self.database, self.services.jobs)

    @cached_property
    def _slos(self) -> "slo_counting.SloCounter":
        return slo_counting.SloCounter(self.database, self.services.jobs)

    @cached_property
    def _scheduler(self) -> "scheduler.Scheduler":
        made = scheduler.Scheduler(self.firing, self.services.jobs, self.poller)
        self._closing.push_async_callback(made.listener.close)
        return made

    @cached_property
    def _assistance(self) -> "assistance.Assistance":
        made = assistance.assistance_of(
            self.settings, self.services, self.runs, self.index, self.telemetry, partial(studios.stored_of, self)
        )
        self._closing.push_async_callback(made.assistant.conversations.close)
        return made

    @property
    def assistant(self) -> "Assistant":
        """The chat assistant."""
        return self._assistance.assistant

    @property
    def workshop(self) -> "Workshop":
        """workshop: Checks and stores custom components."""
        return self._assistance.workshop

    @cached_property
    def flowise(self) -> "FlowiseServers":
        """The Flowise servers that the development agent may work on."""
        return opening.flowise_servers(self.settings, self.database, self)

    @cached_property
    def _development(self) -> "opening.Development":
        base = ground.Ground(
            self.settings,
            self.services,
            self.runs,
            self.index,
            self.engine,
            self.rules,
            self._assistance,
            self.flowise,
        )
        made = opening.Development(base)
        self._closing.push_async_callback(made.close)
        return made

    @property
    def codev(self) -> "Sessions":
        """The sessions of the development agent."""
        return self._development.sessions

    @property
    def heartbeat(self) -> "heartbeat.Heartbeat":
        """The heartbeat of this process as a server, which can be drained."""
        jobs, engine = self.services.jobs, self.engine

        def apply(drain: "heartbeat.Drain") -> None:
            jobs.leases.draining = drain.draining
            engine.drain(draining=drain.draining, handing_over=drain.handing_over)

        def work() -> dict[str, int]:
            return {"runs": engine.working, **jobs.working}

        return heartbeat.Heartbeat(self.database, "server", jobs.leases.worker.id, work=work, apply=apply)

    def recover(self) -> None:
        """Start the background work of a server: periodic jobs, and the recovery of work of ended processes.

        Each registers its jobs when it is made. What cannot be started is logged.
        """
        begins: dict[str, Callable[[], object]] = {
            "deliveries": lambda: self.services.deliveries,
            "notices": lambda: self.services.notices,
            "components": self.registry.templates,  # imports them, and logs what is wrong with installed ones
            "maintenance": lambda: self.maintenance,
            "keys": lambda: self.rotation,
            "tests": lambda: self.tests,
            "triggers": lambda: self._scheduler,
            "service levels": lambda: self._slos,
            "alerts": lambda: self._alerts,
            "notices of alerts": lambda: self.alert_sender,
            "knowledge": lambda: self.services.indexer,
            "knowledge sources": lambda: self.source_sync,
            "development sessions": lambda: self._development,
        }
        for name, begin in begins.items():
            try:
                begin()
            except Exception:
                log.exception("background jobs not started", work=name)


@asynccontextmanager
async def open_parts(settings: Settings, *, recover: bool = False, role: str = COMMAND) -> AsyncIterator[Parts]:
    """Open the database (migrating it), the engine and the rest; close them in the opposite order.

    Args:
        settings: The settings in force.
        recover: Whether the engine recovers runs that were queued or running when their process ended. The server
            does; a command does not.
        role: What this process is, in traces; all but commands count what they do for Prometheus.
    """
    async with (
        telemetry_opening.telemetry_of(settings, role, counts=role != COMMAND) as telemetry,
        open_database(settings) as database,
        build.open_events(settings) as bus,
        AsyncExitStack() as closing,
    ):
        database.bus = bus
        parts = Parts(settings, database, telemetry, bus, closing, recover=recover)
        await parts.load_keys()
        closing.push_async_callback(parts.services.close)
        await parts.engine.open()
        closing.push_async_callback(parts.engine.close)
        async with parts.services.jobs.running(), parts.heartbeat.running() if recover else nullcontext():
            yield parts
