"""Routers that are loaded when they are needed."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Iterator
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

import httpx2
import pytest
from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Match
from tests.architecture.source import PACKAGE, modules

from headgate.entrypoints.compose import Parts
from headgate.entrypoints.http import health
from headgate.entrypoints.http.app import ROUTES, begin
from headgate.entrypoints.http.declarations import Undeclared
from headgate.entrypoints.http.errors import install
from headgate.entrypoints.http.lazy_routes import LazyRouter, load_routes, warm_routes
from headgate.entrypoints.http.loop_lag import LoopLag
from headgate.entrypoints.services import StepServices
from headgate.features.access.caller import public
from headgate.features.catalog.registry import Registry
from headgate.sdk import Component

FAILING = "headgate_router_that_fails"
LAZY = [route for route in ROUTES if isinstance(route, LazyRouter)]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("headgate_router_of_a_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.router = APIRouter()  # type: ignore[attr-defined]
    return module


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Event and router, or work, of every error that is logged."""
    lines: list[tuple[str, ...]] = []

    class Log:
        def exception(self, event: str, **named: str) -> None:
            lines.append((event, *named.values()))

    for module in ("headgate.entrypoints.http.lazy_routes", "headgate.entrypoints.compose"):
        monkeypatch.setattr(f"{module}.log", Log())
    return lines


