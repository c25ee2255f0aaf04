"""Routes that declare what they need."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from headgate.features.access.caller import Caller, Needs, Public, declared, needs, public
from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL, Access, Principal
from tests.support.api import api


def route_with(*dependencies: Any) -> APIRoute:
    router = APIRouter()

    @router.get("/thing", dependencies=list(dependencies))
    async def read() -> str:
        return "seen"

    found = router.routes[0]
    assert isinstance(found, APIRoute)
    return found


class TestDeclared:
    def test_is_the_one_declaration(self) -> None:
        assert declared(route_with(needs(Permission.FLOWS_VIEW))) == Needs(Permission.FLOWS_VIEW)
        assert declared(route_with(public("It is a greeting."))) == Public("It is a greeting.")

    def test_is_nothing_without_one(self) -> None:
        assert declared(route_with()) is None

    @pytest.mark.parametrize(
        "second", [needs(Permission.FLOWS_VIEW), needs(Permission.FLOWS_EDIT), public("Nobody minds.")]
    )
    def test_is_nothing_with_two(self, second: Any) -> None:
        assert declared(route_with(needs(Permission.FLOWS_VIEW), second)) is None


ROUTER = APIRouter()


@ROUTER.get("/audit", dependencies=[needs(Permission.AUDIT_VIEW)])
async def audit() -> str:
    return "the log"


@ROUTER.get("/flows", dependencies=[needs(Permission.FLOWS_VIEW)])
async def flows(caller: Caller) -> list[str] | None:
    return None if caller.visible_spaces is None else sorted(caller.visible_spaces)


@ROUTER.get("/greeting", dependencies=[public("It is a greeting.")])
async def greeting() -> str:
    return "hello"


class Nobody:
    """Fails when it is asked: a public route need not know who calls."""

    async def identify(self, request: Any) -> Principal:
        raise AssertionError(f"{request.url.path} asked who is calling")


class TestNeeds:
    @pytest.fixture(
        params=[
            (Access(), 403, 200),
            (Access(roles={"one": Role.OWNER}), 403, 200),
            (Access(admin=True), 200, 200),
            (Access(admin=True, scopes=frozenset({Permission.AUDIT_VIEW})), 200, 403),
            (Access(admin=True, scopes=frozenset({Permission.FLOWS_VIEW})), 403, 200),
            (Access(roles={"one": Role.OWNER}, scopes=frozenset({Permission.FLOWS_VIEW})), 403, 200),
        ]
    )
    def case(self, request: pytest.FixtureRequest) -> Iterable[Any]:
        found: tuple[Access, int, int] = request.param
        return found

    @pytest.fixture
    async def answers(self, case: tuple[Access, int, int]) -> AsyncIterator[Any]:
        caller = Principal(tenant_id=DEFAULT_TENANT_ID, user_id="x", space_id="", access=case[0])
        async with api(ROUTER, principal=caller) as client:
            yield [await client.get(path) for path in ("audit", "flows")]

    def test_decides_for_the_tenant_and_leaves_spaces_to_the_service(
        self, case: tuple[Access, int, int], answers: list[Any]
    ) -> None:
        assert [answer.status_code for answer in answers] == list(case[1:])
        for answer, permission in zip(answers, ("audit.view", "flows.view"), strict=True):
            if answer.status_code == 403:
                assert answer.json()["code"] == "permission_missing"
                assert answer.json()["permission"] == permission


class TestPublic:
    async def test_asks_nobody_who_they_are(self) -> None:
        async with api(ROUTER, principal=LOCAL, identity=Nobody()) as client:
            assert (await client.get("greeting")).json() == "hello"
