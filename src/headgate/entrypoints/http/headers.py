"""Security headers by type of response: API response, page or file."""

from collections.abc import Sequence

from headgate.foundation.settings import ServerSettings

Headers = Sequence[tuple[bytes, bytes]]

DATA_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""For responses that are not pages: nothing may be loaded, sent or framed."""
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self' blob:; frame-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
"""For pages: scripts, styles and data of this server alone, none written into the page. The page may make pictures
(`data:`, `blob:`), and workers of scripts that it has already, and show a widget of this server in a frame."""
STATIC = "/static-offline-docs/"
DATA_PATHS = ("/api/", "/health", "/metrics", "/scim/")
"""Paths requested by programs, whatever they accept."""
_ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    # Not `no-referrer`: a browser would then send the forms of our own pages without an origin.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"permissions-policy",
        b"camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
    ),
)
_YEAR_SECONDS = 31_536_000
_POLICY, _CACHE = b"content-security-policy", b"cache-control"


class SecurityHeaders:
    """Headers added to every response. A route's own content policy and cache rule have priority."""

    def __init__(self, settings: ServerSettings) -> None:
        always = list(_ALWAYS)
        if settings.public_url.startswith("https:"):
            # A browser heeds it only where it came over https (RFC 6797, 8.1).
            always.append((b"strict-transport-security", f"max-age={_YEAR_SECONDS}".encode()))
        self._of_data: Headers = (*always, (_POLICY, DATA_POLICY.encode()))
        self._of_pages: Headers = (*always, (_POLICY, PAGE_POLICY.encode()))

    def added_to(self, path: str, headers: Headers) -> list[tuple[bytes, bytes]]:
        """Return a response's headers with the missing ones added."""
        own = {name.lower() for name, _ in headers}
        ours = self._of_data if path.startswith(DATA_PATHS) else self._of_pages
        complete = [*headers, *(header for header in ours if header[0] not in own)]
        if _CACHE not in own and not path.startswith(STATIC):
            complete.append((_CACHE, b"no-store"))
        return complete
