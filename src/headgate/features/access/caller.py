"""Who calls a route, and the permission that the route declares."""

from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from headgate.features.access.permissions import Permission, is_of_space
from headgate.features.access.principal import Again, Principal


class Identity(Protocol):
    """Finds out who sent a request."""

    async def identify(self, request: Request) -> Principal:
        """The caller. Raises `Unauthenticated` when nobody can be told from the request."""
        ...

    async def again(self, request: Request) -> Principal:
        """The caller as things are now, of a request whose answer goes on. Raises `Unauthenticated`."""
        ...


async def _principal(request: Request) -> Principal:
    found: Principal | None = getattr(request.state, "principal", None)
    if found is None:
        identity: Identity = request.app.state.identity
        found = await identity.identify(request)
        request.state.principal = found
        request.state.identified = True
    return found


Caller = Annotated[Principal, Depends(_principal)]


async def _again(request: Request, caller: Caller) -> Again:
    async def again() -> Principal:
        if not getattr(request.state, "identified", False):
            return caller  # a test said who calls
        identity: Identity = request.app.state.identity
        return await identity.again(request)

    return again


CallerAgain = Annotated[Again, Depends(_again)]
"""For an answer that goes on: asks who the caller is, and what they may do, as things are then."""


@dataclass(frozen=True)
class Needs:
    """A route's permission. One of a space is checked by the service too, which knows the space."""

    permission: Permission

    async def __call__(self, caller: Caller) -> None:
        """Refuse who cannot have the permission at all."""
        if is_of_space(self.permission):
            caller.require_scope(self.permission)
        else:
            caller.require(self.permission)


@dataclass(frozen=True)
class Public:
    """A route for people who have not signed in."""

    reason: str

    async def __call__(self) -> None:
        """Let everybody in."""


def needs(permission: Permission) -> Any:  # noqa: ANN401 - FastAPI's own type is private
    """For a route's `dependencies`: who calls it needs this permission."""
    return Depends(Needs(permission))


def public(reason: str) -> Any:  # noqa: ANN401 - FastAPI's own type is private
    """For a route's `dependencies`: everybody may call it, and why that does no harm."""
    return Depends(Public(reason))


def declared(route: APIRoute) -> Needs | Public | None:
    """What a route declares; None when it declares nothing, which no route may."""
    found = [one.dependency for one in route.dependencies if isinstance(one.dependency, Needs | Public)]
    return found[0] if len(found) == 1 else None
