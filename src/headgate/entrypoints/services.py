"""The services of steps, for the server, the command line and every worker child."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from headgate.entrypoints.installation import Installation
from headgate.features.jobs.leases import Leases
from headgate.features.jobs.runner import JobRunner
from headgate.features.jobs.worker import Worker
from headgate.features.runs.capacity import Capacity
from headgate.features.runs.definitions import VersionContents
from headgate.features.runs.spaces import FlowSpaces
from headgate.foundation.errors import NotFound
from headgate.foundation.events import EventSink
from headgate.foundation.fair_queue import Path
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import EngineSettings, LimitSettings, Settings
from headgate.foundation.telemetry import Telemetry

if TYPE_CHECKING:
    from headgate.entrypoints import adapters, embedding, model_asking, starter_workspaces, traced
    from headgate.features.access.principal import Principal
    from headgate.features.catalog.own import check
    from headgate.features.catalog.registry import Registry
    from headgate.features.connections import http as connection_http
    from headgate.features.connections import opening
    from headgate.features.connections.oauth import tokens as oauth_tokens
    from headgate.features.connections.outside import values as outside_values
    from headgate.features.files import run_files
    from headgate.features.flows.rules import FlowRules
    from headgate.features.knowledge import indexing
    from headgate.features.knowledge.documents import flow_documents, page_pictures, previewing, verifying
    from headgate.features.knowledge.search import service as knowledge_search
    from headgate.features.mcptools import connector as mcp_connector
    from headgate.features.mcptools import programs as mcp_programs
    from headgate.features.mcptools import registry as mcp_registry
    from headgate.features.models.classes import ModelClasses
    from headgate.features.runs import starters, step_knowledge, step_state
    from headgate.features.runs.approvals import asking, notices, posting
    from headgate.features.runs.budgets import service as budgets
    from headgate.features.runs.circuits import service as circuits
    from headgate.features.runs.deliveries import attempt, delivery_sender
    from headgate.features.runs.failure_handlers import service as failure_handlers
    from headgate.features.runs.ports.origin import Origin
    from headgate.features.runs.ports.services import ChatModels
    from headgate.features.runs.quotas import service as quotas
    from headgate.features.runs.sent_events import of_steps as sent_events
    from headgate.features.runs.slots import service as slots
    from headgate.foundation import guarded_http
    from headgate.foundation.crypto import SecretBox
    from headgate.foundation.guarded_http import outgoing
    from headgate.sandbox import libraries as sandbox_libraries
    from headgate.sandbox import limits as sandbox_limits
    from headgate.sandbox import pool
    from headgate.sandbox.broker import rules as network_rules
else:
    adapters = lazy_module("headgate.entrypoints.adapters")
    starter_workspaces = lazy_module("headgate.entrypoints.starter_workspaces")
    traced = lazy_module("headgate.entrypoints.traced")
    check = lazy_module("headgate.features.catalog.own.check")
    opening = lazy_module("headgate.features.connections.opening")
    outside_values = lazy_module("headgate.features.connections.outside.values")
    oauth_tokens = lazy_module("headgate.features.connections.oauth.tokens")
    run_files = lazy_module("headgate.features.files.run_files")
    embedding = lazy_module("headgate.entrypoints.embedding")
    model_asking = lazy_module("headgate.entrypoints.model_asking")
    flow_documents = lazy_module("headgate.features.knowledge.documents.flow_documents")
    knowledge_search = lazy_module("headgate.features.knowledge.search.service")
    indexing = lazy_module("headgate.features.knowledge.indexing")
    previewing = lazy_module("headgate.features.knowledge.documents.previewing")
    page_pictures = lazy_module("headgate.features.knowledge.documents.page_pictures")
    verifying = lazy_module("headgate.features.knowledge.documents.verifying")
    mcp_connector = lazy_module("headgate.features.mcptools.connector")
    mcp_programs = lazy_module("headgate.features.mcptools.programs")
    mcp_registry = lazy_module("headgate.features.mcptools.registry")
    starters = lazy_module("headgate.features.runs.starters")
    step_knowledge = lazy_module("headgate.features.runs.step_knowledge")
    step_state = lazy_module("headgate.features.runs.step_state")
    asking = lazy_module("headgate.features.runs.approvals.asking")
    budgets = lazy_module("headgate.features.runs.budgets.service")
    notices = lazy_module("headgate.features.runs.approvals.notices")
    posting = lazy_module("headgate.features.runs.approvals.posting")
    circuits = lazy_module("headgate.features.runs.circuits.service")
    attempt = lazy_module("headgate.features.runs.deliveries.attempt")
    delivery_sender = lazy_module("headgate.features.runs.deliveries.delivery_sender")
    failure_handlers = lazy_module("headgate.features.runs.failure_handlers.service")
    quotas = lazy_module("headgate.features.runs.quotas.service")
    slots = lazy_module("headgate.features.runs.slots.service")
    sent_events = lazy_module("headgate.features.runs.sent_events.of_steps")
    guarded_http = lazy_module("headgate.foundation.guarded_http")
    outgoing = lazy_module("headgate.foundation.guarded_http.outgoing")
    sandbox_libraries = lazy_module("headgate.sandbox.libraries")
    sandbox_limits = lazy_module("headgate.sandbox.limits")
    pool = lazy_module("headgate.sandbox.pool")
    network_rules = lazy_module("headgate.sandbox.broker.rules")


class StepServices:
    """The services of steps (`step_services.Services`). Each part is created, and its modules imported, on first use.

    Args:
        installation: Settings, the migrated database and the parts that read it; it stays the caller's.
        bus: Bus for the events of runs.
        recover: Whether the engine recovers runs of ended processes.
        scans: Whether jobs that other processes made due run here; None: where runs are recovered.
    """

    def __init__(
        self, installation: Installation, bus: EventSink, *, recover: bool = False, scans: bool | None = None
    ) -> None:
        settings, database = installation.settings, installation.database
        self.installation = installation
        self.bus = bus
        self.engine: EngineSettings = settings.engine.model_copy(update={"recover_on_start": recover})
        self.limits: LimitSettings = settings.limits
        self.telemetry: Telemetry = installation.telemetry
        self.definitions = VersionContents(database)
        self.spaces = FlowSpaces(database)
        self.capacity = Capacity(settings.engine, settings.data_dir, connection_wait=lambda: database.wait_seconds)
        self.jobs = JobRunner(database, _leases(settings), scans=recover if scans is None else scans)

    @cached_property
    def starters(self) -> "starters.RunStarters":
        """Users who start runs."""
        return starters.RunStarters(self.installation.database)

    @property
    def components(self) -> "Registry":
        """Component classes."""
        return self.installation.registry

    @property
    def sealer(self) -> "SecretBox":
        """Encrypts what is stored."""
        return self.installation.box

    @property
    def rules(self) -> "FlowRules":
        """The readiness check."""
        return self.installation.rules

    @property
    def classes(self) -> "ModelClasses | None":
        """Classifications of models; None where they are switched off."""
        return self.installation.classes if self.installation.classes.enabled else None

    @cached_property
    def web(self) -> "guarded_http.GuardedHttp":
        """The guarded HTTP client, without traces: the way to the servers of models."""
        settings = self.installation.settings
        return guarded_http.GuardedHttp(settings.http, settings.outgoing, slots=_slots(settings))

    @cached_property
    def http(self) -> "connection_http.GuardedClient":
        """The guarded HTTP client."""
        return traced.traced_http(self.web, self.telemetry)

    @cached_property
    def chat_models(self) -> "ChatModels":
        """Chat models with the keys of a flow's space."""
        base = self.installation
        return traced.traced_models(adapters.StepModels(self._variables, base.local_models, self.web), self.telemetry)

    @cached_property
    def files(self) -> "run_files.RunFiles":
        """Uploaded files and artifacts."""
        return run_files.RunFiles(
            self.installation.database,
            self.installation.storage,
            self.spaces,
            self.installation.settings.limits,
            lambda: self.quotas,
        )

    @cached_property
    def secrets(self) -> "adapters.StepSecrets":
        """Variables of a flow's space."""
        return adapters.StepSecrets(self._variables, lambda: self.connections)

    @cached_property
    def connections(self) -> "adapters.StepConnections":
        """Connections."""
        return adapters.StepConnections(self.opener, self._variables)

    @cached_property
    def opener(self) -> "opening.Connections":
        """Opens connections of any tenant."""
        base = self.installation
        settings = base.settings.connections
        outside = outside_values.OutsideValues(settings, self._vault)
        return opening.Connections(
            base.database,
            base.box,
            self.http,
            self.web.addresses,
            outside,
            self.tokens,
            self.web.local_proxy,
            settings.folders,
        )

    @cached_property
    def tokens(self) -> "oauth_tokens.ConnectionTokens":
        """Access tokens of connections."""
        return oauth_tokens.ConnectionTokens(self.installation.database, self.installation.box, self.oauth_providers)

    @cached_property
    def oauth_providers(self) -> "guarded_http.GuardedHttp":
        """The way to OAuth providers: a redirect would carry the client secret to another server."""
        return self._client(outgoing.OAUTH)

    @cached_property
    def _vault(self) -> "guarded_http.GuardedHttp":
        """The way to the operator's vault."""
        return self._client(outgoing.VAULT)

    @cached_property
    def _registry(self) -> "guarded_http.GuardedHttp":
        """The way to the operator's MCP registry."""
        return self._client(outgoing.MCP_REGISTRY)

    def _client(self, row: "outgoing.Outgoing") -> "guarded_http.GuardedHttp":
        settings = self.installation.settings
        return guarded_http.GuardedHttp(row.limits(settings.http), settings.outgoing)

    @cached_property
    def _variables(self) -> "adapters.StepVariables":
        return adapters.StepVariables(self.installation.database, self.installation.variables_of, self.spaces)

    @cached_property
    def budgets(self) -> "budgets.Budgets":
        """Budgets of runs and of flows per day."""
        return budgets.Budgets(self.installation.database, adapters.StepModelFacts(self._variables))

    @cached_property
    def slots(self) -> "slots.Slots":
        """Limits of what runs at the same time."""
        return slots.Slots(self.installation.database, adapters.StepModelFacts(self._variables))

    @cached_property
    def failure_handlers(self) -> "failure_handlers.FailureHandlers":
        """Flows that handle the failures of runs."""
        base = self.installation
        return failure_handlers.FailureHandlers(base.database, base.settings.server.public_url)

    @cached_property
    def circuits(self) -> "circuits.Circuits":
        """Circuit breakers of hosts."""
        return circuits.Circuits(self.installation.database, self.installation.settings.http)

    @cached_property
    def quotas(self) -> "quotas.Quotas":
        """Limits of starts."""
        return quotas.Quotas(self.installation.database, self.installation.settings.quotas)

    @cached_property
    def code(self) -> "pool.SandboxPool":
        """The sandbox."""
        settings = self.installation.settings
        return pool.SandboxPool(
            limits=_limits(settings),
            insecure=settings.sandbox.insecure,
            network=_network(settings),
            most=_most_places(settings),
        )

    @cached_property
    def isolated(self) -> "pool.SandboxPool":
        """Processes in which Headgate's own code works on content from outside.

        Without all layers of isolation their limits are what remains.
        """
        limits, size = sandbox_limits.ISOLATED_LIMITS, sandbox_limits.ISOLATED_SIZE
        return pool.SandboxPool(
            limits=limits,
            size=size,
            insecure=True,
            scan=False,
            hosts=sandbox_libraries.ISOLATED,
            most=_most_places(self.installation.settings),
        )

    @cached_property
    def checker(self) -> "check.ComponentChecker":
        """Checks the source of components in the sandbox."""
        return check.ComponentChecker(self.code, self.components)

    @cached_property
    def connector(self) -> "mcp_connector.McpConnector":
        """Connects to MCP servers."""
        base = self.installation
        return mcp_connector.McpConnector(
            base.database,
            base.box,
            self._mcp_reader,
            self.web,
            base.settings.mcp,
            mcp_programs.ProgramRules.of(base.settings),
        )

    @property
    def mcp_registry(self) -> "mcp_registry.McpRegistry":
        """The operator's MCP registry."""
        return mcp_registry.McpRegistry(self.installation.settings.mcp, self._registry)

    @cached_property
    def mcp(self) -> "adapters.SpaceServers":
        """MCP servers of the space of a run's flow."""
        return adapters.SpaceServers(self.connector, self._variables, self.connections)

    def _mcp_reader(self, principal: "Principal") -> "mcp_connector.Reader":
        """Return what a user may send to MCP servers."""

        def opened(name: str) -> "Awaitable[connection_http.ConnectionHttp]":
            opening = self.opener.open(
                tenant_id=principal.tenant_id,
                space_id=principal.space_id,
                user_id=principal.user_id,
                name=name,
                audit=self.installation.secret_reads.of(principal, "mcp"),
            )
            return adapters.http_of(opening)

        return mcp_connector.Reader(adapters.SpaceSecrets(self.installation.keys_of(principal, "mcp")), opened)

    @cached_property
    def workspaces(self) -> "starter_workspaces.StarterWorkspaces":
        """Workspaces of users who start runs."""
        return starter_workspaces.StarterWorkspaces(self.installation.workspace, self.starters)

    @cached_property
    def approvals(self) -> "asking.StepApprovals":
        """Decisions of users."""
        base = self.installation
        return asking.StepApprovals(
            base.database, base.box, self.spaces, self._notice_variable, base.settings.server.public_url
        )

    async def _notice_variable(self, origin: "Origin", name: str) -> str:
        """Return a variable of a space for notices of approvals; empty when it has none."""
        try:
            return (await self.secrets.secret(origin, name)).get_secret_value()
        except NotFound:
            return ""

    @cached_property
    def notices(self) -> "notices.NoticeSender":
        """Sends notices of approvals; registers its jobs."""
        base = self.installation
        sender = attempt.Sender(self.web, self.secrets, self.files)
        public_url = base.settings.server.public_url
        poster = posting.Poster(base.database, base.box, self.connections, self.isolated, self.classes, public_url)
        return notices.NoticeSender(base.database, base.box, sender, poster, self.jobs)

    @cached_property
    def flow_state(self) -> "step_state.FlowState":
        """Values that last between runs of a flow."""
        return step_state.FlowState(self.installation.database, self.installation.box)

    @cached_property
    def knowledge(self) -> "step_knowledge.RunKnowledge":
        """Documents that steps may read and add."""
        base = self.installation
        return step_knowledge.RunKnowledge(
            base.database,
            self.spaces,
            flow_documents.Adding(base.database, base.storage, self.quotas),
            self.indexer.soon,
        )

    @cached_property
    def indexer(self) -> "indexing.Indexer":
        """Indexes documents of knowledge bases; registers its jobs."""
        base = self.installation
        return indexing.Indexer(
            base.database, base.storage, self.isolated, self.jobs, self._embedder, limits=self.quotas
        )

    @cached_property
    def searcher(self) -> "knowledge_search.Searcher":
        """Searches knowledge bases as users."""
        return knowledge_search.Searcher(self.installation.database, self._embedder, self.asker)

    @cached_property
    def asker(self) -> "model_asking.SpaceAsker":
        """Asks chat models outside of runs."""
        return model_asking.SpaceAsker(self.installation, self.web, "evaluation")

    @cached_property
    def _embedder(self) -> "embedding.SpaceEmbedder":
        return embedding.SpaceEmbedder(self.installation, self.web)

    @cached_property
    def citations(self) -> "verifying.Verifier":
        """Verifies citations of documents."""
        return verifying.Verifier(self.installation.database, self.installation.storage, self.isolated)

    @cached_property
    def previews(self) -> "previewing.Previewer":
        """Divides documents without storing them."""
        return previewing.Previewer(self.installation.database, self.installation.storage, self.isolated)

    @cached_property
    def pictures(self) -> "page_pictures.Pictures":
        """Draws pages of documents."""
        return page_pictures.Pictures(self.installation.database, self.installation.storage, self.isolated)

    @cached_property
    def sent_events(self) -> "sent_events.StepSentEvents":
        """Events that steps send and wait for."""
        return sent_events.StepSentEvents(self.installation.database, self.installation.box, self.spaces)

    @cached_property
    def deliveries(self) -> "delivery_sender.DeliverySender":
        """Sends step outputs to web addresses; registers its jobs."""
        base = self.installation
        sender = attempt.Sender(self.web, self.secrets, self.files)
        return delivery_sender.DeliverySender(
            base.database, base.box, sender, self.bus, self.jobs, metrics=self.telemetry.metrics
        )

    async def close(self) -> None:
        """Close the parts that were created."""
        if "code" in vars(self):
            await self.code.aclose()
        if "isolated" in vars(self):
            await self.isolated.aclose()
        for client in ("web", "oauth_providers", "_vault", "_registry"):
            if client in vars(self):
                await vars(self)[client].close()
        if "local_fetches" in vars(self.installation):
            self.installation.local_fetches.close()
        if "local_models" in vars(self.installation):
            self.installation.local_models.close()


