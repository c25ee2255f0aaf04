"""HTTP route of the caller's account."""

from fastapi import Request, Response

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.me import service
from headgate.features.accounts.me.schemas import Me, RightsOut, SignedInBy
from headgate.features.accounts.schemas import Named, Person
from headgate.features.accounts.sessions.cookie import session_token
from headgate.features.accounts.sessions.csrf import token_for
from headgate.features.accounts.sessions.service import find_current
from headgate.foundation.api import ReadSession, Routes

router = Routes(tags=["accounts"])


@router.get("/me", "Show the signed-in user", [needs(Permission.ACCOUNT_VIEW)], problems=(401, 404))
async def me(request: Request, response: Response, session: ReadSession, caller: Caller) -> Me:
    """Tenant, user, default space and permissions of the caller."""
    account = await service.get_account(session, caller)
    token = session_token(request, request.app.state.settings.server)
    current = await find_current(session, caller, token)
    signed_in_by: SignedInBy = "key" if caller.actor.kind == "key" else "auto_login"
    if current is not None:
        signed_in_by = current.method
    response.headers["Cache-Control"] = "no-store"
    return Me(
        tenant=Named.model_validate(account.tenant),
        user=Person.model_validate(account.user),
        space=None if account.space is None else Named.model_validate(account.space),
        permissions=RightsOut.model_validate(service.rights_of(caller)),
        signed_in_by=signed_in_by,
        second_factor_missing=caller.access.held,
        csrf_token=None if current is None or token is None else token_for(token),
    )
