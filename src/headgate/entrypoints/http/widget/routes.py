"""Serves the widget's two scripts, the page in its frame, and the pages of forms."""

import secrets
from html import escape
from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from pydantic import BaseModel

from headgate.entrypoints.http.studio.page import BUILT
from headgate.features.access.caller import public
from headgate.features.runs.widget.bounds import asks
from headgate.features.runs.widget.errors import WidgetNotFound
from headgate.features.runs.widget.service import find_widget, new_visit
from headgate.features.triggers.errors import FormNotFound
from headgate.features.triggers.forms.service import find_form
from headgate.features.triggers.schemas import FormPageOut
from headgate.foundation.api import get_database
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import RateLimited, Unavailable

router = APIRouter(include_in_schema=False)
_ANYBODY = public("Scripts and a page for visitors of external pages; a flow is shown only where it is offered.")
_SHARED = {"Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*"}
_SANDBOX = "allow-scripts allow-forms allow-downloads"
_PAGE_SANDBOX = f"{_SANDBOX} allow-popups allow-popups-to-escape-sandbox"
"""Of a form's page: links in its texts open."""
_OVER = frozenset({"closed", "link_spent"})
"""States of a form that was there and takes nothing more: 410."""
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>{title}</title>
</head>
<body>
<noscript>This form needs JavaScript.</noscript>
<div id="widget"></div>
<script id="about" type="application/json">{about}</script>
<script type="module" nonce="{nonce}" src="/w/frame.js"></script>
</body>
</html>
"""
_IN_WORDS = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{title}</title>
</head>
<body>
<h1>{title}</h1>
<p>{words}</p>
</body>
</html>
"""
_NOT_OFFERED = _IN_WORDS.format(
    title="Not available",
    words="The form or chat at this URL was switched off, or was never published. Ask the owner of the page.",
)
_TOO_OFTEN = "The form or chat was opened too often from your network. Reload the page in {seconds} seconds."


@router.get("/widget.js", dependencies=[_ANYBODY])
async def loader() -> Response:
    """The script that an outside page includes."""
    return _script("widget.js")


@router.get("/w/frame.js", dependencies=[_ANYBODY])
async def frame_script() -> Response:
    """The script of the page in the frame."""
    return _script("frame.js")


@router.get("/w/{flow_id}", dependencies=[_ANYBODY])
async def frame(flow_id: str, request: Request, database: Annotated[Database, Depends(get_database)]) -> Response:
    """The page in the frame: a form or chat of a flow that is offered."""
    nonce = secrets.token_urlsafe(16)
    try:
        await asks(request)
        widget = await find_widget(database, flow_id)
    except RateLimited as error:
        return _too_often(error, nonce)
    except WidgetNotFound as error:
        return HTMLResponse(_NOT_OFFERED, status_code=error.status, headers=_policy("*", nonce))
    box: SecretBox = request.app.state.box
    about = widget.shown(new_visit(box, widget))
    return HTMLResponse(_drawn(about, about.title, nonce), headers=_policy(widget.ancestors, nonce))


@router.get("/forms/{token}", dependencies=[_ANYBODY])
async def form(token: str, request: Request, database: Annotated[Database, Depends(get_database)]) -> Response:
    """The page of a form, at its address or that of a one-time link. No page may show it in a frame."""
    nonce = secrets.token_urlsafe(16)
    status, about = 200, FormPageOut(state="missing")
    try:
        await asks(request)
        about = (await find_form(database, token)).shown(request.app.state.box)
    except RateLimited as error:
        return _too_often(error, nonce)
    except FormNotFound as error:
        status = error.status
    if about.state in _OVER:
        status = 410
    headers = _policy("'none'", nonce, _PAGE_SANDBOX) | {"Cache-Control": "no-store"}
    return HTMLResponse(_drawn(about, about.title or "Form", nonce), status_code=status, headers=headers)


def _drawn(about: BaseModel, title: str, nonce: str) -> str:
    """Return a page that the frame's script draws."""
    content = orjson.dumps(about.model_dump(mode="json")).decode()
    return _PAGE.format(title=escape(title), about=_in_script(content), nonce=nonce)


def _too_often(error: RateLimited, nonce: str) -> Response:
    """Return a plain text page for a user in a frame."""
    seconds = str(error.extra["retry_after_seconds"])
    page = _IN_WORDS.format(title="Too many visitors", words=_TOO_OFTEN.format(seconds=seconds))
    headers = _policy("*", nonce) | {"Retry-After": seconds, "Cache-Control": "no-store"}
    return HTMLResponse(page, status_code=error.status, headers=headers)


def _policy(ancestors: str, nonce: str, sandbox: str = _SANDBOX) -> dict[str, str]:
    """Return the content security policy: only its own script and server; without an origin it has no cookies."""
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data: blob:; "
        f"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}; sandbox {sandbox}"
    )
    return {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}


def _in_script(text: str) -> str:
    """Return JSON that cannot end a script element."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _script(name: str) -> Response:
    path = BUILT / "widget" / name
    if not path.is_file():
        raise Unavailable("The widget's script is not built.", remedy="Run `make page` in a checkout.")
    headers = _SHARED | {"Cache-Control": "public, max-age=300, must-revalidate"}
    return FileResponse(path, media_type="text/javascript", headers=headers)
