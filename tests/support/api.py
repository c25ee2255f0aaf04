"""The HTTP API of some slices, in this process: real routes, real errors, no server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from fastapi import APIRouter, FastAPI, Request
from starlette.datastructures import State

from headgate.entrypoints.http.errors import install
from headgate.features.access.principal import LOCAL, Principal


@asynccontextmanager
async def api(
    *routers: APIRouter, principal: Principal = LOCAL, served: State | None = None, **state: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an application with these routers under `/api/v1` and these parts on `app.state`."""
    app = FastAPI()
    app.state = served or State()
    install(app)
    for router in routers:
        app.include_router(router, prefix="/api/v1")
    for name, part in state.items():
        setattr(app.state, name, part)

    @app.middleware("http")
    async def _sign_in(request: Request, call_next: Any) -> Any:
        request.state.principal = principal
        return await call_next(request)

    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test/api/v1") as client:
        yield client
