"""A request as it will be sent, and what it becomes after a redirect."""

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
    """A request that passed every check but the one of the server's address, which comes when connecting."""

    method: str
    target: Target
    headers: Headers
    body: bytes | None

    @property
    def is_idempotent(self) -> bool:
        """Whether sending it twice has the effect of sending it once: by its method, or because the server is told."""
        return self.method in _IDEMPOTENT or "idempotency-key" in names(self.headers)


def make_request(method: str, url: str, headers: Mapping[str, str] | None, body: bytes | str | None) -> Request:
    """Check what a flow asks for. Raises `BadRequest`, `BadUrl`, `HeaderRefused`."""
    verb = method.strip().upper()
    if verb not in METHODS:
        raise BadRequest(f"The method {verb[:32]!r} is not sent.", remedy=f"Use one of {', '.join(sorted(METHODS))}.")
    try:
        content = body.encode() if isinstance(body, str) else body
    except UnicodeEncodeError as error:
        raise BadRequest("The body is not valid Unicode.") from error
    return Request(verb, parse_target(url), check_headers(headers or {}), content)


def is_redirect(status: int, headers: Mapping[str, str]) -> bool:
    """Whether an answer sends the request elsewhere."""
    return status in _REDIRECTS and "location" in headers


def redirected(request: Request, status: int, location: str) -> Request:
    """The next request after a redirect (RFC 9110, 15.4; methods as browsers change them).

    Raises `BadUrl` when the new address is one that is never fetched.
    """
    try:
        target = request.target.follow(location)
    except ValueError as error:  # urljoin, on brackets that do not match
        raise BrokenAnswer(f"{request.target.origin} redirects to something that is no address.") from error
    following = replace(request, target=target)
    becomes_get = (status == 303 and request.method != "HEAD") or (status in {301, 302} and request.method == "POST")
    if becomes_get:
        following = replace(following, method="GET", body=None, headers=without_body(following.headers))
    if not request.target.keeps_credentials(target):
        following = replace(following, headers=to_other_server(following.headers))
    return following
