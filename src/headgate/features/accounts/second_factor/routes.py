"""HTTP routes of second factors and of the organisation's sign-in policy."""

from typing import Annotated

from fastapi import Depends, Request, Response

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.ports import Scope, Throttle
from headgate.features.accounts.second_factor import repository, service
from headgate.features.accounts.second_factor.confirmation import Confirmation, CurrentSession, find_current_session
from headgate.features.accounts.second_factor.schemas import (
    ConfirmIn,
    FirstCodeIn,
    RecoveryCodes,
    SecondFactorOut,
    SignInPolicy,
    TotpBegun,
)
from headgate.features.accounts.sessions.cookie import session_token
from headgate.features.accounts.users.service import get_user
from headgate.foundation.api import ReadSession, Routes, WriteSession, part
from headgate.foundation.crypto import SecretBox

router = Routes(tags=["sign-in"])
VIEW, PROTECT = needs(Permission.ACCOUNT_VIEW), needs(Permission.ACCOUNT_PROTECT)


def _token(request: Request) -> str | None:
    return session_token(request, request.app.state.settings.server)


async def _counted(request: Request, caller: Caller) -> None:
    throttle: Throttle = request.app.state.throttle
    await throttle.allow(Scope.SECOND_FACTOR_USER, caller.user_id)


Token = Annotated[str | None, Depends(_token)]
Box = Annotated[SecretBox, part("sign_in.box")]


@router.get("/me/second-factor", "List your second factors", [VIEW], problems=(401, 403))
async def show(session: ReadSession, caller: Caller, token: Token) -> SecondFactorOut:
    """The second factors of the caller, and whether the organisation requires one."""
    return await service.show(session, caller, await find_current_session(session, caller, token))


@router.post(
    "/me/second-factor/totp",
    "Start setting up an authenticator app",
    [PROTECT],
    status_code=201,
    problems=(401, 403, 409),
)
async def begin_totp(session: WriteSession, caller: Caller, token: Token, box: Box, response: Response) -> TotpBegun:
    """Create a secret and its QR code, shown only once. The app is enabled by its first code."""
    _never_stored(response)
    return await service.begin_totp(session, caller, await find_current_session(session, caller, token), box)


@router.post(
    "/me/second-factor/totp/confirm",
    "Finish setting up an authenticator app",
    [PROTECT, Depends(_counted)],
    problems=(401, 403, 409, 429),
)
async def confirm_totp(
    body: FirstCodeIn, session: WriteSession, caller: Caller, token: Token, box: Box, response: Response
) -> RecoveryCodes:
    """Enable the app with its first code. Returns recovery codes, shown only once; other sessions end."""
    _never_stored(response)
    current = await find_current_session(session, caller, token)
    return RecoveryCodes(recovery_codes=await service.confirm_totp(session, caller, current, box, body.code))


@router.delete("/me/second-factor/totp", "Remove your authenticator app", [PROTECT], problems=(401, 403, 409))
async def remove_totp(session: WriteSession, caller: Caller, token: Token) -> None:
    """Remove the app and the recovery codes. Requires a confirmation in the last ten minutes."""
    await service.remove_totp(session, caller, await find_current_session(session, caller, token))


@router.post("/me/second-factor/recovery-codes", "Create new recovery codes", [PROTECT], problems=(401, 403, 409))
async def renew_recovery_codes(
    session: WriteSession, caller: Caller, token: Token, response: Response
) -> RecoveryCodes:
    """Replace the recovery codes. Requires a confirmation in the last ten minutes."""
    _never_stored(response)
    current: CurrentSession = await find_current_session(session, caller, token)
    return RecoveryCodes(recovery_codes=await service.renew_recovery_codes(session, caller, current))


@router.post("/me/confirm", "Confirm your identity", [PROTECT], problems=(401, 403, 429))
async def confirm(body: ConfirmIn, request: Request, caller: Caller, token: Token) -> None:
    """Confirm the session before sensitive account changes: a code with a second factor, else the password."""
    state = request.app.state
    confirmation = Confirmation(state.sign_in.database, state.sign_in.passwords, state.throttle, state.sign_in.box)
    await confirmation.confirm(caller, token, password=body.password, code=body.code)


@router.delete(
    "/users/{user_id}/second-factor",
    "Reset a user's second factors",
    [needs(Permission.PEOPLE_MANAGE)],
    problems=(401, 403, 404, 409),
)
async def reset(user_id: str, session: WriteSession, caller: Caller) -> None:
    """Reset the second factors of a user who lost phone and recovery codes. The user's sessions end."""
    await service.reset(session, caller, await get_user(session, caller, user_id))


@router.get("/sign-in-policy", "Read the sign-in policy", [needs(Permission.PEOPLE_VIEW)], problems=(401, 403))
async def read_policy(session: ReadSession, caller: Caller) -> SignInPolicy:
    """The organisation's requirements for users who sign in with a password."""
    required = await repository.is_required(session, tenant_id=caller.tenant_id)
    return SignInPolicy(second_factor_required=required)


@router.put("/sign-in-policy", "Change the sign-in policy", [needs(Permission.PEOPLE_MANAGE)], problems=(401, 403))
async def set_policy(body: SignInPolicy, session: WriteSession, caller: Caller) -> SignInPolicy:
    """Change the policy, effective immediately: a session without a second factor can only set one up, or sign out."""
    await service.set_policy(session, caller, required=body.second_factor_required)
    return body


def _never_stored(response: Response) -> None:
    response.headers["Cache-Control"] = "no-store"
