"""CSRF protection: a request with the session's cookie must come from Headgate's own page.

The token is derived from the session's, so nothing else is stored: HMAC-SHA256 with the session's token as key (OWASP's
HMAC based token pattern). A page of another site can neither read it nor send it in a header.
"""

import hashlib
import hmac

CSRF_HEADER = "X-CSRF-Token"
"""The header of every unsafe request with the cookie."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Safe methods (RFC 9110, 9.2.1), which need no token."""
_PURPOSE = b"headgate csrf v1"


def token_for(session_token: str) -> str:
    """Return the token of a session: 64 hexadecimal digits."""
    return hmac.new(session_token.encode(), _PURPOSE, hashlib.sha256).hexdigest()


def matches(session_token: str, value: str | None) -> bool:
    """Return whether a header value is the session's token, in constant time."""
    return value is not None and hmac.compare_digest(token_for(session_token).encode(), value.encode())
