"""HTTP route of variable usage."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.secret_reads import service
from headgate.foundation.api import Page, ReadSession, Routes

router = Routes(prefix="/variable-uses", tags=["variables"])


class VariableUse(BaseModel):
    """A flow that reads a variable."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    source: Literal["space", "organisation", "server"] = Field(
        description="Scope of the variable: the flow's space, the organisation, or the server's environment."
    )
    space_id: str = Field(description="The space of the flow.")
    flow_id: str
    flow: str = Field(description="Name of the flow.")
    last_read_at: datetime


@router.get("", "List which flows read which variables", [needs(Permission.VARIABLES_VIEW)])
async def list_(session: ReadSession, caller: Caller) -> Page[VariableUse]:
    """List the flows that read a secret variable in a run that is still stored, latest read first.

    Each first read of a secret by a run is in the audit log too, which retention does not shorten.
    """
    rows = await service.list_uses(session, caller)
    return Page(items=[VariableUse.model_validate(row) for row in rows])
