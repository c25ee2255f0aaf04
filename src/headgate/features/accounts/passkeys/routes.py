"""HTTP routes of passkeys."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from headgate.features.access.caller import Caller, needs, public
from headgate.features.access.permissions import Permission
from headgate.features.accounts.passkeys import service
from headgate.features.accounts.passkeys.place import find_place, require_place
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
from headgate.features.accounts.second_factor.confirmation import find_here
from headgate.features.accounts.sessions.client import client_of
from headgate.features.accounts.sessions.cookie import is_secure, session_token
from headgate.features.accounts.sessions.routes import welcome
from headgate.features.accounts.sessions.schemas import SignedInOut
from headgate.foundation.api import ReadSession, WriteSession, get_database, problems
from headgate.foundation.settings import Settings

router = APIRouter(tags=["sign-in"])
PROTECT = needs(Permission.ACCOUNT_PROTECT)
_COOKIE = "headgate-passkey"


def _settings(request: Request) -> Settings:
    found: Settings = request.app.state.settings
    return found


InForce = Annotated[Settings, Depends(_settings)]


@router.post(
    "/sign-in/passkey/options",
    summary="Begin to sign in with a passkey",
    responses=problems(404, 429),
    dependencies=[public("It names nobody: the browser offers the passkeys that it has. Tries are counted.")],
)
async def begin_sign_in(
    request: Request, response: Response, session: WriteSession, settings: InForce
) -> PasskeyOptions:
    """A challenge for any passkey of this server. It works once, in this browser."""
    await _count(request)
    begun = await service.begin_use(session, require_place(request, settings.server), "sign_in")
    return _continued(begun, request, response, settings)


@router.post(
    "/sign-in/passkey",
    summary="Sign in with a passkey",
    responses=problems(401, 404, 429),
    dependencies=[public("It is how people prove who they are. Tries are counted, and every refusal is the same.")],
)
async def sign_in(body: PasskeyAnswer, request: Request, response: Response, settings: InForce) -> SignedInOut:
    """Start a session with a passkey, without a password. The device verified its user."""
    await _count(request)
    place = require_place(request, settings.server)
    database = get_database(request)
    challenge = await service.take_challenge(database, request.cookies.get(_name(request, settings)), "sign_in", None)
    async with database.writing() as session:
        found = await service.sign_in(
            session,
            settings.accounts,
            client_of(request),
            place=place,
            challenge=challenge,
            credential=body.credential,
            replaces=session_token(request, settings.server),
        )
    return welcome(found, request, response, settings)


@router.get(
    "/me/passkeys",
    summary="List one's passkeys",
    responses=problems(401, 403),
    dependencies=[needs(Permission.ACCOUNT_VIEW)],
)
async def list_passkeys(request: Request, session: ReadSession, caller: Caller, settings: InForce) -> Passkeys:
    """The caller's passkeys, the oldest first."""
    here = await find_here(session, caller, session_token(request, settings.server))
    rows = await service.list_passkeys(session, here)
    return Passkeys(
        available=find_place(request, settings.server) is not None,
        items=[PasskeyOut.model_validate(row) for row in rows],
    )


@router.post(
    "/me/passkeys/options",
    summary="Begin to register a passkey",
    responses=problems(401, 403, 404, 409),
    dependencies=[PROTECT],
)
async def begin_registration(
    request: Request, response: Response, session: WriteSession, caller: Caller, settings: InForce
) -> PasskeyOptions:
    """Needs a confirmation in the last ten minutes."""
    here = await find_here(session, caller, session_token(request, settings.server))
    begun = await service.begin_registration(session, require_place(request, settings.server), here)
    return _continued(begun, request, response, settings)


