"""Proof that a request made with the session's cookie was made by our own page, not by another site's.

The token is derived from the session's, so nothing more is kept: HMAC-SHA256 with the session's token as key (OWASP's
HMAC based token pattern). A page of another site can neither read it nor send it in a header.
"""

import hashlib
import hmac

CSRF_HEADER = "X-CSRF-Token"
"""The header that every unsafe request made with the cookie carries."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing (RFC 9110, 9.2.1) and need no token."""
_PURPOSE = b"headgate csrf v1"


def token_for(session_token: str) -> str:
    """The token that belongs to a session: 64 hexadecimal digits."""
    return hmac.new(session_token.encode(), _PURPOSE, hashlib.sha256).hexdigest()


def matches(session_token: str, given: str | None) -> bool:
    """Whether what came in the header is the session's token. Takes the same time wherever they differ."""
    return given is not None and hmac.compare_digest(token_for(session_token).encode(), given.encode())
