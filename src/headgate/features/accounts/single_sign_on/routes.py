"""HTTP routes of single sign-on. Errors redirect to the sign-in page, which shows Headgate's own texts."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Form, Query, Request, Response
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
from headgate.features.accounts.single_sign_on.sign_on import ProviderIdentity, SingleSignOn
from headgate.features.accounts.single_sign_on.transaction import LIFETIME_SECONDS
from headgate.foundation.api import Routes, WriteSession, get_database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.settings import ServerSettings, Settings

router = Routes(tags=["sign-in"])
log = get_logger(__name__)
SIGN_IN_PAGE = "/sign-in"
CALLBACK = "/sign-in/oidc/callback"
_COOKIE = "headgate-oidc"
MAX_TOKEN = 16_384


def _sign_on(request: Request) -> SingleSignOn:
    """Return the configured provider. Raises `SingleSignOnOff`."""
    sign_on: SingleSignOn | None = request.app.state.single_sign_on
    if sign_on is None:
        raise SingleSignOnOff
    return sign_on


SignOn = Annotated[SingleSignOn, Depends(_sign_on)]
Answer = Annotated[str | None, Query(description="As sent by the provider.")]


@router.get(
    "/sign-in/oidc",
    "Sign in with the provider",
    [public("Users authenticate with this route. Attempts are rate-limited.")],
    status_code=303,
    problems=(404,),
    response_class=RedirectResponse,
)
async def begin(
    request: Request,
    sign_on: SignOn,
    path: Annotated[str, Query(alias="next", description=("Path to open after signing in."))] = HOME,
) -> RedirectResponse:
    """Redirect the browser to the provider, with PKCE, a state and a nonce in an encrypted cookie."""
    throttle: Throttle = request.app.state.throttle
    try:
        await throttle.allow(Scope.SIGN_IN_ADDRESS, client_of(request).network)
        url, cookie = await sign_on.begin(_callback_url(request), path)
    except ExtraMissing:
        raise
    except HeadgateError as error:
        return _error_redirect(error)
    response = _redirect(url)
    secure = is_secure(request, _server(request))
    response.set_cookie(
        _cookie_name(request), cookie, max_age=LIFETIME_SECONDS, path="/", secure=secure, httponly=True, samesite="lax"
    )
    return response


@router.get(
    CALLBACK,
    "Complete sign-in with the provider",
    [public("The provider authenticates the user. Only the browser that started the sign-in can complete it, once.")],
    status_code=303,
    problems=(404,),
    response_class=RedirectResponse,
)
async def come_back(
    request: Request,
    sign_on: SignOn,
    code: Answer = None,
    state: Answer = None,
    iss: Answer = None,
    error: Answer = None,
) -> RedirectResponse:
    """Start a session for the user whom the provider authenticated, and redirect to the requested path."""
    query = {"code": code, "state": state, "iss": iss, "error": error}
    cookie = request.cookies.get(_cookie_name(request))
    try:
        vouched, path = await sign_on.finish({name: value for name, value in query.items() if value}, cookie)
        started = await _start(request, sign_on, vouched)
    except ExtraMissing:
        raise
    except SignInLost as lost:
        return _error_redirect(
            lost
        )  # keeps the cookie: another site's page may have sent the browser here during a sign-in
    except HeadgateError as refused:
        response = _error_redirect(refused)
    else:
        response = _redirect(path)
        put_cookie(request, response, _server(request), started.token, seconds=started.seconds)
    response.delete_cookie(
        _cookie_name(request), path="/", secure=is_secure(request, _server(request)), httponly=True, samesite="lax"
    )
    return response


@router.post(
    "/sign-in/oidc/back-channel-logout",
    "Sign out on request of the provider",
    [public("Called by the provider. Its signed token names the sessions to end; the answer is empty.")],
    status_code=200,
    problems=(401, 404, 429),
)
async def back_channel_logout(
    request: Request,
    response: Response,
    sign_on: SignOn,
    logout_token: Annotated[str, Form(max_length=MAX_TOKEN, description="The provider's signed logout token.")],
) -> None:
    """End the sessions of a user, or one session, that the provider ended (OpenID Connect Back-Channel Logout)."""
    throttle: Throttle = request.app.state.throttle
    client = client_of(request)
    await throttle.allow(Scope.SIGN_IN_ADDRESS, client.network)
    response.headers["Cache-Control"] = "no-store"
    signed_out = await sign_on.signed_out(logout_token)
    async with get_database(request).writing() as session:
        await service.sign_out_from_provider(session, signed_out, sign_on.settings, address=client.address)


@router.get(
    "/sign-in/oidc/sign-out",
    "Sign out at the provider",
    [public("Only redirects to the provider, which asks the user; changes nothing here.")],
    status_code=303,
    problems=(404,),
    response_class=RedirectResponse,
)
async def sign_out_at_provider(request: Request, sign_on: SignOn) -> RedirectResponse:
    """Redirect after sign-out to the provider (OpenID Connect RP-Initiated Logout), else to the sign-in page."""
    base = _server(request).public_url or f"{request.url.scheme}://{request.url.netloc}"
    try:
        address = await sign_on.sign_out_address(f"{base}{SIGN_IN_PAGE}")
    except HeadgateError as error:
        return _error_redirect(error)
    return _redirect(address or SIGN_IN_PAGE)


@router.delete(
    "/users/{user_id}/single-sign-on",
    "Unlink a user from the provider",
    [needs(Permission.PEOPLE_MANAGE)],
    problems=(401, 403, 404, 409),
)
async def unlink(user_id: str, session: WriteSession, caller: Caller) -> None:
    """Unlink a user with a new account at the provider: the next sign-in uses the verified e-mail address again."""
    await service.unlink(session, caller, user_id)


async def _start(request: Request, sign_on: SingleSignOn, vouched: ProviderIdentity) -> NewSession:
    """Sign the user in, in one transaction; the browser's previous session ends."""
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


def _error_redirect(error: HeadgateError) -> RedirectResponse:
    """Redirect to the sign-in page with the error code: the provider's text is never shown."""
    log.warning("single sign-on failed", code=error.code, why=error.detail)
    return _redirect(f"{SIGN_IN_PAGE}?{urlencode({'error': error.code})}")


def _redirect(url: str) -> RedirectResponse:
    return RedirectResponse(url, status_code=303, headers={"Cache-Control": "no-store"})


def _server(request: Request) -> ServerSettings:
    settings: Settings = request.app.state.settings
    return settings.server


def _cookie_name(request: Request) -> str:
    """Return the cookie's name, prefixed like the session's: no other host of the domain can set it."""
    return f"__Host-{_COOKIE}" if is_secure(request, _server(request)) else _COOKIE


def _callback_url(request: Request) -> str:
    """Return the provider's redirect URI, which must be registered there exactly."""
    base = _server(request).public_url or f"{request.url.scheme}://{request.url.netloc}"
    return f"{base}/api/v1{CALLBACK}"
