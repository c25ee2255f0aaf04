"""HTTP routes of Flowise servers."""

from typing import Annotated, Protocol

from fastapi import Path

from headgate.agents.codev.instances.schemas import FlowiseInstanceIn, FlowiseInstanceOut, InstanceTestOut
from headgate.agents.codev.instances.service import Instance, Instances
from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.foundation.api import Page, Routes, WriteSession, part

router = Routes(prefix="/codev/instances", tags=["development agent"])
_VIEW = [needs(Permission.VARIABLES_VIEW)]
_MANAGE = [needs(Permission.VARIABLES_MANAGE)]
InstanceName = Annotated[str, Path(max_length=100)]


class Servers(Protocol):
    """The servers of an installation, and a way to try one."""

    @property
    def instances(self) -> Instances:
        """Return all servers."""

    async def probe(self, instance: Instance) -> InstanceTestOut:
        """Return a server's version. Raises its error."""


TheServers = Annotated[Servers, part("flowise")]


@router.get("", "List Flowise servers", _VIEW)
async def list_(servers: TheServers, caller: Caller) -> Page[FlowiseInstanceOut]:
    """List the servers that sessions may use, the operator's first. Keys are never returned."""
    return Page(items=await servers.instances.list(caller))


@router.post("", "Add a Flowise server", _MANAGE, status_code=201, problems=(403, 409))
async def add(
    body: FlowiseInstanceIn, session: WriteSession, servers: TheServers, caller: Caller
) -> FlowiseInstanceOut:
    """Store the address of a server, and its key as a variable for that server alone.

    Nothing is sent to it; test it.
    """
    return await servers.instances.add(session, caller, body)


@router.delete("/{instance}", "Remove a Flowise server", _MANAGE, problems=(403, 404))
async def remove(instance: InstanceName, session: WriteSession, servers: TheServers, caller: Caller) -> None:
    """Remove a server and its key. Sessions on it report that when they continue."""
    await servers.instances.remove(session, caller, instance)


@router.post("/{instance}/test", "Test the connection to a Flowise server", _MANAGE, problems=(403, 404, 502))
async def test(instance: InstanceName, servers: TheServers, caller: Caller) -> InstanceTestOut:
    """Connect to the server and count its components; nothing is stored."""
    return await servers.probe(await servers.instances.find(caller, instance))
