"""HTTP route that checks the code of a flow."""

from typing import Annotated

from fastapi import APIRouter, Depends

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.catalog.own.checker import Checker
from headgate.features.flows.own_code import FlowCheckOut, check_flow_code
from headgate.foundation.api import get_database, problems
from headgate.foundation.database import Database

router = APIRouter(prefix="/flows", tags=["flows"])


@router.post(
    "/{flow_id}/components/check",
    summary="Check the code of a flow",
    responses=problems(403, 404, 503),
    dependencies=[needs(Permission.FLOWS_EDIT)],
)
async def check(
    flow_id: str, database: Annotated[Database, Depends(get_database)], checker: Checker, caller: Caller
) -> FlowCheckOut:
    """Check each unchecked code of the draft, for example of an imported flow.

    Opening, importing, validating and publishing a flow never execute its code; this does, in the sandbox.
    """
    return await check_flow_code(database, checker, caller, flow_id)
