"""HTTP routes of signing in, and of one's own sessions and password."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from headgate.features.access.caller import Caller, needs, public
from headgate.features.access.permissions import Permission
from headgate.features.accounts.passkeys.place import find_place
from headgate.features.accounts.schemas import Named, Person
from headgate.features.accounts.second_factor.confirmation import find_here, require_fresh
from headgate.features.accounts.second_factor.proof import methods_of
from headgate.features.accounts.sessions import service
from headgate.features.accounts.sessions.client import client_of
from headgate.features.accounts.sessions.cookie import drop_cookie, put_cookie, session_token
from headgate.features.accounts.sessions.schemas import (
    LinkIn,
    LinkOwnerOut,
    LinkUseIn,
    PasswordIn,
    SessionOut,
    Sessions,
    SessionsEnded,
    SignedInOut,
    SignInIn,
    SignInOptions,
)
from headgate.features.accounts.sessions.sign_in import SignedIn, SignIn
from headgate.foundation.api import ReadSession, WriteSession, problems
from headgate.foundation.settings import Settings

router = APIRouter(tags=["sign-in"])


def _settings(request: Request) -> Settings:
    found: Settings = request.app.state.settings
    return found


def _door(request: Request) -> SignIn:
    found: SignIn = request.app.state.sign_in
    return found


InForce = Annotated[Settings, Depends(_settings)]
Door = Annotated[SignIn, Depends(_door)]


@router.get(
    "/sign-in",
    summary="How people sign in",
    responses=problems(),
    dependencies=[public("The page that asks people in shows it to everybody; it names nobody.")],
)
async def options(request: Request, settings: InForce) -> SignInOptions:
    """What the sign-in page offers."""
    other, auto_login = settings.single_sign_on, settings.server.auto_login
    return SignInOptions(
        auto_login=auto_login,
        passkeys=not auto_login and find_place(request, settings.server) is not None,
        single_sign_on=other.name if other.issuer and not auto_login else None,
    )


@router.post(
    "/sign-in",
    summary="Sign in",
    responses=problems(401, 409, 429),
    dependencies=[public("It is how people prove who they are. Tries are counted, and every refusal is the same.")],
)
async def sign_in(body: SignInIn, request: Request, response: Response, settings: InForce, door: Door) -> SignedInOut:
    """Start a session with e-mail address and password; its token comes in a cookie that scripts cannot read.

    409 `organisation_needed` when both fit in several organisations: name one of `organisations`. 409
    `second_factor_needed` when the account has a second factor: send the same with `code`.
    """
    found = await door.with_password(
        client_of(request),
        email=body.email,
        password=body.password,
        organisation=body.organisation,
        code=body.code,
        replaces=session_token(request, settings.server),
    )
    return welcome(found, request, response, settings)


@router.post(
    "/sign-out",
    status_code=204,
    summary="Sign out",
    responses=problems(401),
    dependencies=[needs(Permission.ACCOUNT_PROTECT)],
)
async def sign_out(
    request: Request, response: Response, session: WriteSession, caller: Caller, settings: InForce
) -> None:
    """End the session that the request came with, and take the cookie back."""
    await service.sign_out(session, caller, session_token(request, settings.server))
    drop_cookie(request, response, settings.server)


@router.post(
    "/password-links/look",
    summary="See whose link to set a password it is",
    responses=problems(404, 429),
    dependencies=[public("Whoever has the link can use it; who has not learns nothing. Tries are counted.")],
)
async def look_at_link(body: LinkIn, request: Request, door: Door) -> LinkOwnerOut:
    """For the page that asks for the new password. The link stays usable."""
    owner = await door.owner_of_link(client_of(request), body.token)
    return LinkOwnerOut(email=owner.user.email, name=owner.user.name, organisation=owner.tenant.name)


@router.post(
    "/password-links/use",
    summary="Set a password with a link",
    responses=problems(401, 404, 409, 429),
    dependencies=[public("The link proves who they are. It works once, and tries are counted.")],
)
async def use_link(body: LinkUseIn, request: Request, response: Response, settings: InForce, door: Door) -> SignedInOut:
    """Set the password, end all sessions of the person, and sign them in. A refused password leaves the link usable."""
    found = await door.with_link(client_of(request), token=body.token, password=body.password, code=body.code)
    return welcome(found, request, response, settings)


@router.get(
    "/me/sessions",
    summary="List one's sessions",
    responses=problems(401),
    dependencies=[needs(Permission.ACCOUNT_VIEW)],
)
async def list_sessions(request: Request, session: ReadSession, caller: Caller, settings: InForce) -> Sessions:
    """Where one is signed in, the one used last first."""
    here = await service.find_current(session, caller, session_token(request, settings.server))
    rows = [SessionOut.model_validate(row) for row in await service.list_sessions(session, caller, settings.accounts)]
    return Sessions(items=[row.model_copy(update={"current": here is not None and row.id == here.id}) for row in rows])


@router.delete(
    "/me/sessions",
    summary="End one's other sessions",
    responses=problems(401),
    dependencies=[needs(Permission.ACCOUNT_CHANGE)],
)
async def end_other_sessions(
    request: Request, session: WriteSession, caller: Caller, settings: InForce
) -> SessionsEnded:
    """Sign out everywhere else: every session but the one that the request came with."""
    token = session_token(request, settings.server)
    return SessionsEnded(ended=await service.end_other_sessions(session, caller, token))


@router.delete(
    "/me/sessions/{session_id}",
    status_code=204,
    summary="End one of one's sessions",
    responses=problems(401, 404),
    dependencies=[needs(Permission.ACCOUNT_CHANGE)],
)
async def end_session(session_id: str, session: WriteSession, caller: Caller) -> None:
    """Sign out elsewhere."""
    await service.end_session(session, caller, session_id)


@router.post(
    "/me/password",
    status_code=204,
    summary="Change one's password",
    responses=problems(401, 403, 409, 429),
    dependencies=[needs(Permission.ACCOUNT_CHANGE)],
)
async def change_password(body: PasswordIn, request: Request, caller: Caller, settings: InForce, door: Door) -> None:
    """Needs the present password and, with a second factor, a recent confirmation. All one's other sessions end."""
    token = session_token(request, settings.server)
    async with door.database.reading() as session:
        here = await find_here(session, caller, token)
        if await methods_of(session, here.user):
            await require_fresh(session, here)
    await door.change_password(caller, token=token, current=body.current, new=body.new)


def welcome(found: SignedIn, request: Request, response: Response, settings: Settings) -> SignedInOut:
    """Hand a new session to the browser."""
    put_cookie(request, response, settings.server, found.session.token, seconds=found.session.seconds)
    response.headers["Cache-Control"] = "no-store"
    return SignedInOut(
        tenant=Named.model_validate(found.tenant),
        user=Person.model_validate(found.user),
        csrf_token=found.session.csrf_token,
        second_factor_missing=found.second_factor_missing,
    )
