"""The application with its OpenAPI document, and the page at `/docs` that shows it: all from this machine."""

import re
from base64 import b64encode
from collections.abc import MutableMapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import Response
from fastapi.routing import RouteContext
from starlette.staticfiles import StaticFiles

from headgate import __version__
from headgate.entrypoints.http.declarations import declarations
from headgate.entrypoints.http.headers import PAGE_POLICY, STATIC
from headgate.entrypoints.http.lazy_routes import load_routes
from headgate.features.access.caller import Needs, Public, public
from headgate.features.accounts.sessions.cookie import PLAIN_COOKIE, SECURE_COOKIE
from headgate.features.accounts.sessions.csrf import CSRF_HEADER
from headgate.foundation.api import problems

OPENAPI = "/api/v1/openapi.json"
ASSETS = Path(__file__).parent / "api_docs"
"""Files of a release of Swagger UI; `scripts/update-swagger-ui` replaces them."""
SCHEMES: dict[str, dict[str, str]] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key", "description": "An API key."},
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": SECURE_COOKIE,
        "description": (
            f"Session cookie of a browser; `{PLAIN_COOKIE}` where the server is not reached by "
            f"https. Changes also require the header `{CSRF_HEADER}`."
        ),
    },
}
"""Authentication schemes."""
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_LIMITED = {
    401: "Not signed in, or the API key is not valid.",
    403: "The user or the API key lacks the permission.",
    414: "The URL is too long; send long values in the body.",
    429: "Too many requests; `retry_after_seconds` says how long to wait.",
}


class Documented(FastAPI):
    """A FastAPI application whose OpenAPI document contains each route's permission."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, which is cached."""
        load_routes(self)
        made = self.openapi_schema
        document = super().openapi()
        if document is not made:
            document.setdefault("components", {})["securitySchemes"] = SCHEMES
            for route, needed in declarations(self):
                for operation in _operations(document, route):
                    _declare(operation, needed)
        return document


def documented_app(**more: Any) -> Documented:  # noqa: ANN401 - what FastAPI takes
    """The application, with the page at `/docs`. FastAPI's own page would fetch its scripts from the web."""
    app = Documented(
        title="Headgate",
        version=__version__,
        description="Self-hosted studio for AI flows. Errors are RFC 9457 problem documents with a stable `code`.",
        openapi_url=OPENAPI,
        docs_url=None,
        redoc_url=None,
        **more,
    )
    static = STATIC.rstrip("/")
    app.mount(static, StaticFiles(directory=ASSETS), name="static-offline-docs")

    @app.get("/docs", include_in_schema=False, dependencies=[public("shows the API and no user data")])
    async def docs() -> Response:
        page = get_swagger_ui_html(
            openapi_url=OPENAPI,
            title="Headgate API",
            swagger_js_url=f"{static}/swagger-ui-bundle.js",
            swagger_css_url=f"{static}/swagger-ui.css",
            swagger_favicon_url=f"{static}/favicon-32x32.png",
        )
        page.headers["Content-Security-Policy"] = _policy_of(bytes(page.body).decode())
        return page

    return app


def _policy_of(page: str) -> str:
    """Return the content security policy of pages, with the hashes of inline scripts."""
    hashes = [b64encode(sha256(script.encode()).digest()).decode() for script in _INLINE.findall(page)]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return PAGE_POLICY.replace("script-src 'self'", f"script-src 'self' {allowed}")


def _operations(document: dict[str, Any], route: RouteContext) -> list[MutableMapping[str, Any]]:
    methods = document["paths"].get(route.path_format, {})
    return [methods[method.lower()] for method in route.methods or () if method.lower() in methods]


def _declare(operation: MutableMapping[str, Any], needed: Needs | Public | None) -> None:
    description = operation.get("description", "")
    if isinstance(needed, Needs):
        operation["x-permission"] = needed.permission.value
        operation["description"] = f"{description}\n\nRequires the permission `{needed.permission}`.".strip()
        operation["security"] = [{name: []} for name in SCHEMES]
        for status, why in _LIMITED.items():
            answer = {"description": why, "content": problems(status)[status]["content"]}
            operation["responses"].setdefault(str(status), answer)
    elif isinstance(needed, Public):
        operation["x-permission"] = None
        operation["security"] = []
