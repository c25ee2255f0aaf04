"""Routers that are imported by the first request for one of their paths, or one by one after the start."""

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
"""Pause between two routers loaded in the background, for waiting requests."""


class RouterNotLoaded(HeadgateError):
    """The router of a requested path could not be loaded."""

    code = "router_not_loaded"
    title = "Internal error"


class LazyRouter(BaseRoute):
    """A placeholder for a router in an application until it is loaded.

    All applications of a process share the included router.

    Args:
        module: The module with the attribute `router`.
        segments: The first segments of its paths, after the prefix; a test compares them with the router's.
        prefix: The path prefix of the router.
    """

    def __init__(self, module: str, *segments: str, prefix: str = "") -> None:
        self.module = module
        self.segments = frozenset(segments)
        self.prefix = prefix
        self._included: BaseRoute | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether an application of this process has loaded the router."""
        return self._included is not None

    def load(self) -> BaseRoute:
        """The included router.

        Raises what the import raises, and `Undeclared` when a route does not declare its permission. The next call
        tries again.
        """
        if self._included is None:
            route = included(import_module(self.module).router, self.prefix)
            refuse_undeclared([route])
            self._included = route
        return self._included

    def try_load(self) -> BaseRoute | None:
        """The included router; None when loading fails, which is logged."""
        try:
            return self.load()
        except Exception:
            log.exception("router not loaded", router=self.module)
            return None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Load the router when the path starts with one of its segments, and match its routes.

        A router that fails to load matches partially: other routers with the same segment still answer their paths, and
        only paths that no other router has reach `handle`.
        """
        path = cast("str", scope["path"])
        if not path.startswith(self.prefix) or path[len(self.prefix) + 1 :].partition("/")[0] not in self.segments:
            return Match.NONE, {}
        route = self.try_load()
        if route is None:
            return Match.PARTIAL, {}
        match: tuple[Match, Scope] = route.matches(scope)
        return match

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle the request. Raises `RouterNotLoaded` when the router failed to load."""
        if self._included is None:
            raise RouterNotLoaded(
                f"The routes for {scope['path']} could not be loaded; see the server log for the cause.",
                remedy="Try again. If it fails again, fix the logged cause or report it.",
            )
        await self._included.handle(scope, receive, send)


def included(router: APIRouter, prefix: str = "") -> BaseRoute:
    """A router as an application includes it."""
    holder = APIRouter()
    holder.include_router(router, prefix=prefix)
    (route,) = holder.routes
    return route


def load_routes(app: FastAPI) -> None:
    """Import every router, for documents and tests that need all routes. Raises the first import error."""
    for number, lazy in _lazy(app):
        app.router.routes[number] = lazy.load()


async def warm_routes(app: FastAPI) -> None:
    """Import every router, with a pause for requests after each that was not imported before.

    One that fails is logged and stays lazy: its next request tries again.
    """
    for number, lazy in _lazy(app):
        is_new = not lazy.is_loaded
        if (route := lazy.try_load()) is not None:
            app.router.routes[number] = route
        if is_new:
            await asyncio.sleep(PAUSE_SECONDS)


def _lazy(app: FastAPI) -> Iterator[tuple[int, LazyRouter]]:
    """The routers that are not loaded, with their position: a loaded one replaces its placeholder in order."""
    for number, route in enumerate(tuple(app.router.routes)):
        if isinstance(route, LazyRouter):
            yield number, route
