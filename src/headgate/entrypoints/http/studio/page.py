"""The page's one HTML document."""

import secrets
from functools import cache
from pathlib import Path

from fastapi import Request
from fastapi.responses import HTMLResponse, Response

from headgate.entrypoints.http.headers import PAGE_POLICY
from headgate.foundation.errors import Unavailable

BUILT = Path(__file__).parent / "built"
ASSETS_CACHE = "public, max-age=31536000, immutable"
_NONCE = "HEADGATE_NONCE"


def page_response(_request: Request) -> Response:
    """The document. Style elements that libraries add to the page are let in by a nonce of this answer alone."""
    nonce = secrets.token_urlsafe(16)
    policy = PAGE_POLICY.replace("style-src 'self'", f"style-src 'self' 'nonce-{nonce}'")
    return HTMLResponse(_document().replace(_NONCE, nonce), headers={"Content-Security-Policy": policy})


@cache
def _document() -> str:
    try:
        return (BUILT / "index.html").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Unavailable(
            "The studio's page is not built.", remedy="Run `make web` in a checkout; a wheel carries it."
        ) from None
