"""HTTP routes of sign-in, and of the caller's sessions and password."""

from typing import Annotated

from fastapi import Request, Response

from headgate.features.access.caller import Caller, needs, public
from headgate.features.access.permissions import Permission
from headgate.features.accounts.passkeys.relying_party import find_relying_party
from headgate.features.accounts.schemas import Named, Person
from headgate.features.accounts.second_factor.confirmation import find_current_session, require_fresh
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
from headgate.foundation.api import ReadSession, Routes, WriteSession, part
from headgate.foundation.settings import Settings

router = Routes(tags=["sign-in"])


InForce = Annotated[Settings, part("settings")]
SignInService = Annotated[SignIn, part("sign_in")]


@router.get("/sign-in", "List sign-in methods", [public("Shown on the sign-in page to everyone; it names no user.")])
async def options(request: Request, settings: InForce) -> SignInOptions:
    """Options for the sign-in page."""
    single_sign_on, auto_login = settings.single_sign_on, settings.server.auto_login
    return SignInOptions(
        auto_login=auto_login,
        passkeys=not auto_login and find_relying_party(request, settings.server) is not None,
        single_sign_on=single_sign_on.name if single_sign_on.issuer and not auto_login else None,
    )


@router.post(
    "/sign-in",
    "Sign in",
    [public("Users authenticate with this route. Attempts are rate-limited, and every refusal is the same.")],
    problems=(401, 409, 429),
)
async def sign_in(
    body: SignInIn, request: Request, response: Response, settings: InForce, sign_in_service: SignInService
) -> SignedInOut:
    """Start a session with e-mail address and password; its token is set in a cookie that scripts cannot read.

    409 `organisation_needed` when both match in several organisations: name one of `organisations`. 409
    `second_factor_needed` when the account has a second factor: repeat the request with `code`.
    """
    signed_in = await sign_in_service.with_password(
        client_of(request),
        email=body.email,
        password=body.password,
        organisation=body.organisation,
        code=body.code,
        replaces=session_token(request, settings.server),
    )
    return welcome(signed_in, request, response, settings)


@router.post("/sign-out", "Sign out", [needs(Permission.ACCOUNT_PROTECT)], problems=(401,))
async def sign_out(
    request: Request, response: Response, session: WriteSession, caller: Caller, settings: InForce
) -> None:
    """End the session of the request, and delete the cookie."""
    await service.sign_out(session, caller, session_token(request, settings.server))
    drop_cookie(request, response, settings.server)


@router.post(
    "/password-links/look",
    "Show the user of a password link",
    [public("Only the holder of the link can use it. Attempts are rate-limited.")],
    problems=(404, 429),
)
async def look_at_link(body: LinkIn, request: Request, sign_in_service: SignInService) -> LinkOwnerOut:
    """Return the user of a link, for the page that asks for the new password. The link stays usable."""
    owner = await sign_in_service.owner_of_link(client_of(request), body.token)
    return LinkOwnerOut(email=owner.user.email, name=owner.user.name, organisation=owner.tenant.name)


@router.post(
    "/password-links/use",
    "Set a password with a link",
    [public("The link authenticates the user. It works once, and attempts are rate-limited.")],
    problems=(401, 404, 409, 429),
)
async def use_link(
    body: LinkUseIn, request: Request, response: Response, settings: InForce, sign_in_service: SignInService
) -> SignedInOut:
    """Set the password, end all sessions of the user, and sign in. A rejected password leaves the link usable."""
    signed_in = await sign_in_service.with_link(
        client_of(request), token=body.token, password=body.password, code=body.code
    )
    return welcome(signed_in, request, response, settings)


@router.get("/me/sessions", "List your sessions", [needs(Permission.ACCOUNT_VIEW)], problems=(401,))
async def list_sessions(request: Request, session: ReadSession, caller: Caller, settings: InForce) -> Sessions:
    """List the caller's sessions, most recently used first."""
    current = await service.find_current(session, caller, session_token(request, settings.server))
    rows = [SessionOut.model_validate(row) for row in await service.list_sessions(session, caller, settings.accounts)]
    return Sessions(
        items=[row.model_copy(update={"current": current is not None and row.id == current.id}) for row in rows]
    )


@router.delete("/me/sessions", "End your other sessions", [needs(Permission.ACCOUNT_CHANGE)], problems=(401,))
async def end_other_sessions(
    request: Request, session: WriteSession, caller: Caller, settings: InForce
) -> SessionsEnded:
    """End every session except the one of the request."""
    token = session_token(request, settings.server)
    return SessionsEnded(ended=await service.end_other_sessions(session, caller, token))


@router.delete(
    "/me/sessions/{session_id}", "End one of your sessions", [needs(Permission.ACCOUNT_CHANGE)], problems=(401, 404)
)
async def end_session(session_id: str, session: WriteSession, caller: Caller) -> None:
    """End another session."""
    await service.end_session(session, caller, session_id)


@router.post("/me/password", "Change your password", [needs(Permission.ACCOUNT_CHANGE)], problems=(401, 403, 409, 429))
async def change_password(
    body: PasswordIn, request: Request, caller: Caller, settings: InForce, sign_in_service: SignInService
) -> None:
    """Change the password. Needs the current one and, with a second factor, a confirmation. Other sessions end."""
    token = session_token(request, settings.server)
    async with sign_in_service.database.reading() as session:
        current = await find_current_session(session, caller, token)
        if await methods_of(session, current.user):
            await require_fresh(session, current)
    await sign_in_service.change_password(caller, token=token, current=body.current, new=body.new)


def welcome(signed_in: SignedIn, request: Request, response: Response, settings: Settings) -> SignedInOut:
    """Send a new session to the browser."""
    put_cookie(request, response, settings.server, signed_in.session.token, seconds=signed_in.session.seconds)
    response.headers["Cache-Control"] = "no-store"
    return SignedInOut(
        tenant=Named.model_validate(signed_in.tenant),
        user=Person.model_validate(signed_in.user),
        csrf_token=signed_in.session.csrf_token,
        second_factor_missing=signed_in.second_factor_missing,
    )
