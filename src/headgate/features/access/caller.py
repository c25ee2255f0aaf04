"""The caller of a route, and the permission that the route declares."""

from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from headgate.features.access.permissions import Permission, is_of_space
from headgate.features.access.principal import Again, Principal


class Identity(Protocol):
    """Authenticates requests."""

    async def identify(self, request: Request) -> Principal:
        """Return the caller. Raises `Unauthenticated` when the request cannot be authenticated."""

    async def again(self, request: Request) -> Principal:
        """Return the caller's current state, for a streaming response. Raises `Unauthenticated`."""


async def _principal(request: Request) -> Principal:
    principal: Principal | None = getattr(request.state, "principal", None)
    if principal is None:
        identity: Identity = request.app.state.identity
        principal = await identity.identify(request)
        request.state.principal = principal
        request.state.identified = True
    return principal


Caller = Annotated[Principal, Depends(_principal)]


async def _again(request: Request, caller: Caller) -> Again:
    async def again() -> Principal:
        if not getattr(request.state, "identified", False):
            return caller  # set by a test
        identity: Identity = request.app.state.identity
        return await identity.again(request)

    return again


CallerAgain = Annotated[Again, Depends(_again)]
"""For streaming responses: returns the caller and the caller's current permissions."""


@dataclass(frozen=True)
class Needs:
    """The permission of a route. The service checks permissions in a space, since it knows the space."""

    permission: Permission

    async def __call__(self, caller: Caller) -> None:
        """Reject callers who cannot have the permission at all."""
        if is_of_space(self.permission):
            caller.require_scope(self.permission)
        else:
            caller.require(self.permission)


@dataclass(frozen=True)
class Public:
    """A route without authentication."""

    reason: str

    async def __call__(self) -> None:
        """Accept every caller."""


def needs(permission: Permission) -> Any:  # noqa: ANN401 - FastAPI's own type is private
    """Return a dependency for a route that requires this permission."""
    return Depends(Needs(permission))


def public(reason: str) -> Any:  # noqa: ANN401 - FastAPI's own type is private
    """Return a dependency for a public route, with the reason why it is safe."""
    return Depends(Public(reason))


def declared(route: APIRoute) -> Needs | Public | None:
    """Return the declaration of a route; None when it declares nothing, which is not allowed."""
    declarations = [
        dependency.dependency for dependency in route.dependencies if isinstance(dependency.dependency, Needs | Public)
    ]
    return declarations[0] if len(declarations) == 1 else None