@router.post(
    "/me/passkeys",
    status_code=201,
    summary="Register a passkey",
    responses=problems(401, 403, 404, 409),
    dependencies=[PROTECT],
)
async def register(
    body: PasskeyIn, request: Request, response: Response, caller: Caller, settings: InForce
) -> PasskeyAdded:
    """Takes the browser's answer. The first second factor comes with recovery codes, shown this once."""
    database = get_database(request)
    async with database.reading() as session:
        here = await find_here(session, caller, session_token(request, settings.server))
    place = require_place(request, settings.server)
    challenge = await service.take_challenge(database, request.cookies.get(_name(request, settings)), "register", here)
    async with database.writing() as session:
        passkey, codes = await service.register(
            session, caller, here, place=place, challenge=challenge, credential=body.credential, name=body.name
        )
    response.headers["Cache-Control"] = "no-store"
    return PasskeyAdded(**PasskeyOut.model_validate(passkey).model_dump(), recovery_codes=codes)


@router.patch(
    "/me/passkeys/{passkey_id}",
    summary="Rename a passkey",
    responses=problems(401, 403, 404),
    dependencies=[PROTECT],
)
async def rename(
    passkey_id: str, body: PasskeyRename, request: Request, session: WriteSession, caller: Caller, settings: InForce
) -> PasskeyOut:
    """Give it another name."""
    passkey = await service.find_own(session, caller, passkey_id)
    here = await find_here(session, caller, session_token(request, settings.server))
    return PasskeyOut.model_validate(await service.rename(session, caller, here, passkey, name=body.name))


@router.delete(
    "/me/passkeys/{passkey_id}",
    status_code=204,
    summary="Remove a passkey",
    responses=problems(401, 403, 404, 409),
    dependencies=[PROTECT],
)
async def remove(passkey_id: str, request: Request, session: WriteSession, caller: Caller, settings: InForce) -> None:
    """Needs a confirmation in the last ten minutes."""
    passkey = await service.find_own(session, caller, passkey_id)
    here = await find_here(session, caller, session_token(request, settings.server))
    await service.remove(session, caller, here, passkey)


@router.post(
    "/me/confirm/passkey/options",
    summary="Begin to confirm with a passkey",
    responses=problems(401, 403, 404),
    dependencies=[PROTECT],
)
async def begin_confirmation(
    request: Request, response: Response, session: WriteSession, caller: Caller, settings: InForce
) -> PasskeyOptions:
    """A challenge that confirms the present session."""
    here = await find_here(session, caller, session_token(request, settings.server))
    begun = await service.begin_use(session, require_place(request, settings.server), "confirm", here)
    return _continued(begun, request, response, settings)


@router.post(
    "/me/confirm/passkey",
    status_code=204,
    summary="Confirm with a passkey",
    responses=problems(401, 403, 404, 429),
    dependencies=[PROTECT],
)
async def confirm(body: PasskeyAnswer, request: Request, caller: Caller, settings: InForce) -> None:
    """As `POST /me/confirm`, with a passkey of the caller's."""
    throttle: Throttle = request.app.state.throttle
    await throttle.allow(Scope.SECOND_FACTOR_USER, caller.user_id)
    database = get_database(request)
    async with database.reading() as session:
        here = await find_here(session, caller, session_token(request, settings.server))
    place = require_place(request, settings.server)
    challenge = await service.take_challenge(database, request.cookies.get(_name(request, settings)), "confirm", here)
    async with database.writing() as session:
        await service.confirm(session, here, place=place, challenge=challenge, credential=body.credential)


async def _count(request: Request) -> None:
    throttle: Throttle = request.app.state.throttle
    await throttle.allow(Scope.SIGN_IN_ADDRESS, client_of(request).network)


def _name(request: Request, settings: Settings) -> str:
    return f"__Host-{_COOKIE}" if is_secure(request, settings.server) else _COOKIE


def _continued(begun: service.Begun, request: Request, response: Response, settings: Settings) -> PasskeyOptions:
    response.set_cookie(
        _name(request, settings),
        begun.token,
        max_age=int(service.LASTS.total_seconds()),
        path="/",
        secure=is_secure(request, settings.server),
        httponly=True,
        samesite="strict",
    )
    response.headers["Cache-Control"] = "no-store"
    return PasskeyOptions(options=begun.options)
