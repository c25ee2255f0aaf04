"""HTTP routes of variables."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.secrets import service
from headgate.features.secrets.schemas import VariableIn, VariableOut
from headgate.features.secrets.tables import Variable
from headgate.foundation.api import Page, ReadSession, Routes, WriteSession, part
from headgate.foundation.crypto import SecretBox

router = Routes(tags=["variables"])
VIEW = needs(Permission.VARIABLES_VIEW)
MANAGE, SHARE = needs(Permission.SPACE_VARIABLES_MANAGE), needs(Permission.VARIABLES_MANAGE)


Box = Annotated[SecretBox, part("box")]
InSpace = Annotated[str | None, Query(description="Id of the space.")]


@router.get("/variables", "List variables", [VIEW])
async def list_(session: ReadSession, caller: Caller) -> Page[VariableOut]:
    """List names of the variables of the organisation and of the spaces you can view; never their values.

    A flow that names a variable uses its space's own, else the organisation's.
    """
    return Page(items=shown(await service.list_variables(session, caller)))


@router.put("/variables/{name}", "Set a variable", [MANAGE], problems=(403, 404))
async def set_(
    name: str, body: VariableIn, session: WriteSession, caller: Caller, box: Box, space_id: InSpace = None
) -> VariableOut:
    """Store a value for the flows of a space, by default your own space, encrypted; it replaces the previous value."""
    row = await service.set_variable(
        session, caller, box, name=name, value=body.value, secret=body.secret, hosts=body.hosts, space_id=space_id
    )
    return VariableOut.model_validate(row)


@router.delete("/variables/{name}", "Delete a variable", [MANAGE], problems=(403, 404))
async def delete(name: str, session: WriteSession, caller: Caller, space_id: InSpace = None) -> None:
    """Delete a variable of a space, by default your own."""
    await service.delete_variable(session, caller, name=name, space_id=space_id)


@router.put("/organisation/variables/{name}", "Set a variable of the organisation", [SHARE], problems=(403,))
async def share(name: str, body: VariableIn, session: WriteSession, caller: Caller, box: Box) -> VariableOut:
    """Store a value for the flows of every space, except where a space has a variable with that name."""
    row = await service.set_variable(
        session, caller, box, name=name, value=body.value, secret=body.secret, hosts=body.hosts, organisation=True
    )
    return VariableOut.model_validate(row)


@router.delete("/organisation/variables/{name}", "Delete a variable of the organisation", [SHARE], problems=(403, 404))
async def unshare(name: str, session: WriteSession, caller: Caller) -> None:
    """Delete a variable of the organisation; those of spaces stay."""
    await service.delete_variable(session, caller, name=name, organisation=True)


def shown(rows: Sequence[Variable]) -> list[VariableOut]:
    """Return variables in the form of the API."""
    spaces: dict[str, list[str]] = {}
    for row in rows:
        if row.space_id is not None:
            spaces.setdefault(row.name, []).append(row.space_id)
    items = [VariableOut.model_validate(row) for row in rows]
    for item in items:
        if item.space_id is None:
            item.replaced_in = spaces.get(item.name, [])
    return items
