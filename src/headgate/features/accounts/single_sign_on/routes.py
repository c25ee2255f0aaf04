"""HTTP routes of single sign-on. What goes wrong ends on the sign-in page, which says it in words of ours."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from headgate.features.access.caller import Caller, needs, public
from headgate.features.access.permissions import Permission
from headgate.features.accounts.ports import Scope, Throttle
from headgate.features.accounts.sessions.client import client_of
from headgate.features.accounts.sessions.cookie import is_secure, put_cookie, session_token
from headgate.features.accounts.sessions.own_path import HOME
from headgate.features.accounts.sessions.service import NewSession, start_session
from headgate.features.accounts.single_sign_on import service
from headgate.features.accounts.single_sign_on.errors import ExtraMissing, SignInLost, SingleSignOnOff
from headgate.features.accounts.single_sign_on.sign_on import SingleSignOn, Vouched
from headgate.features.accounts.single_sign_on.transaction import LIFETIME_SECONDS
from headgate.foundation.api import WriteSession, get_database, problems
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.settings import ServerSettings, Settings

router = APIRouter(tags=["sign-in"])
log = get_logger(__name__)
SIGN_IN_PAGE = "/sign-in"
CALLBACK = "/sign-in/oidc/callback"
_COOKIE = "headgate-oidc"
MAX_TOKEN = 16_384


def _sign_on(request: Request) -> SingleSignOn:
    """The provider that is set up. Raises `SingleSignOnOff`."""
    found: SingleSignOn | None = request.app.state.single_sign_on
    if found is None:
        raise SingleSignOnOff
    return found


SignOn = Annotated[SingleSignOn, Depends(_sign_on)]
Answer = Annotated[str | None, Query(description="As the provider sends it.")]


@router.get(
    "/sign-in/oidc",
    status_code=303,
    summary="Sign in with the provider",
    response_class=RedirectResponse,
    responses=problems(404),
    dependencies=[public("It is how people begin to prove who they are. Tries are counted.")],
)
async def begin(
    request: Request, sign_on: SignOn, wanted: Annotated[str, Query(alias="next", description="Path to end at.")] = HOME
) -> RedirectResponse:
    """Sends the browser to the provider, with PKCE, a state and a nonce that it keeps encrypted in a cookie."""
    throttle: Throttle = request.app.state.throttle
    try:
        await throttle.allow(Scope.SIGN_IN_ADDRESS, client_of(request).network)
        url, held = await sign_on.begin(_callback_url(request), wanted)
    except ExtraMissing:
        raise
    except HeadgateError as error:
        return _turned_away(error)
    response = _redirect(url)
    secure = is_secure(request, _server(request))
    response.set_cookie(
        _cookie_name(request), held, max_age=LIFETIME_SECONDS, path="/", secure=secure, httponly=True, samesite="lax"
    )
    return response


@router.get(
    CALLBACK,
    status_code=303,
    summary="Come back from the provider",
    response_class=RedirectResponse,
    responses=problems(404),
    dependencies=[public("The provider proves who they are. Only the browser that began it can come back, and once.")],
)
async def come_back(
    request: Request,
    sign_on: SignOn,
    code: Answer = None,
    state: Answer = None,
    iss: Answer = None,
    error: Answer = None,
) -> RedirectResponse:
    """Starts a session for the person whom the provider vouches for, and sends the browser to where it wanted to be."""
    answer = {"code": code, "state": state, "iss": iss, "error": error}
    held = request.cookies.get(_cookie_name(request))
    try:
        vouched, wanted = await sign_on.finish({name: value for name, value in answer.items() if value}, held)
        started = await _start(request, sign_on, vouched)
    except ExtraMissing:
        raise
    except SignInLost as lost:
        return _turned_away(lost)  # with what the browser holds: another site's page may have sent it here meanwhile
    except HeadgateError as refused:
        response = _turned_away(refused)
    else:
        response = _redirect(wanted)
        put_cookie(request, response, _server(request), started.token, seconds=started.seconds)
    response.delete_cookie(
        _cookie_name(request), path="/", secure=is_secure(request, _server(request)), httponly=True, samesite="lax"
    )
    return response


@router.post(
    "/sign-in/oidc/back-channel-logout",
    summary="Sign out, as the provider says",
    responses=problems(401, 404, 429),
    dependencies=[public("The provider calls it. Its signed token says whose sessions end; nothing is answered.")],
)
async def back_channel_logout(
    request: Request,
    response: Response,
    sign_on: SignOn,
    logout_token: Annotated[str, Form(max_length=MAX_TOKEN, description="The provider's signed logout token.")],
) -> None:
    """Ends the sessions of a person, or one session, that the provider ended (OpenID Connect Back-Channel Logout)."""
    throttle: Throttle = request.app.state.throttle
    client = client_of(request)
    await throttle.allow(Scope.SIGN_IN_ADDRESS, client.network)
    response.headers["Cache-Control"] = "no-store"
    signed_out = await sign_on.signed_out(logout_token)
    async with get_database(request).writing() as session:
        await service.sign_out_from_provider(session, signed_out, sign_on.settings, address=client.address)


@router.get(
    "/sign-in/oidc/sign-out",
    status_code=303,
    summary="Sign out at the provider",
    response_class=RedirectResponse,
    responses=problems(404),
    dependencies=[public("It only leads to the provider, which asks the person; nothing changes here.")],
)
async def sign_out_at_provider(request: Request, sign_on: SignOn) -> RedirectResponse:
    """Where the page leads after signing out here (OpenID Connect RP-Initiated Logout); else to the sign-in page."""
    base = _server(request).public_url or f"{request.url.scheme}://{request.url.netloc}"
    try:
        address = await sign_on.sign_out_address(f"{base}{SIGN_IN_PAGE}")
    except HeadgateError as error:
        return _turned_away(error)
    return _redirect(address or SIGN_IN_PAGE)


@router.delete(
    "/users/{user_id}/single-sign-on",
    status_code=204,
    summary="Unlink a person from the provider",
    responses=problems(401, 403, 404, 409),
    dependencies=[needs(Permission.PEOPLE_MANAGE)],
)
async def unlink(user_id: str, session: WriteSession, caller: Caller) -> None:
    """For somebody who has a new account there: their next sign-in goes by their verified e-mail address again."""
    await service.unlink(session, caller, user_id)


async def _start(request: Request, sign_on: SingleSignOn, vouched: Vouched) -> NewSession:
    """Let them in, in one transaction; a session that the browser had ends."""
    settings: Settings = request.app.state.settings
    client = client_of(request)
    async with get_database(request).writing() as session:
        user = await service.admit(session, vouched, sign_on.settings, address=client.address)
        return await start_session(
            session,
            user,
            settings.accounts,
            address=client.address,
            user_agent=client.user_agent,
            method="single_sign_on",
            provider_session=vouched.session,
            replaces=session_token(request, settings.server),
        )


def _turned_away(error: HeadgateError) -> RedirectResponse:
    """To the sign-in page with the code of what went wrong: nothing that the provider wrote is ever shown."""
    log.warning("a single sign-on failed", code=error.code, why=error.detail)
    return _redirect(f"{SIGN_IN_PAGE}?{urlencode({'error': error.code})}")


def _redirect(url: str) -> RedirectResponse:
    return RedirectResponse(url, status_code=303, headers={"Cache-Control": "no-store"})


def _server(request: Request) -> ServerSettings:
    settings: Settings = request.app.state.settings
    return settings.server


def _cookie_name(request: Request) -> str:
    """Named like the session's: no other host of the domain can plant one, and so sign somebody in as another."""
    return f"__Host-{_COOKIE}" if is_secure(request, _server(request)) else _COOKIE


def _callback_url(request: Request) -> str:
    """Where the provider sends the browser back to; it must be registered there, exactly so."""
    base = _server(request).public_url or f"{request.url.scheme}://{request.url.netloc}"
    return f"{base}/api/v1{CALLBACK}"
