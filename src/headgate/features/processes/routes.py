"""HTTP routes of processes."""

from typing import Annotated

from fastapi import APIRouter, Path

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.processes import service
from headgate.features.processes.schemas import DrainIn, ProcessOut
from headgate.foundation.api import Page, ReadSession, WriteSession, problems

router = APIRouter(prefix="/processes", tags=["maintenance"])
_MANAGE = [needs(Permission.MAINTENANCE_RUN)]
ProcessId = Annotated[str, Path(max_length=64)]


@router.get("", summary="List servers and workers", responses=problems(403), dependencies=_MANAGE)
async def list_(session: ReadSession, caller: Caller) -> Page[ProcessOut]:
    """List the processes of the installation, what each works on, and those that died within seven days."""
    return Page(items=await service.list_processes(session, caller))


@router.put(
    "/{process_id}/drain",
    summary="Drain a server or worker",
    responses=problems(403, 404, 409),
    dependencies=_MANAGE,
)
async def drain(process_id: ProcessId, body: DrainIn, session: WriteSession, caller: Caller) -> ProcessOut:
    """Let it take no new runs, trigger firings and other jobs; it finishes what it has, or hands it over.

    Others continue within a few seconds. Its `/health/ready` responds 503 with `draining`. It is drained until it ends.
    """
    return await service.drain(session, caller, process_id, body)


@router.delete(
    "/{process_id}/drain",
    summary="Let a server or worker take work again",
    responses=problems(403, 404, 409),
    dependencies=_MANAGE,
)
async def undrain(process_id: ProcessId, session: WriteSession, caller: Caller) -> ProcessOut:
    """End its drain mode."""
    return await service.undrain(session, caller, process_id)
