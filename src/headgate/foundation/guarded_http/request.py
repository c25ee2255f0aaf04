"""A request before and after redirects."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headgate.foundation.guarded_http.errors import BadRequest, BrokenAnswer
from headgate.foundation.guarded_http.headers import Headers, check_headers, names, to_other_server, without_body
from headgate.foundation.guarded_http.targets import Target, parse_target

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
_IDEMPOTENT = METHODS - {"POST", "PATCH"}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Request:
    """A checked request; the server's address is checked when connecting."""

    method: str
    target: Target
    headers: Headers
    body: bytes | None

    @property
    def is_idempotent(self) -> bool:
        """Return whether repeating it has no further effect: by its method, or because it has an idempotency key."""
        return self.method in _IDEMPOTENT or "idempotency-key" in names(self.headers)


def make_request(method: str, url: str, headers: Mapping[str, str] | None, body: bytes | str | None) -> Request:
    """Check a request of a flow. Raises `BadRequest`, `BadUrl`, `HeaderRefused`."""
    verb = method.strip().upper()
    if verb not in METHODS:
        raise BadRequest(
            f"The method {verb[:32]!r} is not supported.", remedy=f"Use one of {', '.join(sorted(METHODS))}."
        )
    try:
        content = body.encode() if isinstance(body, str) else body
    except UnicodeEncodeError as error:
        raise BadRequest("The body is not valid Unicode.") from error
    return Request(verb, parse_target(url), check_headers(headers or {}), content)


def is_redirect(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether a response is a redirect."""
    return status in _REDIRECTS and "location" in headers


def redirected(request: Request, status: int, location: str) -> Request:
    """Return the next request after a redirect (RFC 9110, 15.4; methods change as in browsers).

    Raises `BadUrl` when the new URL is never fetched.
    """
    try:
        target = request.target.follow(location)
    except ValueError as error:  # from urljoin, for unmatched brackets
        raise BrokenAnswer(f"{request.target.origin} redirects to an invalid URL.") from error
    following = replace(request, target=target)
    becomes_get = (status == 303 and request.method != "HEAD") or (status in {301, 302} and request.method == "POST")
    if becomes_get:
        following = replace(following, method="GET", body=None, headers=without_body(following.headers))
    if not request.target.keeps_credentials(target):
        following = replace(following, headers=to_other_server(following.headers))
    return following
