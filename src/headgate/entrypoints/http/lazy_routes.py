"""Routers that are imported by the first request for one of their addresses, or after the start, one by one."""

import asyncio
from collections.abc import Iterator
from importlib import import_module
from typing import cast

from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Match

from headgate.entrypoints.http.declarations import refuse_undeclared
from headgate.entrypoints.http.wire import Receive, Scope, Send
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

log = get_logger(__name__)
PAUSE_SECONDS = 0.005
"""Between two routers loaded in the background: requests that wait are answered then."""


class RouterNotLoaded(HeadgateError):
    """The routes that may answer an address could not be loaded."""

    code = "router_not_loaded"


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
        """The included router.

        Raises what its module raises, and `Undeclared` when one of its routes does not say who may call it. The next
        call then tries again.
        """
        if self._included is None:
            route = included(import_module(self.module).router, self.prefix)
            refuse_undeclared([route])
            self._included = route
        return self._included

    def try_load(self) -> BaseRoute | None:
        """The included router; None when it fails, which is logged."""
        try:
            return self.load()
        except Exception:
            log.exception("router not loaded", router=self.module)
            return None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Load the router when the path may be one of its own, and ask it.

        A router that fails to load matches partially: other routers of the same segment answer what is theirs, and
        only what no other router has reaches `handle`.
        """
        path = cast("str", scope["path"])
        if not path.startswith(self.prefix) or path[len(self.prefix) + 1 :].partition("/")[0] not in self.segments:
            return Match.NONE, {}
        route = self.try_load()
        if route is None:
            return Match.PARTIAL, {}
        found: tuple[Match, Scope] = route.matches(scope)
        return found

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the router answer. Raises `RouterNotLoaded` when it failed to load."""
        if self._included is None:
            raise RouterNotLoaded(
                f"The routes for {scope['path']} could not be loaded; the log of the server names the cause.",
                remedy="Try again. If it fails again, correct the cause that is logged, or report it.",
            )
        await self._included.handle(scope, receive, send)


def included(router: APIRouter, prefix: str = "") -> BaseRoute:
    """A router as it stands in an application."""
    holder = APIRouter()
    holder.include_router(router, prefix=prefix)
    (route,) = holder.routes
    return route


def load_routes(app: FastAPI) -> None:
    """Import every router: for documents about all routes, and tests. Raises what the first that fails raises."""
    for number, lazy in _lazy(app):
        app.router.routes[number] = lazy.load()


async def warm_routes(app: FastAPI) -> None:
    """Import every router while requests are answered between each two of them.

    One that fails is logged and keeps its place: its next request tries again.
    """
    for number, lazy in _lazy(app):
        if (route := lazy.try_load()) is not None:
            app.router.routes[number] = route
        await asyncio.sleep(PAUSE_SECONDS)


def _lazy(app: FastAPI) -> Iterator[tuple[int, LazyRouter]]:
    """The routers still to load, and their places: a loaded one replaces its own, which keeps their order."""
    for number, route in enumerate(tuple(app.router.routes)):
        if isinstance(route, LazyRouter):
            yield number, route
