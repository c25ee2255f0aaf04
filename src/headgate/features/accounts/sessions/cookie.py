"""The cookie with a session's token.

Over https its name begins with `__Host-` (RFC 6265bis, 4.1.3.2): browsers accept it over https only and for this host
only, so that no other host of the domain can set it. Plain http, as on a laptop, cannot use that name.
"""

from fastapi import Request, Response

from headgate.foundation.settings import ServerSettings

SECURE_COOKIE = "__Host-headgate"
PLAIN_COOKIE = "headgate"


def is_secure(request: Request, server: ServerSettings) -> bool:
    """Return whether the browser uses https: to this server, or to the public proxy.

    Headers of untrusted proxies and of the browser are accepted here: they can only make the cookie stricter. Browsers
    send `Origin` with every unsafe request, and only an https connection has a cookie named `__Host-`.
    """
    schemes = (request.headers.get("x-forwarded-proto", ""), request.headers.get("origin", "").partition(":")[0])
    return (
        request.url.scheme == "https"
        or server.public_url.startswith("https://")
        or "https" in schemes
        or SECURE_COOKIE in request.cookies
    )


def cookie_name(request: Request, server: ServerSettings) -> str:
    """Return the cookie's name for this request; a cookie with the other name is ignored."""
    return SECURE_COOKIE if is_secure(request, server) else PLAIN_COOKIE


def session_token(request: Request, server: ServerSettings) -> str | None:
    """Return the token of the request; None when there is none."""
    return request.cookies.get(cookie_name(request, server)) or None


def put_cookie(request: Request, response: Response, server: ServerSettings, token: str, *, seconds: int) -> None:
    """Set the session cookie, for the maximum lifetime of the session."""
    response.set_cookie(
        cookie_name(request, server),
        token,
        max_age=seconds,
        path="/",
        secure=is_secure(request, server),
        httponly=True,
        samesite="lax",
    )


def drop_cookie(request: Request, response: Response, server: ServerSettings) -> None:
    """Delete the cookie."""
    response.delete_cookie(
        cookie_name(request, server), path="/", secure=is_secure(request, server), httponly=True, samesite="lax"
    )
