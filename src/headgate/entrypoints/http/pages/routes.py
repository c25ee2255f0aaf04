"""Serves the pages. Nothing of anybody is in them: the script asks the API."""

from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from headgate.entrypoints.http.pages.texts import texts_for
from headgate.features.access.caller import public
from headgate.foundation.settings import Settings

router = APIRouter(include_in_schema=False)
HOME = "/docs"
"""Where people go who wanted nothing else, until the studio's page is served."""
_ANYBODY = public("The pages with which people sign in; they name nobody.")
Language = Annotated[str, Header(alias="accept-language")]


@router.get("/sign-in", dependencies=[_ANYBODY])
async def sign_in(
    request: Request, language: Language = "", wanted: Annotated[str, Query(alias="next")] = HOME
) -> Response:
    """The page that asks for e-mail address and password; with auto-login there is nothing to ask."""
    settings: Settings = request.app.state.settings
    home = own_path(wanted)
    if settings.server.auto_login:
        return RedirectResponse(home, status_code=303)
    other = settings.single_sign_on
    more = {
        "home": home,
        "other_way": f"/api/v1/sign-in/oidc?next={quote(home, safe='')}",
        "other_name": other.name,
        "other_hidden": "" if other.issuer else "hidden",
    }
    return _page("sign-in.html", language, more)


@router.get("/set-password", dependencies=[_ANYBODY])
async def set_password(language: Language = "") -> Response:
    """The page that a one-time link opens. The link's token stands behind the `#`, which no server is sent."""
    return _page("set-password.html", language, {"home": HOME})


@router.get("/pages/account.css", dependencies=[_ANYBODY])
async def style() -> Response:
    """How the pages look."""
    return Response(_file("account.css"), media_type="text/css; charset=utf-8")


@router.get("/pages/account.js", dependencies=[_ANYBODY])
async def script() -> Response:
    """What the pages do."""
    return Response(_file("account.js"), media_type="text/javascript; charset=utf-8")


def own_path(wanted: str) -> str:
    r"""A path of this server, or the home page: `//evil.example`, `/\evil.example` and the like lead elsewhere."""
    plain = wanted.isprintable() and "\\" not in wanted and not any(letter.isspace() for letter in wanted)
    if not plain or not wanted.startswith("/") or wanted.startswith("//") or len(wanted) > 2000:
        return HOME
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return HOME
    return HOME if parts.scheme or parts.netloc else wanted


def _page(name: str, language: str, more: Mapping[str, str]) -> Response:
    texts = texts_for(language)
    values = {key: escape(value) for key, value in {**texts, **more}.items()}
    headers = {"Content-Language": texts["lang"], "Vary": "Accept-Language"}
    return HTMLResponse(Template(_file(name)).substitute(values), headers=headers)


@cache
def _file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
