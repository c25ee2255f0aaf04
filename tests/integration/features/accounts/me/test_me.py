from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from headgate.features.access.permissions import TABLE, Permission, Role, is_of_space
from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, DEFAULT_USER_ID, LOCAL, Access
from headgate.features.accounts.me.routes import router
from headgate.features.accounts.me.service import rights_of
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.support.api import api


@pytest.fixture
async def client(database: Database, settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    async with api(router, database=database, settings=settings) as found:
        yield found


class TestMe:
    async def test_names_tenant_user_and_space(self, client: httpx2.AsyncClient) -> None:
        found = (await client.get("/me")).json()
        assert found.pop("permissions")["spaces"] == []
        assert found == {
            "tenant": {"id": DEFAULT_TENANT_ID, "name": "Default"},
            "user": {"id": DEFAULT_USER_ID, "name": "local", "kind": "user", "email": None, "role": "admin"},
            "space": {"id": DEFAULT_SPACE_ID, "name": "Personal"},
            "signed_in_by": "auto_login",
            "second_factor_missing": False,
            "csrf_token": None,
        }

    @pytest.mark.parametrize("part", ["tenant_id", "user_id"])
    async def test_answers_404_when_a_part_is_gone(self, database: Database, settings: Settings, part: str) -> None:
        gone: dict[str, Any] = {part: new_id()}
        async with api(router, principal=replace(LOCAL, **gone), database=database, settings=settings) as client:
            assert (await client.get("/me")).json()["code"] == "account_not_found"

    async def test_has_no_space_when_it_is_gone(self, database: Database, settings: Settings) -> None:
        homeless = replace(LOCAL, space_id="")
        async with api(router, principal=homeless, database=database, settings=settings) as client:
            assert (await client.get("/me")).json()["space"] is None


class TestRightsOf:
    def test_of_an_admin_are_everywhere(self) -> None:
        found = rights_of(LOCAL)
        assert {*found.tenant, *found.every_space} == set(TABLE)
        assert found.spaces == []

    def test_of_a_member_are_those_of_their_roles(self) -> None:
        found = rights_of(replace(LOCAL, access=Access(roles={"a": Role.RUNNER, "b": Role.VIEWER})))
        assert Permission.PEOPLE_VIEW in found.tenant
        assert Permission.PEOPLE_MANAGE not in found.tenant
        assert found.every_space == []
        (runner, viewer) = found.spaces
        assert (runner.space_id, runner.role, viewer.role) == ("a", Role.RUNNER, Role.VIEWER)
        assert Permission.RUNS_START in runner.permissions
        assert Permission.RUNS_START not in viewer.permissions
        assert all(is_of_space(one) for one in runner.permissions)

    def test_of_a_key_are_its_scopes_in_its_spaces(self) -> None:
        access = Access(admin=True, scopes=frozenset({Permission.RUNS_START}), spaces=frozenset({"a"}))
        found = rights_of(replace(LOCAL, access=access))
        assert (found.tenant, found.every_space) == ([], [])
        ((only,),) = (found.spaces,)
        assert (only.space_id, only.role, only.permissions) == ("a", None, [Permission.RUNS_START])
