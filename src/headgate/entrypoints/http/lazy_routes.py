"""Routers that are imported by the first request for one of their addresses, or after the start, one by one."""

import asyncio
from collections.abc import Iterator
from importlib import import_module
from typing import cast

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Match

from headgate.entrypoints.http.declarations import refuse_undeclared
from headgate.entrypoints.http.wire import Receive, Scope, Send


class LazyRouter(BaseRoute):
    """Takes the place of a router in an application until it is loaded.

    FastAPI makes each route anew for its place when it is first requested and keeps it in the included router, so this
    is shared by all applications of a process.

    Args:
        module: The module that names it `router`.
        segments: The first segments of its paths, after the prefix; a test compares them with the router's.
        prefix: Where it is included.
    """

    def __init__(self, module: str, *segments: str, prefix: str = "") -> None:
        self.module = module
        self.segments = frozenset(segments)
        self.prefix = prefix
        self._included: BaseRoute | None = None

    def load(self) -> BaseRoute:
        """The included router. Raises `Undeclared` when one of its routes does not say who may call it."""
        if self._included is None:
            self._included = included(import_module(self.module).router, self.prefix)
            refuse_undeclared([self._included])
        return self._included

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Load the router when the path may be one of its own, and ask it."""
        path = cast("str", scope["path"])
        if not path.startswith(self.prefix) or path[len(self.prefix) + 1 :].partition("/")[0] not in self.segments:
            return Match.NONE, {}
        found: tuple[Match, Scope] = self.load().matches(scope)
        return found

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the router answer."""
        await self.load().handle(scope, receive, send)


def included(router: APIRouter, prefix: str = "") -> BaseRoute:
    """A router as it stands in an application."""
    holder = APIRouter()
    holder.include_router(router, prefix=prefix)
    (route,) = holder.routes
    return route


def load_routes(app: FastAPI) -> None:
    """Import every router: for documents about all routes, and tests."""
    for _ in _load(app):
        pass


async def warm_routes(app: FastAPI) -> None:
    """Import every router while requests are answered between each two of them."""
    for _ in _load(app):
        await asyncio.sleep(0)


def _load(app: FastAPI) -> Iterator[None]:
    """The loaded router replaces its place, which keeps their order."""
    routes = app.router.routes
    for number, route in enumerate(routes):
        if isinstance(route, LazyRouter):
            routes[number] = route.load()
            yield
