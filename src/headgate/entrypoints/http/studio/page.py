"""The page's one HTML document."""

import secrets
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import orjson
from fastapi.responses import HTMLResponse, Response

from headgate.entrypoints.http.headers import PAGE_POLICY
from headgate.foundation.errors import Unavailable

BUILT = Path(__file__).parent / "built"
_NONCE = "PAGE_NONCE"


def page_response(modules: tuple[str, ...] = (), calls: tuple[str, ...] = (), *, status: int = 200) -> Response:
    """Return the document, with preloads of its place's `modules` and `calls`.

    Style elements that libraries add to the page are let in by a nonce of this answer alone.
    """
    nonce = secrets.token_urlsafe(16)
    policy = PAGE_POLICY.replace("style-src 'self'", f"style-src 'self' 'nonce-{nonce}'")
    document = _document(modules).replace(_NONCE, nonce)
    links = "".join(f'    <link rel="preload" as="fetch" crossorigin href="{escape(call)}" />\n' for call in calls)
    document = document.replace("    <script", f"{links}    <script", 1)
    return HTMLResponse(document, status_code=status, headers={"Content-Security-Policy": policy})


def is_built() -> bool:
    """Whether the page has been built."""
    return (BUILT / "index.html").is_file()


@cache
def _document(modules: tuple[str, ...]) -> str:
    try:
        document = (BUILT / "index.html").read_text(encoding="utf-8")
        manifest: Mapping[str, Any] = orjson.loads((BUILT / ".vite" / "manifest.json").read_bytes())
    except FileNotFoundError:
        raise Unavailable(
            "The studio is not built.", remedy="Run `make page` in a checkout; a wheel contains it."
        ) from None
    files = dict.fromkeys(file for module in modules for file in _files(manifest, module))
    links = "".join(f'    <link rel="modulepreload" href="/{escape(file)}" />\n' for file in files)
    return document.replace("  </head>", f"{links}  </head>", 1)


def _files(manifest: Mapping[str, Any], module: str) -> Iterator[str]:
    """The files that a module is in, with those that it needs at once."""
    chunk = manifest.get(module)
    if chunk is None:
        return
    yield chunk["file"]
    for needed in chunk.get("imports", ()):
        yield from _files(manifest, needed)
