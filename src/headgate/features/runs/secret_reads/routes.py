"""HTTP route of the uses of variables."""

from datetime import datetime
from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.secret_reads import service
from headgate.foundation.api import Page, ReadSession, problems

router = APIRouter(prefix="/variable-uses", tags=["variables"])


class VariableUse(BaseModel):
    """A flow that read a variable."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    source: Literal["space", "organisation", "server"] = Field(
        description="Whose variable it was: of the flow's space, of the organisation, or of the server's environment."
    )
    space_id: str = Field(description="The space of the flow.")
    flow_id: str
    flow: str = Field(description="Name of the flow.")
    last_read_at: datetime


@router.get(
    "",
    summary="List what flows read which variables",
    responses=problems(),
    dependencies=[needs(Permission.VARIABLES_VIEW)],
)
async def list_(session: ReadSession, caller: Caller) -> Page[VariableUse]:
    """Flows of the spaces you see that read a secret variable in a run that is still stored, the last read first.

    Each first read of a secret by a run is in the audit log too, which retention does not shorten.
    """
    rows = await service.list_uses(session, caller)
    return Page(items=[VariableUse.model_validate(row) for row in rows])