@pytest.fixture
async def client(module: ModuleType) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an application whose first router fails to load and whose second one answers."""
    module.router.add_api_route("/things/{name}", route, dependencies=[public("a test")])
    app = FastAPI(openapi_url=None)
    install(app)
    app.router.routes[:] = [
        LazyRouter(FAILING, "things", "others", prefix="/api"),
        LazyRouter(module.__name__, "things", prefix="/api"),
    ]
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as made:
        yield made


async def route() -> None:
    """Answers nothing."""


def scope(path: str) -> dict[str, object]:
    return {"type": "http", "method": "GET", "path": path, "root_path": "", "headers": []}


class TestSegments:
    def test_are_those_of_the_routers_paths(self) -> None:
        for lazy in LAZY:
            router: APIRouter = import_module(lazy.module).router
            paths = {getattr(route, "path", "").split("/")[1] for route in router.routes}
            assert lazy.segments == paths, f"name exactly these after {lazy.module} in entrypoints/http/app.py"

    def test_every_router_is_in_the_application_once(self) -> None:
        routers = {
            ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            for path in modules()
            if re.search(r"^router = (APIRouter|Routes)\(", path.read_text(), re.MULTILINE)
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
        lazy = LazyRouter(module.__name__, "things")
        for _ in ("at first", "and again"):
            with pytest.raises(Undeclared, match="GET /things"):
                lazy.load()

    async def test_that_fails_answers_a_problem_and_tries_again(
        self, client: httpx2.AsyncClient, logged: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for count in (1, 2):
            answer = await client.get("/api/others")
            assert (answer.status_code, answer.json()["code"]) == (500, "router_not_loaded")
            assert answer.headers["content-type"] == "application/problem+json"
            assert logged == [("router not loaded", FAILING)] * count
        corrected = ModuleType(FAILING)
        corrected.router = APIRouter()  # type: ignore[attr-defined]
        corrected.router.add_api_route("/others", route, dependencies=[public("a test")])
        monkeypatch.setitem(sys.modules, FAILING, corrected)
        assert (await client.get("/api/others")).status_code == 200
        assert len(logged) == 2

    async def test_that_fails_leaves_others_their_addresses(
        self, client: httpx2.AsyncClient, logged: list[tuple[str, ...]]
    ) -> None:
        assert (await client.get("/api/things/one")).status_code == 200
        assert logged == [("router not loaded", FAILING)]


class TestLoading:
    def test_keeps_the_order(self) -> None:
        app = FastAPI(openapi_url=None)
        lazy: list[BaseRoute] = [LAZY[0], LAZY[1]]
        app.router.routes[:] = lazy
        load_routes(app)
        assert app.router.routes == [LAZY[0].load(), LAZY[1].load()]

    async def test_in_the_background_goes_past_a_router_that_fails(
        self, module: ModuleType, logged: list[tuple[str, ...]]
    ) -> None:
        app = FastAPI(openapi_url=None)
        failing, lazy = LazyRouter(FAILING, "others"), LazyRouter(module.__name__, "things")
        app.router.routes[:] = [failing, lazy]
        await warm_routes(app)
        assert app.router.routes == [failing, lazy.load()]
        assert logged == [("router not loaded", FAILING)]

    async def test_in_the_background_lets_requests_be_answered_between_two_routers(
        self, module: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        app = FastAPI(openapi_url=None)
        app.router.routes[:] = [LazyRouter(module.__name__, "things", prefix=f"/{number}") for number in range(3)]
        left: list[int] = []
        sleep = asyncio.sleep

        async def pause(seconds: float) -> None:
            assert seconds > 0, "one turn of the loop does not answer a request"
            left.append(sum(isinstance(one, LazyRouter) for one in app.router.routes))
            await sleep(0)

        monkeypatch.setattr("headgate.entrypoints.http.lazy_routes.asyncio.sleep", pause)
        await warm_routes(app)
        assert left == [2, 1, 0]


class ServicesOfTest(StepServices):
    """Services of which only the deliveries exist."""

    def __init__(self, parts: "PartsOfTest") -> None:
        self._parts = parts

    @property
    def deliveries(self) -> Any:
        return self._parts._made("deliveries")

    @property
    def notices(self) -> Any:
        return self._parts._made("notices")

    @property
    def indexer(self) -> Any:
        return self._parts._made("knowledge")


class PartsOfTest(Parts):
    """Parts of which only the background work exists."""

    def __init__(self, **failing: bool) -> None:
        self.failing = failing
        self.started: list[str] = []
        self.services = ServicesOfTest(self)

    def _made(self, name: str) -> Any:
        if self.failing.get(name):
            raise ImportError(name)
        self.started.append(name)

    @cached_property
    def registry(self) -> Registry:
        class Components:
            def __iter__(components) -> Iterator[type[Component]]:  # noqa: N805
                self._made("components")
                return iter(())

        return Registry(Components())

    @property
    def rotation(self) -> Any:
        return self._made("keys")

    @property
    def maintenance(self) -> Any:
        return self._made("maintenance")

    @property
    def tests(self) -> Any:
        return self._made("tests")

    @property
    def _scheduler(self) -> Any:
        return self._made("triggers")

    @property
    def _slos(self) -> Any:
        return self._made("service levels")

    @property
    def _alerts(self) -> Any:
        return self._made("alerts")

    @property
    def alert_sender(self) -> Any:
        return self._made("notices of alerts")

    @property
    def source_sync(self) -> Any:
        return self._made("knowledge sources")

    @property
    def _development(self) -> Any:
        return self._made("development")


@pytest.fixture
async def app() -> AsyncIterator[FastAPI]:
    """An application whose only router fails to load."""
    made = FastAPI(openapi_url=None)
    made.router.routes[:] = [LazyRouter(FAILING, "others")]
    made.state.loop_lag = LoopLag()
    yield made
    made.state.loop_lag.stop()


class TestBegin:
    async def test_background_work_starts_though_a_router_fails(
        self, app: FastAPI, logged: list[tuple[str, ...]]
    ) -> None:
        parts = PartsOfTest()
        await begin(app, parts, recover=True)
        assert parts.started == [
            *("deliveries", "notices", "components", "maintenance", "keys", "tests", "triggers"),
            *("service levels", "alerts", "notices of alerts", "knowledge", "knowledge sources", "development"),
        ]
        assert logged == [("router not loaded", FAILING)]

    async def test_background_work_starts_though_other_work_does_not(
        self, app: FastAPI, logged: list[tuple[str, ...]]
    ) -> None:
        parts = PartsOfTest(maintenance=True)
        await begin(app, parts, recover=True)
        assert parts.started == [
            *("deliveries", "notices", "components", "keys", "tests", "triggers"),
            *("service levels", "alerts", "notices of alerts", "knowledge", "knowledge sources"),
            "development",
        ]
        assert logged[1:] == [("background jobs not started", "maintenance")]
