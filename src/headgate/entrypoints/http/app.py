"""The application factory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline

from headgate import __version__
from headgate.agents.assistant.routes import router as assistant_router
from headgate.entrypoints.compose import open_parts
from headgate.entrypoints.http.errors import install
from headgate.entrypoints.http.guards import Guards
from headgate.entrypoints.http.health import router as health_router
from headgate.entrypoints.http.measuring import Measuring
from headgate.features.accounts.identity import LocalIdentity
from headgate.features.accounts.routes import router as accounts_router
from headgate.features.accounts.spaces.routes import router as spaces_router
from headgate.features.assistants.routes import router as shared_assistants_router
from headgate.features.catalog.routes import router as catalog_router
from headgate.features.files.routes import router as files_router
from headgate.features.flows.routes import router as flows_router
from headgate.features.mcptools.routes import router as mcptools_router
from headgate.features.models.routes import router as models_router
from headgate.features.runs.deliveries.routes import router as deliveries_router
from headgate.features.runs.reruns.routes import router as reruns_router
from headgate.features.runs.routes import router as runs_router
from headgate.features.secrets.routes import router as secrets_router
from headgate.foundation.settings import Settings

ROUTERS = (
    runs_router,
    accounts_router,
    assistant_router,
    catalog_router,
    deliveries_router,
    files_router,
    flows_router,
    mcptools_router,
    models_router,
    reruns_router,
    secrets_router,
    shared_assistants_router,
    spaces_router,
)
"""In the order in which they are tried: what is asked most stands first."""


def create_app(settings: Settings) -> FastAPI:
    """The application with all its parts; they are opened when the server starts and closed when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with open_parts(settings, recover=settings.engine.recover_on_start, role="api") as parts:
            for name, part in parts.as_state().items():
                setattr(app.state, name, part)
            app.state.identity = LocalIdentity()
            yield

    # Its documentation page comes from this machine: the plain one would fetch its scripts from the web.
    app = FastAPIOffline(
        title="Headgate",
        version=__version__,
        description="Self-hosted studio for AI flows. Errors are RFC 9457 problem documents with a stable `code`.",
        lifespan=lifespan,
        openapi_url="/api/v1/openapi.json",
        docs_url="/docs",
        redoc_url=None,
    )
    install(app)
    app.add_middleware(Guards, settings=settings.server)
    app.add_middleware(Measuring)
    app.include_router(health_router)
    for router in ROUTERS:
        app.include_router(router, prefix="/api/v1")
    return app
