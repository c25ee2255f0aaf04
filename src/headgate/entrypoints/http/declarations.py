"""What every route of the API declares that its caller must be allowed to do."""

from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.routing import APIRoute, RouteContext, iter_route_contexts

from headgate.features.access.caller import Needs, Public, declared
from headgate.foundation.errors import HeadgateError


class Undeclared(HeadgateError):
    """A route does not say who may call it."""

    code = "route_undeclared"


def declarations(app: FastAPI) -> Iterator[tuple[RouteContext, Needs | Public | None]]:
    """Every API route with what it declares; None where it has no declaration, or more than one."""
    for found in iter_route_contexts(app.routes):
        if isinstance(found.original_route, APIRoute):
            yield found, declared(found.original_route)


def undeclared(app: FastAPI) -> list[str]:
    """Method and path of the routes without exactly one declaration."""
    return [
        f"{'/'.join(sorted(route.methods or ()))} {route.path}" for route, found in declarations(app) if found is None
    ]


def refuse_undeclared(app: FastAPI) -> None:
    """Raise `Undeclared` unless every route has exactly one declaration: nothing is served that forgot to ask."""
    missing = undeclared(app)
    if missing:
        raise Undeclared(
            f"Routes without exactly one permission: {', '.join(missing)}.",
            remedy="Give each `dependencies=[needs(Permission.X)]` or `[public('why')]`.",
        )
