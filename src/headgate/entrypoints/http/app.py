"""The application factory."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv4Network, IPv6Network

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from headgate.entrypoints.access_control import is_locked, open_access_control
from headgate.entrypoints.compose import Parts, open_parts
from headgate.entrypoints.http.answering import REQUEST_ID, Answering
from headgate.entrypoints.http.declarations import refuse_undeclared
from headgate.entrypoints.http.documented import documented_app
from headgate.entrypoints.http.errors import install
from headgate.entrypoints.http.guards import Guards
from headgate.entrypoints.http.health import router as health_router
from headgate.entrypoints.http.lazy_routes import LazyRouter, included, warm_routes
from headgate.entrypoints.http.loop_lag import LoopLag
from headgate.entrypoints.http.measuring import Measuring
from headgate.entrypoints.http.state import Served, ServedState
from headgate.foundation.settings import ServerSettings, Settings

API = "/api/v1"
ROUTES: Sequence[BaseRoute] = (
    included(health_router),
    LazyRouter(
        "headgate.entrypoints.http.studio.routes",
        *(
            "",
            "templates",
            "chat",
            "runs",
            "triggers",
            "inbox",
            "knowledge",
            "develop",
            "observe",
            "alerts",
            "queue",
            "service-levels",
            "design",
            "settings",
            "flows",
            "review",
            "set-password",
            "sign-in",
        ),
        *("assets", "icon.svg", "appearance.js"),
    ),
    LazyRouter("headgate.entrypoints.mcp.routes", "mcp"),
    LazyRouter("headgate.features.runs.completions.routes", "v1"),
    LazyRouter("headgate.entrypoints.http.widget.routes", "widget.js", "w", "forms"),
    LazyRouter("headgate.features.runs.widget.routes", "w"),
    LazyRouter("headgate.features.triggers.hooks.routes", "hooks"),
    LazyRouter("headgate.features.triggers.hooks.event_routes", "events", prefix=API),
    LazyRouter("headgate.features.triggers.forms.routes", "forms"),
    LazyRouter("headgate.features.runs.routes", "flows", "flow-runs", "evidence-keys", prefix=API),
    LazyRouter("headgate.features.accounts.me.routes", "me", prefix=API),
    LazyRouter("headgate.agents.assistant.routes", "agentic", prefix=API),
    LazyRouter("headgate.features.audit.routes", "audit", prefix=API),
    LazyRouter("headgate.features.catalog.routes", "components", "templates", prefix=API),
    LazyRouter("headgate.agents.assistant.sessions.routes", "agentic", prefix=API),
    LazyRouter("headgate.agents.assistant.generation.routes", "agentic", prefix=API),
    LazyRouter("headgate.features.runs.deliveries.routes", "flow-runs", "deliveries", prefix=API),
    LazyRouter("headgate.features.runs.approvals.routes", "approvals", prefix=API),
    LazyRouter("headgate.features.runs.approvals.review_routes", "reviews", prefix=API),
    LazyRouter("headgate.features.runs.sent_events.routes", "events", prefix=API),
    LazyRouter("headgate.features.triggers.routes", "triggers", "flows", prefix=API),
    LazyRouter("headgate.features.maintenance.routes", "maintenance", prefix=API),
    LazyRouter("headgate.features.processes.routes", "processes", prefix=API),
    LazyRouter("headgate.features.runs.queue.routes", "queue", "flow-runs", prefix=API),
    LazyRouter("headgate.features.keyring.routes", "keyring", prefix=API),
    LazyRouter("headgate.features.flows.packs.routes", "packs", prefix=API),
    LazyRouter("headgate.agents.codev.sessions.routes", "codev", prefix=API),
    LazyRouter("headgate.agents.codev.instances.routes", "codev", prefix=API),
    LazyRouter("headgate.features.files.routes", "files", "artifacts", prefix=API),
    LazyRouter("headgate.features.runs.listing.routes", "flows", prefix=API),
    LazyRouter("headgate.features.runs.preview.routes", "flows", prefix=API),
    LazyRouter("headgate.features.flows.routes", "flows", prefix=API),
    LazyRouter("headgate.features.flows.state.routes", "flows", prefix=API),
    LazyRouter("headgate.features.flows.composition_routes", "flows", prefix=API),
    LazyRouter("headgate.features.flows.comments.routes", "flows", prefix=API),
    LazyRouter("headgate.features.flows.organization.routes", "flows", "flow-collections", prefix=API),
    LazyRouter("headgate.features.flows.code_routes", "flows", prefix=API),
    LazyRouter("headgate.features.accounts.keys.routes", "api-keys", prefix=API),
    LazyRouter("headgate.features.connections.routes", "connections", prefix=API),
    LazyRouter("headgate.features.connections.apis.routes", "connections", prefix=API),
    LazyRouter("headgate.features.flows.connection_uses", "connections", prefix=API),
    LazyRouter("headgate.features.knowledge.routes", "knowledge-bases", prefix=API),
    LazyRouter("headgate.features.knowledge.evaluation.routes", "knowledge-bases", prefix=API),
    LazyRouter("headgate.features.knowledge_sources.routes", "knowledge-bases", prefix=API),
    LazyRouter("headgate.features.mcptools.routes", "mcp-servers", prefix=API),
    LazyRouter("headgate.features.mcptools.registry_routes", "mcp-registry", prefix=API),
    LazyRouter("headgate.features.models.routes", "providers", "models", "model-classes", prefix=API),
    LazyRouter(
        "headgate.features.models.setup.routes",
        *("model-servers", "model-facts", "model-roles", "local-models"),
        prefix=API,
    ),
    LazyRouter("headgate.features.catalog.own.routes", "components", prefix=API),
    LazyRouter("headgate.agents.codev.patterns.routes", "codev", prefix=API),
    LazyRouter("headgate.features.runs.report.routes", "flows", "flow-runs", prefix=API),
    LazyRouter("headgate.features.runs.failure_handlers.routes", "flow-runs", prefix=API),
    LazyRouter("headgate.features.runs.limits.routes", "flows", "flow-runs", prefix=API),
    LazyRouter("headgate.features.runs.circuits.routes", "circuits", prefix=API),
    LazyRouter("headgate.features.runs.quotas.routes", "quotas", prefix=API),
    LazyRouter("headgate.features.runs.chat.routes", "chat", prefix=API),
    LazyRouter("headgate.features.runs.reruns.routes", "flow-runs", prefix=API),
    LazyRouter("headgate.features.secrets.routes", "variables", "organisation", prefix=API),
    LazyRouter("headgate.features.runs.secret_reads.routes", "variable-uses", prefix=API),
    LazyRouter("headgate.features.runs.statistics.routes", "run-statistics", prefix=API),
    LazyRouter("headgate.features.attention.routes", "attention", prefix=API),
    LazyRouter("headgate.features.accounts.saved_views.routes", "saved-views", prefix=API),
    LazyRouter("headgate.features.alerts.routes", "alert-rules", "alerts", "alert-notices", prefix=API),
    LazyRouter("headgate.features.slos.routes", "slos", "flows", prefix=API),
    LazyRouter("headgate.features.testing.routes", "flows", prefix=API),
    LazyRouter("headgate.features.workspace.routes", "workspace", prefix=API),
    LazyRouter("headgate.features.accounts.sessions.routes", "sign-in", "sign-out", "password-links", "me", prefix=API),
    LazyRouter("headgate.features.assistants.routes", "assistants", prefix=API),
    LazyRouter("headgate.features.accounts.single_sign_on.routes", "sign-in", "users", prefix=API),
    LazyRouter("headgate.features.accounts.passkeys.routes", "me", "sign-in", prefix=API),
    LazyRouter("headgate.features.accounts.second_factor.routes", "me", "users", "sign-in-policy", prefix=API),
    LazyRouter("headgate.features.accounts.spaces.routes", "spaces", prefix=API),
    LazyRouter("headgate.features.accounts.users.routes", "users", prefix=API),
    LazyRouter("headgate.features.accounts.directory.routes", "directory", prefix=API),
    LazyRouter("headgate.features.accounts.directory.scim.routes", "scim"),
)
"""In the order in which they are tried: those outside the API first, then what is requested most."""

ALLOWED_HEADERS = (
    *("authorization", "x-api-key", "idempotency-key", "if-none-match", "last-event-id"),
    *("mcp-protocol-version", "mcp-method", "mcp-name"),
)
"""What pages of other sites that were let in may send."""


def create_app(settings: Settings) -> FastAPI:
    """Create the application; its parts are opened when the server starts and closed when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            open_parts(settings, recover=settings.engine.recover_on_start, role="api") as parts,
            open_access_control(parts) as access_control,
        ):
            served = Served(parts)
            app.state = ServedState(parts, served, access_control)
            app.state.locked = await is_locked(settings, parts.database)
            app.state.loop_lag = LoopLag()
            beginning = asyncio.create_task(begin(app, parts, recover=settings.engine.recover_on_start))
            try:
                yield
            finally:
                beginning.cancel()
                await asyncio.wait([beginning])
                app.state.loop_lag.stop()
                await served.close()

    app = documented_app(lifespan=lifespan)
    install(app)
    _wrap(app, settings.server)
    app.router.routes.extend(ROUTES)
    refuse_undeclared(app.routes)
    return app


async def begin(app: FastAPI, parts: Parts, *, recover: bool) -> None:
    """Load what the first requests would wait for, then start background work.

    The event loop is measured from then on: what is loaded blocks it.
    """
    await warm_routes(app)
    if recover:
        parts.recover()
    app.state.loop_lag.start()


def _wrap(app: FastAPI, server: ServerSettings) -> None:
    """Put the middleware around the application, the innermost first."""
    app.add_middleware(Guards, settings=server)
    if server.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=server.cors_origins,
            allow_methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=ALLOWED_HEADERS,
            expose_headers=["etag", "retry-after", "content-disposition", REQUEST_ID.decode()],
        )
    app.add_middleware(Measuring)
    app.add_middleware(Answering, settings=server)
    if server.trusted_proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=_written(server.trusted_proxies))


def _written(networks: Iterable[IPv4Network | IPv6Network]) -> list[str]:
    """Networks as uvicorn reads them; IPv4 also as a socket that takes both kinds shows it."""
    written: list[str] = []
    for network in networks:
        written.append(str(network))
        if isinstance(network, IPv4Network):
            written.append(f"::ffff:{network.network_address}/{network.prefixlen + 96}")
    return written
