"""Who is asking, as a dependency of routes. Apart from `principal`, so that workers need no web framework."""

from typing import Annotated

from fastapi import Depends, Request

from headgate.features.accounts.principal import LOCAL, Principal


async def _principal(request: Request) -> Principal:
    found: Principal = getattr(request.state, "principal", LOCAL)
    return found


Caller = Annotated[Principal, Depends(_principal)]
