"""HTTP routes of circuit breakers."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.circuits import service
from headgate.features.runs.circuits.service import CircuitState
from headgate.foundation.api import Page, ReadSession, Routes, WriteSession

router = Routes(prefix="/circuits", tags=["quotas"])
_MANAGE = [needs(Permission.QUOTAS_MANAGE)]


class CircuitOut(BaseModel):
    """A host, a model server, a model or an MCP server that flows called and that failed."""

    model_config = ConfigDict(from_attributes=True)

    host: str
    """Name and port; of a model `provider/name`, of its server also the provider, of an MCP program `mcp NAME`."""
    state: CircuitState
    """`closed`: it is asked; `open`: it is not; `half_open`: one request tries it again."""
    failures: int
    """Failures in a row."""
    since: datetime
    """First of them."""
    open_until: datetime | None
    last_error: str
    """Code of the last failure, or `http_` and its status."""


@router.get("", "List hosts that fail", _MANAGE)
async def list_(session: ReadSession, caller: Caller) -> Page[CircuitOut]:
    """List the hosts that failed for flows of the organisation and have not answered since."""
    return Page(items=[CircuitOut.model_validate(row) for row in await service.list_circuits(session, caller)])


@router.delete("/{host:path}", "Reset a host", _MANAGE, problems=(404,))
async def reset(host: str, session: WriteSession, caller: Caller) -> None:
    """Let a host be asked again at once; on other servers within a second."""
    await service.reset_circuit(session, caller, host)
