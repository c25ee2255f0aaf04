"""Serves the studio. Nothing of anybody is in it: the page asks the API."""

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse, Response

from headgate.entrypoints.http.studio.page import ASSETS_CACHE, BUILT, page_response
from headgate.features.access.caller import public
from headgate.foundation.errors import NotFound

router = APIRouter(include_in_schema=False)
_ANYBODY = public("The page itself; what it shows it asks the API for, as whoever is signed in.")
PLACES = (
    "/", "/templates", "/runs", "/observe", "/design", "/settings", "/settings/{rest:path}", "/flows/{rest:path}",
)  # fmt: skip
"""Addresses of the page; its own router tells them apart."""


async def studio(request: Request) -> Response:
    """The page, with a value of its own for style elements."""
    return page_response(request)


for _place in PLACES:
    router.add_api_route(_place, studio, methods=["GET"], dependencies=[_ANYBODY])


@router.get("/assets/{name}", dependencies=[_ANYBODY])
async def asset(name: str) -> Response:
    """A script, style or font of the page. Its name changes with its content, so it may be kept for ever."""
    path = BUILT / "assets" / name
    if "/" in name or "\\" in name or not path.is_file():
        raise NotFound("There is no such file of the page.")
    return FileResponse(path, headers={"Cache-Control": ASSETS_CACHE})


@router.get("/icon.svg", dependencies=[_ANYBODY])
async def icon() -> Response:
    """The picture in the browser's tab."""
    return FileResponse(BUILT / "icon.svg", headers={"Cache-Control": "max-age=3600"})


@router.get("/appearance.js", dependencies=[_ANYBODY])
async def appearance() -> Response:
    """The script that chooses light or dark before anything is drawn."""
    return FileResponse(BUILT / "appearance.js", headers={"Cache-Control": "no-cache"})
