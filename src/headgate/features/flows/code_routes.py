"""HTTP route that checks the code of a flow."""

from typing import Annotated

from fastapi import Depends

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.catalog.own.checker import Checker
from headgate.features.flows.own_code import FlowCheckOut, check_flow_code
from headgate.foundation.api import Routes, get_database
from headgate.foundation.database import Database

router = Routes(prefix="/flows", tags=["flows"])


@router.post(
    "/{flow_id}/components/check", "Check the code of a flow", [needs(Permission.FLOWS_EDIT)], problems=(403, 404)
)
async def check(
    flow_id: str, database: Annotated[Database, Depends(get_database)], checker: Checker, caller: Caller
) -> FlowCheckOut:
    """Check each unchecked code of the draft, for example of an imported flow.

    Opening, importing, validating and publishing a flow never execute its code; this does, in the sandbox.
    """
    return await check_flow_code(database, checker, caller, flow_id)
