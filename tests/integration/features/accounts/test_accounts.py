from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, DEFAULT_USER_ID, LOCAL
from headgate.features.accounts.routes import router
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.api import api


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    async with api(router, database=database) as found:
        yield found


class TestMe:
    async def test_names_tenant_user_and_space(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/me")).json() == {
            "tenant": {"id": DEFAULT_TENANT_ID, "name": "Default"},
            "user": {"id": DEFAULT_USER_ID, "name": "local"},
            "space": {"id": DEFAULT_SPACE_ID, "name": "Personal"},
        }

    @pytest.mark.parametrize("part", ["tenant_id", "user_id", "space_id"])
    async def test_answers_404_when_a_part_is_gone(self, database: Database, part: str) -> None:
        gone: dict[str, Any] = {part: new_id()}
        async with api(router, principal=replace(LOCAL, **gone), database=database) as client:
            assert (await client.get("/me")).json()["code"] == "account_not_found"
