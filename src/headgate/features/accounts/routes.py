"""HTTP routes of accounts."""

from fastapi import APIRouter

from headgate.features.access.caller import Caller
from headgate.features.accounts import service
from headgate.features.accounts.schemas import Me
from headgate.foundation.api import ReadSession, problems

router = APIRouter(tags=["accounts"])


@router.get("/me", summary="Who is asking", responses=problems(404))
async def me(session: ReadSession, caller: Caller) -> Me:
    """Tenant, user and default space of the caller."""
    return Me.model_validate(await service.get_account(session, caller))
