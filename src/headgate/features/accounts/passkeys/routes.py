"""HTTP routes of passkeys."""

from typing import Annotated

from fastapi import Request, Response

from headgate.features.access.caller import Caller, needs, public
from headgate.features.access.permissions import Permission
from headgate.features.accounts.passkeys import service
from headgate.features.accounts.passkeys.relying_party import find_relying_party, require_relying_party
from headgate.features.accounts.passkeys.schemas import (
    PasskeyAdded,
    PasskeyAnswer,
    PasskeyIn,
    PasskeyOptions,
    PasskeyOut,
    PasskeyRename,
    Passkeys,
)
from headgate.features.accounts.ports import Scope, Throttle
from headgate.features.accounts.second_factor.confirmation import find_current_session
from headgate.features.accounts.sessions.client import client_of
from headgate.features.accounts.sessions.cookie import is_secure, session_token
from headgate.features.accounts.sessions.routes import welcome
from headgate.features.accounts.sessions.schemas import SignedInOut
from headgate.foundation.api import ReadSession, Routes, WriteSession, get_database, part
from headgate.foundation.settings import Settings

router = Routes(tags=["sign-in"])
PROTECT = needs(Permission.ACCOUNT_PROTECT)
_COOKIE = "headgate-passkey"


InForce = Annotated[Settings, part("settings")]


@router.post(
    "/sign-in/passkey/options",
    "Start signing in with a passkey",
    [public("No user is named: the browser offers its passkeys. Attempts are rate-limited.")],
    problems=(404, 429),
)
async def begin_sign_in(
    request: Request, response: Response, session: WriteSession, settings: InForce
) -> PasskeyOptions:
    """Create a challenge for any passkey of this server. It can be used once, in this browser."""
    await _count(request)
    ceremony = await service.begin_use(session, require_relying_party(request, settings.server), "sign_in")
    return _continued(ceremony, request, response, settings)


@router.post(
    "/sign-in/passkey",
    "Sign in with a passkey",
    [public("Users authenticate with this route. Attempts are rate-limited, and every refusal is the same.")],
    problems=(401, 404, 429),
)
async def sign_in(body: PasskeyAnswer, request: Request, response: Response, settings: InForce) -> SignedInOut:
    """Start a session with a passkey, without a password. The device verified its user."""
    await _count(request)
    relying_party = require_relying_party(request, settings.server)
    database = get_database(request)
    challenge = await service.take_challenge(database, request.cookies.get(_name(request, settings)), "sign_in", None)
    async with database.writing() as session:
        signed_in = await service.sign_in(
            session,
            settings.accounts,
            client_of(request),
            relying_party=relying_party,
            challenge=challenge,
            credential=body.credential,
            replaces=session_token(request, settings.server),
        )
    return welcome(signed_in, request, response, settings)


@router.get("/me/passkeys", "List your passkeys", [needs(Permission.ACCOUNT_VIEW)], problems=(401, 403))
async def list_passkeys(request: Request, session: ReadSession, caller: Caller, settings: InForce) -> Passkeys:
    """List the caller's passkeys, oldest first."""
    current = await find_current_session(session, caller, session_token(request, settings.server))
    rows = await service.list_passkeys(session, current)
    return Passkeys(
        available=find_relying_party(request, settings.server) is not None,
        items=[PasskeyOut.model_validate(row) for row in rows],
    )


@router.post("/me/passkeys/options", "Start registering a passkey", [PROTECT], problems=(401, 403, 404, 409))
async def begin_registration(
    request: Request, response: Response, session: WriteSession, caller: Caller, settings: InForce
) -> PasskeyOptions:
    """Start a registration. Requires a confirmation in the last ten minutes."""
    current = await find_current_session(session, caller, session_token(request, settings.server))
    ceremony = await service.begin_registration(session, require_relying_party(request, settings.server), current)
    return _continued(ceremony, request, response, settings)


