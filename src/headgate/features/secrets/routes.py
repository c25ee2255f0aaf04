"""HTTP routes of variables."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.secrets import service
from headgate.features.secrets.schemas import VariableIn, VariableOut
from headgate.foundation.api import Page, ReadSession, WriteSession, problems
from headgate.foundation.crypto import SecretBox

router = APIRouter(prefix="/variables", tags=["variables"])
VIEW, MANAGE = needs(Permission.VARIABLES_VIEW), needs(Permission.VARIABLES_MANAGE)


def _box(request: Request) -> SecretBox:
    found: SecretBox = request.app.state.box
    return found


Box = Annotated[SecretBox, Depends(_box)]


@router.get("", summary="List variables", responses=problems(), dependencies=[VIEW])
async def list_(session: ReadSession, caller: Caller) -> Page[VariableOut]:
    """Names of the tenant's variables, never their values."""
    rows = await service.list_variables(session, caller)
    return Page(items=[VariableOut.model_validate(row) for row in rows])


@router.put("/{name}", summary="Set a variable", responses=problems(403), dependencies=[MANAGE])
async def set_(name: str, body: VariableIn, session: WriteSession, caller: Caller, box: Box) -> VariableOut:
    """Keep a value, encrypted, in place of the one before."""
    row = await service.set_variable(
        session, caller, box, name=name, value=body.value, secret=body.secret, hosts=body.hosts
    )
    return VariableOut.model_validate(row)


@router.delete(
    "/{name}", status_code=204, summary="Delete a variable", responses=problems(403, 404), dependencies=[MANAGE]
)
async def delete(name: str, session: WriteSession, caller: Caller) -> Response:
    """Forget a value."""
    await service.delete_variable(session, caller, name=name)
    return Response(status_code=204)
