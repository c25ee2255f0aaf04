"""HTTP routes of Flowise servers."""

from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, Path, Request, Response

from headgate.agents.codev.instances.schemas import FlowiseInstanceIn, FlowiseInstanceOut, InstanceTestOut
from headgate.agents.codev.instances.service import Instance, Instances
from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.foundation.api import Page, WriteSession, problems

router = APIRouter(prefix="/codev/instances", tags=["development agent"])
_VIEW = [needs(Permission.VARIABLES_VIEW)]
_MANAGE = [needs(Permission.VARIABLES_MANAGE)]
InstanceName = Annotated[str, Path(max_length=100)]


class Servers(Protocol):
    """The servers of an installation, and a way to try one."""

    @property
    def instances(self) -> Instances:
        """Those there are."""
        ...

    async def probe(self, instance: Instance) -> InstanceTestOut:
        """What one says. Raises what is wrong."""
        ...


def _servers(request: Request) -> Servers:
    found: Servers = request.app.state.flowise
    return found


TheServers = Annotated[Servers, Depends(_servers)]


@router.get("", summary="List Flowise servers", responses=problems(), dependencies=_VIEW)
async def list_(servers: TheServers, caller: Caller) -> Page[FlowiseInstanceOut]:
    """The servers that sessions may work on, the operator's first. Keys are never given out."""
    return Page(items=await servers.instances.list(caller))


@router.post("", status_code=201, summary="Add a Flowise server", responses=problems(403, 409), dependencies=_MANAGE)
async def add(
    body: FlowiseInstanceIn, session: WriteSession, servers: TheServers, caller: Caller
) -> FlowiseInstanceOut:
    """Keep where a server is, and its key as a variable for that server alone. Nothing is sent to it; test it."""
    return await servers.instances.add(session, caller, body)


@router.delete(
    "/{instance}",
    status_code=204,
    summary="Remove a Flowise server",
    responses=problems(403, 404),
    dependencies=_MANAGE,
)
async def remove(instance: InstanceName, session: WriteSession, servers: TheServers, caller: Caller) -> Response:
    """Forget a server and the key that was given with it. Sessions on it say so when they go on."""
    await servers.instances.remove(session, caller, instance)
    return Response(status_code=204)


@router.post(
    "/{instance}/test",
    summary="Try the connection to a Flowise server",
    responses=problems(403, 404, 502),
    dependencies=_MANAGE,
)
async def test(instance: InstanceName, servers: TheServers, caller: Caller) -> InstanceTestOut:
    """Reach the server and count its components; nothing is kept."""
    return await servers.probe(await servers.instances.find(caller, instance))
