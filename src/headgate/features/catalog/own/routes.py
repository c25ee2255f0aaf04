"""HTTP route that checks code for a component."""

from typing import Annotated

from fastapi import Depends

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.catalog.own.checker import Checker
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.schemas import ComponentCheckIn, ComponentCheckOut
from headgate.features.catalog.own.service import check_code
from headgate.foundation.api import Routes, get_database
from headgate.foundation.database import Database

router = Routes(tags=["components"])


Data = Annotated[Database, Depends(get_database)]


@router.post("/components/check", "Check a component's code", [needs(Permission.FLOWS_EDIT)], problems=(403,))
async def check(body: ComponentCheckIn, database: Data, checker: Checker, caller: Caller) -> ComponentCheckOut:
    """Scan code, describe it in the sandbox, and try it once with samples.

    Code that passes is stored: flows may then use it in a node of its class.
    """
    try:
        return ComponentCheckOut.of(await check_code(database, checker, caller, body.code))
    except ComponentNotMade as error:
        return ComponentCheckOut.of_faults(error)