@asynccontextmanager
async def open_services(
    installation: Installation, bus: EventSink, *, recover: bool = False, scans: bool | None = None
) -> AsyncIterator[StepServices]:
    """The services of steps; closed at the end. See `StepServices`."""
    services = StepServices(installation, bus, recover=recover, scans=scans)
    try:
        yield services
    finally:
        await services.close()


def _leases(settings: Settings) -> Leases:
    return Leases(Worker(settings.data_dir / "workers"), settings.engine.lease_seconds)


def _network(settings: Settings) -> "network_rules.NetworkRules":
    return network_rules.NetworkRules.of(
        settings.sandbox.hosts, guarded_http.AddressPolicy.of(settings.outgoing, settings.http.allowed_internal_cidrs)
    )


def _most_places(settings: Settings) -> "Callable[[Path], int | None]":
    """Most sandbox processes of a tenant, a space and a user."""
    own = settings.quotas
    levels = {1: own.tenant_sandbox_places, 2: own.space_sandbox_places, 3: own.user_sandbox_places}
    return lambda path: levels[len(path)] or None


def _slots(settings: Settings) -> "guarded_http.RequestSlots":
    """Return the limit of concurrent requests: that of concurrent steps, unless configured."""
    steps = settings.engine.max_concurrent_runs * settings.engine.max_concurrent_steps
    return guarded_http.RequestSlots(settings.http.max_connections or steps, settings.http.max_connections_per_host)


def _limits(settings: Settings) -> "sandbox_limits.Limits":
    seconds = settings.sandbox.timeout_seconds
    memory = settings.sandbox.memory_mb * 1024 * 1024
    return sandbox_limits.Limits(memory_bytes=memory, wall_seconds=seconds, processor_seconds=seconds)