@router.post("/me/passkeys", "Register a passkey", [PROTECT], status_code=201, problems=(401, 403, 404, 409))
async def register(
    body: PasskeyIn, request: Request, response: Response, caller: Caller, settings: InForce
) -> PasskeyAdded:
    """Register the browser's response. The first second factor returns recovery codes, shown only once."""
    database = get_database(request)
    async with database.reading() as session:
        current = await find_current_session(session, caller, session_token(request, settings.server))
    relying_party = require_relying_party(request, settings.server)
    challenge = await service.take_challenge(
        database, request.cookies.get(_name(request, settings)), "register", current
    )
    async with database.writing() as session:
        passkey, codes = await service.register(
            session,
            caller,
            current,
            relying_party=relying_party,
            challenge=challenge,
            credential=body.credential,
            name=body.name,
        )
    response.headers["Cache-Control"] = "no-store"
    return PasskeyAdded(**PasskeyOut.model_validate(passkey).model_dump(), recovery_codes=codes)


@router.patch("/me/passkeys/{passkey_id}", "Rename a passkey", [PROTECT], problems=(401, 403, 404))
async def rename(
    passkey_id: str, body: PasskeyRename, request: Request, session: WriteSession, caller: Caller, settings: InForce
) -> PasskeyOut:
    """Rename a passkey."""
    passkey = await service.find_own(session, caller, passkey_id)
    current = await find_current_session(session, caller, session_token(request, settings.server))
    return PasskeyOut.model_validate(await service.rename(session, caller, current, passkey, name=body.name))


@router.delete("/me/passkeys/{passkey_id}", "Remove a passkey", [PROTECT], problems=(401, 403, 404, 409))
async def remove(passkey_id: str, request: Request, session: WriteSession, caller: Caller, settings: InForce) -> None:
    """Remove a passkey. Requires a confirmation in the last ten minutes."""
    passkey = await service.find_own(session, caller, passkey_id)
    current = await find_current_session(session, caller, session_token(request, settings.server))
    await service.remove(session, caller, current, passkey)


@router.post("/me/confirm/passkey/options", "Start confirming with a passkey", [PROTECT], problems=(401, 403, 404))
async def begin_confirmation(
    request: Request, response: Response, session: WriteSession, caller: Caller, settings: InForce
) -> PasskeyOptions:
    """Create a challenge that confirms the current session."""
    current = await find_current_session(session, caller, session_token(request, settings.server))
    ceremony = await service.begin_use(session, require_relying_party(request, settings.server), "confirm", current)
    return _continued(ceremony, request, response, settings)


@router.post("/me/confirm/passkey", "Confirm with a passkey", [PROTECT], problems=(401, 403, 404, 429))
async def confirm(body: PasskeyAnswer, request: Request, caller: Caller, settings: InForce) -> None:
    """Confirm the session with a passkey of the caller, like `POST /me/confirm`."""
    throttle: Throttle = request.app.state.throttle
    await throttle.allow(Scope.SECOND_FACTOR_USER, caller.user_id)
    database = get_database(request)
    async with database.reading() as session:
        current = await find_current_session(session, caller, session_token(request, settings.server))
    relying_party = require_relying_party(request, settings.server)
    challenge = await service.take_challenge(
        database, request.cookies.get(_name(request, settings)), "confirm", current
    )
    async with database.writing() as session:
        await service.confirm(
            session, current, relying_party=relying_party, challenge=challenge, credential=body.credential
        )


async def _count(request: Request) -> None:
    throttle: Throttle = request.app.state.throttle
    await throttle.allow(Scope.SIGN_IN_ADDRESS, client_of(request).network)


def _name(request: Request, settings: Settings) -> str:
    return f"__Host-{_COOKIE}" if is_secure(request, settings.server) else _COOKIE


def _continued(ceremony: service.Ceremony, request: Request, response: Response, settings: Settings) -> PasskeyOptions:
    response.set_cookie(
        _name(request, settings),
        ceremony.token,
        max_age=int(service.LASTS.total_seconds()),
        path="/",
        secure=is_secure(request, settings.server),
        httponly=True,
        samesite="strict",
    )
    response.headers["Cache-Control"] = "no-store"
    return PasskeyOptions(options=ceremony.options)
