"""What every route of the API declares that its caller must be allowed to do."""

from collections.abc import Iterable, Iterator

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts
from starlette.routing import BaseRoute

from headgate.features.access.caller import Needs, Public, declared
from headgate.foundation.errors import HeadgateError


class Undeclared(HeadgateError):
    """A route does not declare its permission."""

    code = "route_undeclared"
    title = "Internal error"


def declarations(app: FastAPI) -> Iterator[tuple[RouteContext, Needs | Public | None]]:
    """Yield every API route with its declaration; None without one, or with several."""
    for context in iter_route_contexts(app.routes):
        if isinstance(context.original_route, APIRoute):
            yield context, declared(context.original_route)


def undeclared(routes: Iterable[BaseRoute]) -> list[str]:
    """Method and path, as their router has it, of the routes without exactly one declaration."""
    return [
        f"{'/'.join(sorted(route.methods or ()))} {route.path}" for route in _written(routes) if declared(route) is None
    ]


def refuse_undeclared(routes: Iterable[BaseRoute]) -> None:
    """Raise `Undeclared` unless every route has exactly one declaration: nothing is served that does not check."""
    missing = undeclared(routes)
    if missing:
        raise Undeclared(
            f"Routes without exactly one permission: {', '.join(missing)}.",
            remedy="Declare `dependencies=[needs(Permission.X)]` or `[public('why')]` on each.",
        )


def _written(routes: Iterable[BaseRoute]) -> Iterator[APIRoute]:
    """The routes as they were written.

    FastAPI makes each again for its place in the application when it is first asked for, which takes milliseconds: to
    look at those here would make the server start a fifth of a second later.
    """
    for route in routes:
        if isinstance(route, APIRoute):
            yield route
        elif isinstance(included := getattr(route, "original_router", None), APIRouter):
            yield from _written(included.routes)
