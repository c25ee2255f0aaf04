"""Nothing is served that does not say who may ask for it; the OpenAPI document says it too."""

import pytest
from fastapi import APIRouter, FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.entrypoints.http.declarations import Undeclared, refuse_undeclared, undeclared
from headgate.features.access.caller import needs, public
from headgate.features.access.permissions import Permission
from headgate.foundation.settings import Settings


async def route() -> None: ...


class TestRefuseUndeclared:
    @pytest.mark.parametrize(
        "dependencies",
        [[], [needs(Permission.FLOWS_VIEW), public("twice")], [needs(Permission.FLOWS_VIEW)] * 2],
        ids=["none", "both", "two"],
    )
    def test_names_the_route(self, dependencies: list[object]) -> None:
        app, router = FastAPI(), APIRouter(prefix="/inner")
        router.add_api_route("/good", route, dependencies=[needs(Permission.FLOWS_VIEW)])
        router.add_api_route("/bad", route, methods=["POST"], dependencies=dependencies)  # type: ignore[arg-type]
        app.include_router(router, prefix="/outer")
        assert undeclared(app.routes) == ["POST /inner/bad"]
        with pytest.raises(Undeclared, match="POST /inner/bad"):
            refuse_undeclared(app.routes)

    def test_stops_the_application(self, monkeypatch: pytest.MonkeyPatch) -> None:
        router = APIRouter()
        router.add_api_route("/forgotten", route)
        monkeypatch.setattr("headgate.entrypoints.http.app.ROUTES", router.routes)
        with pytest.raises(Undeclared, match="GET /forgotten"):
            create_app(Settings())


class TestDocument:
    def test_says_what_each_route_needs_and_how_to_sign_in(self) -> None:
        document = create_app(Settings()).openapi()
        schemes = document["components"]["securitySchemes"]
        assert set(schemes) == {"bearer", "apiKey", "session"}
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                permission = operation["x-permission"]
                assert [next(iter(one)) for one in operation["security"]] == (list(schemes) if permission else [])
                if permission:
                    assert permission in set(Permission), f"{method} {path}"
                    assert f"`{permission}`" in operation["description"]
                    assert {"401", "403", "429"} <= operation["responses"].keys()
