"""The cookie that carries a session's token.

Over https its name begins with `__Host-` (RFC 6265bis, 4.1.3.2): a browser then takes it over https only, for this host
alone, so that no other host of the domain can plant one. Plain http, as on a laptop, cannot have that name.
"""

from fastapi import Request, Response

from headgate.foundation.settings import ServerSettings

SECURE_COOKIE = "__Host-headgate"
PLAIN_COOKIE = "headgate"


def is_secure(request: Request, server: ServerSettings) -> bool:
    """Whether the person's browser speaks https: to this server, or to the proxy that people open.

    A proxy that is not listed as trusted, and the browser itself, are believed here: what they say can only make the
    cookie stricter. Browsers send `Origin` with every request that changes something, and nothing but one that came
    over https has a cookie named `__Host-`.
    """
    said = (request.headers.get("x-forwarded-proto", ""), request.headers.get("origin", "").partition(":")[0])
    return (
        request.url.scheme == "https"
        or server.public_url.startswith("https://")
        or "https" in said
        or SECURE_COOKIE in request.cookies
    )


def cookie_name(request: Request, server: ServerSettings) -> str:
    """The one name that is read and written for this request; a cookie of the other name counts for nothing."""
    return SECURE_COOKIE if is_secure(request, server) else PLAIN_COOKIE


def session_token(request: Request, server: ServerSettings) -> str | None:
    """The token that came with the request; None when none came."""
    return request.cookies.get(cookie_name(request, server)) or None


def put_cookie(request: Request, response: Response, server: ServerSettings, token: str, *, seconds: int) -> None:
    """Hand a session's token to the browser, for as long as the session may last."""
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
    """Take the cookie back."""
    response.delete_cookie(
        cookie_name(request, server), path="/", secure=is_secure(request, server), httponly=True, samesite="lax"
    )
