"""Serves the studio. Nothing of anybody is in it: the page asks the API."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import RedirectResponse, Response

from headgate.entrypoints.http.studio.assets import BRIEFLY, FOR_EVER, file_response
from headgate.entrypoints.http.studio.page import BUILT, page_response
from headgate.features.access.caller import public
from headgate.features.accounts.sessions.own_path import HOME, own_path
from headgate.foundation.errors import NotFound
from headgate.foundation.settings import Settings

router = APIRouter(include_in_schema=False)
_ANYBODY = public("The page itself; what it shows it asks the API for, as whoever is signed in.")
_HOME, _FLOW = "src/features/home/index.tsx", ("src/app/flow/FlowPage.tsx", "src/app/flow/views.tsx")
_ACCOUNT = "src/features/account/index.tsx"
PLACES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("/", (_HOME,)),
    ("/templates", (_HOME,)),
    ("/runs", ("src/features/runs/index.tsx",)),
    ("/develop", ("src/features/codev/index.tsx",)),
    ("/develop/{rest:path}", ("src/features/codev/index.tsx",)),
    ("/observe", ("src/features/observe/index.tsx",)),
    ("/design", ()),
    ("/settings", ("src/features/settings/index.tsx",)),
    ("/settings/{rest:path}", ("src/features/settings/index.tsx",)),
    ("/flows/{rest:path}", _FLOW),
    ("/set-password", (_ACCOUNT,)),
)
"""Addresses of the page, and the modules that each begins with; the page's own router knows the rest."""
Accepted = Annotated[str, Header(alias="accept-encoding")]


def _place(modules: tuple[str, ...]) -> Callable[[], Awaitable[Response]]:
    async def studio() -> Response:
        return page_response(modules)

    return studio


for _path, _modules in PLACES:
    router.add_api_route(_path, _place(_modules), methods=["GET", "HEAD"], dependencies=[_ANYBODY])


@router.get("/sign-in", dependencies=[_ANYBODY])
async def sign_in(request: Request, wanted: Annotated[str, Query(alias="next")] = HOME) -> Response:
    """The page that asks people in; with auto-login there is nothing to ask."""
    settings: Settings = request.app.state.settings
    if settings.server.auto_login:
        return RedirectResponse(own_path(wanted), status_code=303)
    return page_response((_ACCOUNT,))


@router.get("/assets/{name}", dependencies=[_ANYBODY])
async def asset(name: str, accepted: Accepted = "") -> Response:
    """A script, style or font of the page."""
    if "/" in name or "\\" in name:
        raise NotFound("There is no such file of the page.")
    return file_response(BUILT / "assets" / name, accepted, cache=FOR_EVER)


@router.get("/icon.svg", dependencies=[_ANYBODY])
async def icon(accepted: Accepted = "") -> Response:
    """The picture in the browser's tab."""
    return file_response(BUILT / "icon.svg", accepted, cache=BRIEFLY)


@router.get("/appearance.js", dependencies=[_ANYBODY])
async def appearance(accepted: Accepted = "") -> Response:
    """The script that chooses light or dark before anything is drawn."""
    return file_response(BUILT / "appearance.js", accepted, cache=BRIEFLY)
