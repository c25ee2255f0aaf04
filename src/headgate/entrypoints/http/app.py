"""The application factory."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from ipaddress import IPv4Network, IPv6Network

from fastapi import APIRouter, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from headgate.agents.assistant.routes import router as assistant_router
from headgate.agents.assistant.sessions.routes import router as conversations_router
from headgate.agents.codev.instances.routes import router as instances_router
from headgate.agents.codev.patterns.routes import router as patterns_router
from headgate.agents.codev.sessions.routes import router as development_router
from headgate.entrypoints.compose import open_parts
from headgate.entrypoints.doors import is_locked, open_doors
from headgate.entrypoints.http.answering import REQUEST_ID, Answering
from headgate.entrypoints.http.declarations import refuse_undeclared
from headgate.entrypoints.http.documented import documented_app
from headgate.entrypoints.http.errors import install
from headgate.entrypoints.http.guards import Guards
from headgate.entrypoints.http.health import router as health_router
from headgate.entrypoints.http.loop_lag import LoopLag
from headgate.entrypoints.http.measuring import Measuring
from headgate.entrypoints.http.studio.routes import router as studio_router
from headgate.entrypoints.http.widget.routes import router as widget_pages_router
from headgate.entrypoints.mcp.door import McpDoor
from headgate.entrypoints.mcp.routes import router as mcp_router
from headgate.features.accounts.keys.routes import router as keys_router
from headgate.features.accounts.me.routes import router as me_router
from headgate.features.accounts.sessions.routes import router as sessions_router
from headgate.features.accounts.single_sign_on.routes import router as single_sign_on_router
from headgate.features.accounts.spaces.routes import router as spaces_router
from headgate.features.accounts.users.routes import router as users_router
from headgate.features.assistants.routes import router as shared_assistants_router
from headgate.features.audit.routes import router as audit_router
from headgate.features.catalog.own.routes import router as own_components_router
from headgate.features.catalog.routes import router as catalog_router
from headgate.features.files.routes import router as files_router
from headgate.features.flows.code_routes import router as flow_code_router
from headgate.features.flows.routes import router as flows_router
from headgate.features.maintenance.routes import router as maintenance_router
from headgate.features.mcptools.routes import router as mcptools_router
from headgate.features.models.routes import router as models_router
from headgate.features.runs.completions.routes import router as completions_router
from headgate.features.runs.deliveries.routes import across as all_deliveries_router
from headgate.features.runs.deliveries.routes import router as deliveries_router
from headgate.features.runs.listing.routes import router as flow_list_router
from headgate.features.runs.preview.routes import router as import_reports_router
from headgate.features.runs.report.routes import router as reports_router
from headgate.features.runs.report.service import reports_at_work
from headgate.features.runs.reruns.routes import router as reruns_router
from headgate.features.runs.routes import router as runs_router
from headgate.features.runs.statistics.routes import router as statistics_router
from headgate.features.runs.widget.bounds import OpenAnswers
from headgate.features.runs.widget.routes import router as widgets_router
from headgate.features.secrets.routes import router as secrets_router
from headgate.features.testing.routes import router as tests_router
from headgate.features.workspace.routes import router as workspace_router
from headgate.foundation.settings import ServerSettings, Settings

TOP_ROUTERS = (
    health_router,
    studio_router,
    mcp_router,
    completions_router,
    widget_pages_router,
    widgets_router,
)
"""Those that are not below `/api/v1`; they are tried first."""
ROUTERS = (
    runs_router,
    me_router,
    assistant_router,
    audit_router,
    catalog_router,
    conversations_router,
    deliveries_router,
    all_deliveries_router,
    maintenance_router,
    development_router,
    instances_router,
    files_router,
    flow_list_router,
    import_reports_router,
    flows_router,
    flow_code_router,
    keys_router,
    mcptools_router,
    models_router,
    own_components_router,
    patterns_router,
    reports_router,
    reruns_router,
    secrets_router,
    statistics_router,
    tests_router,
    workspace_router,
    sessions_router,
    shared_assistants_router,
    single_sign_on_router,
    spaces_router,
    users_router,
)
"""In the order in which they are tried: what is asked most stands first."""


ALLOWED_HEADERS = (
    *("authorization", "x-api-key", "idempotency-key", "if-none-match", "last-event-id"),
    *("mcp-protocol-version", "mcp-method", "mcp-name"),
)
"""What pages of other sites that were let in may send."""


def _routes() -> list[BaseRoute]:
    holder = APIRouter()
    for router in TOP_ROUTERS:
        holder.include_router(router)
    for router in ROUTERS:
        holder.include_router(router, prefix="/api/v1")
    return holder.routes


ROUTES = _routes()
"""The routers where they stand in every application. FastAPI makes each route anew for its place when it is first asked
for, and keeps it here: once a process, however many applications there are."""


def create_app(settings: Settings) -> FastAPI:
    """The application with all its parts; they are opened when the server starts and closed when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with (
            open_parts(settings, recover=settings.engine.recover_on_start, role="api") as parts,
            open_doors(settings, parts.database) as doors,
        ):
            for name, part in parts.as_state().items():
                setattr(app.state, name, part)
            app.state.identity, app.state.throttle = doors.identity, doors.throttle
            app.state.sign_in, app.state.single_sign_on = doors.sign_in, doors.single_sign_on
            app.state.widget_answers = OpenAnswers(settings.rate_limits.widget_open)
            app.state.reports_at_work = reports_at_work()
            app.state.locked = await is_locked(settings, parts.database)
            app.state.mcp_door = McpDoor(parts)
            app.state.loop_lag = LoopLag()
            app.state.loop_lag.start()
            yield
            app.state.loop_lag.stop()
            await app.state.mcp_door.close()

    app = documented_app(lifespan=lifespan)
    install(app)
    _wrap(app, settings.server)
    app.router.routes.extend(ROUTES)
    refuse_undeclared(app)
    return app


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
    found: list[str] = []
    for network in networks:
        found.append(str(network))
        if isinstance(network, IPv4Network):
            found.append(f"::ffff:{network.network_address}/{network.prefixlen + 96}")
    return found
