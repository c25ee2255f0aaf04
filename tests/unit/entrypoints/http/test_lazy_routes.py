"""Routers that are loaded when they are needed."""

import sys
from importlib import import_module
from types import ModuleType

import pytest
from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Match
from tests.architecture.source import PACKAGE, modules

from headgate.entrypoints.http import health
from headgate.entrypoints.http.app import ROUTES
from headgate.entrypoints.http.declarations import Undeclared
from headgate.entrypoints.http.lazy_routes import LazyRouter, load_routes
from headgate.features.access.caller import public

LAZY = [route for route in ROUTES if isinstance(route, LazyRouter)]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = ModuleType("headgate_router_of_a_test")
    monkeypatch.setitem(sys.modules, found.__name__, found)
    found.router = APIRouter()  # type: ignore[attr-defined]
    return found


async def route() -> None:
    """Answers nothing."""


def scope(path: str) -> dict[str, object]:
    return {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}


class TestSegments:
    @pytest.mark.parametrize("lazy", LAZY, ids=lambda lazy: lazy.module)
    def test_are_those_of_the_routers_paths(self, lazy: LazyRouter) -> None:
        router: APIRouter = import_module(lazy.module).router
        paths = {getattr(route, "path", "").split("/")[1] for route in router.routes}
        assert lazy.segments == paths, f"name exactly these after {lazy.module} in entrypoints/http/app.py"

    def test_every_router_is_in_the_application_once(self) -> None:
        routers = {
            ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            for path in modules()
            if "\nrouter = APIRouter(" in path.read_text()
        }
        assert sorted(lazy.module for lazy in LAZY) == sorted(routers - {health.__name__})


class TestLazyRouter:
    def test_is_not_loaded_by_other_paths(self) -> None:
        lazy = LazyRouter("headgate.no_such_module", "things", prefix="/api")
        for path in ("/", "/things", "/api", "/api/thing", "/api/thingsome/1", "/apithings"):
            assert lazy.matches(scope(path))[0] is Match.NONE

    def test_is_loaded_by_a_path_of_its_own(self, module: ModuleType) -> None:
        module.router.add_api_route("/things/{name}", route, dependencies=[public("a test")])
        lazy = LazyRouter(module.__name__, "things", prefix="/api")
        assert lazy.matches(scope("/api/things/one"))[0] is Match.FULL
        assert lazy.matches(scope("/api/things"))[0] is Match.NONE

    def test_refuses_a_route_that_does_not_say_who_may_call_it(self, module: ModuleType) -> None:
        module.router.add_api_route("/things", route)
        with pytest.raises(Undeclared, match="GET /things"):
            LazyRouter(module.__name__, "things").matches(scope("/things"))


class TestLoading:
    def test_keeps_the_order(self) -> None:
        app = FastAPI(openapi_url=None)
        lazy: list[BaseRoute] = [LAZY[0], LAZY[1]]
        app.router.routes[:] = lazy
        load_routes(app)
        assert app.router.routes == [LAZY[0].load(), LAZY[1].load()]
