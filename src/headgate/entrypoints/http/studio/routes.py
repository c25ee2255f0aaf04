"""Serves the studio, without user data: the page requests it from the API."""

import mimetypes
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import FileResponse, RedirectResponse, Response

from headgate.entrypoints.http.studio.page import BUILT, page_response
from headgate.features.access.caller import public
from headgate.features.accounts.sessions.cookie import session_token
from headgate.features.accounts.sessions.own_path import HOME, own_path
from headgate.foundation.errors import NotFound
from headgate.foundation.settings import ServerSettings, Settings

FOR_EVER = "public, max-age=31536000, immutable"
"""For files whose names contain a hash of their content."""
BRIEFLY = "public, max-age=3600"
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))


def file_response(path: Path, accepted: str, *, cache: str) -> Response:
    """A file of the page, in the best encoding of those that the browser takes.

    Raises:
        NotFound: There is no such file of the page.
    """
    if not path.is_relative_to(BUILT) or not path.is_file():
        raise NotFound("The studio has no such file.")
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
    taken = {part.split(";")[0].strip() for part in accepted.split(",")}
    for encoding, ending in _ENCODINGS:
        compressed = path.with_name(path.name + ending)
        if encoding in taken and compressed.is_file():
            return FileResponse(compressed, headers={**headers, "Content-Encoding": encoding}, media_type=media_type)
    return FileResponse(path, headers=headers, media_type=media_type)


router = APIRouter(include_in_schema=False)
_ANYBODY = public("The page itself; it requests its data from the API as the signed-in user.")
_HOME, _FLOW = "src/features/home/index.tsx", ("src/app/flow/FlowPage.tsx", "src/app/flow/views.tsx")
_CHAT = "src/features/runs/chat/index.ts"
_ACCOUNT = "src/features/account/index.tsx"
_ME = "/api/v1/me"


class Place(NamedTuple):
    """A path of the page, its initial modules, and its initial API requests."""

    path: str
    modules: tuple[str, ...]
    calls: tuple[str, ...] = (_ME,)


PLACES = (
    Place("/", (_HOME,)),
    Place("/templates", (_HOME,)),
    Place("/runs", ("src/features/runs/index.tsx",)),
    Place("/chat", (_CHAT,)),
    Place("/chat/{flow_id:uuid}", (_CHAT,), (_ME, "/api/v1/chat/flows/{flow_id}")),
    Place("/chat/{flow_id:uuid}/{conversation_id:uuid}", (_CHAT,), (_ME, "/api/v1/chat/flows/{flow_id}")),
    Place("/triggers", ("src/features/triggers/index.ts",)),
    Place("/alerts", ("src/features/alerts/index.ts",)),
    Place("/queue", ("src/features/observe/index.tsx",)),
    Place("/service-levels", ("src/features/observe/index.tsx",)),
    Place("/inbox", ("src/features/inbox/index.ts",)),
    Place("/inbox/{approval_id:uuid}", ("src/features/inbox/index.ts",)),
    Place("/knowledge", ("src/features/knowledge/index.ts",)),
    Place("/knowledge/{base_id:uuid}", ("src/features/knowledge/index.ts",)),
    Place("/develop", ("src/features/codev/index.tsx",)),
    Place("/develop/{rest:path}", ("src/features/codev/index.tsx",)),
    Place("/observe", ("src/features/observe/index.tsx",)),
    Place("/design", ()),
    Place("/settings", ("src/features/settings/index.tsx",)),
    Place("/settings/{rest:path}", ("src/features/settings/index.tsx",)),
    Place("/flows/{flow_id:uuid}", _FLOW, (_ME, "/api/v1/flows/{flow_id}", "/api/v1/components")),
    Place("/flows/{rest:path}", _FLOW),
    Place("/set-password", (_ACCOUNT,), ()),
    Place("/review", ("src/features/inbox/index.ts",), ()),
)
"""The page's own router knows all others."""
Accepted = Annotated[str, Header(alias="accept-encoding")]


def _answering(place: Place) -> Callable[[Request], Awaitable[Response]]:
    async def studio(request: Request) -> Response:
        server: ServerSettings = request.app.state.settings.server
        known = server.auto_login or session_token(request, server) is not None  # others get no information
        calls = (call.format(**request.path_params) for call in place.calls if known)
        return page_response(place.modules, tuple(calls))

    return studio


for _place in PLACES:
    router.add_api_route(_place.path, _answering(_place), methods=["GET", "HEAD"], dependencies=[_ANYBODY])


@router.get("/sign-in", dependencies=[_ANYBODY])
async def sign_in(request: Request, path: Annotated[str, Query(alias="next")] = HOME) -> Response:
    """Return the sign-in page; with auto-login it redirects."""
    settings: Settings = request.app.state.settings
    if settings.server.auto_login:
        return RedirectResponse(own_path(path), status_code=303)
    return page_response((_ACCOUNT,))


@router.get("/assets/{name}", dependencies=[_ANYBODY])
async def asset(name: str, accepted: Accepted = "") -> Response:
    """A script, style or font of the page."""
    if "/" in name or "\\" in name:
        raise NotFound("The studio has no such file.")
    return file_response(BUILT / "assets" / name, accepted, cache=FOR_EVER)


@router.get("/icon.svg", dependencies=[_ANYBODY])
async def icon(accepted: Accepted = "") -> Response:
    """The picture in the browser's tab."""
    return file_response(BUILT / "icon.svg", accepted, cache=BRIEFLY)


@router.get("/appearance.js", dependencies=[_ANYBODY])
async def appearance(accepted: Accepted = "") -> Response:
    """The script that chooses light or dark before anything is drawn."""
    return file_response(BUILT / "appearance.js", accepted, cache=BRIEFLY)
