from collections.abc import AsyncIterator
from dataclasses import replace

import httpx2
import pytest

from headgate.features.access.principal import DEFAULT_USER_ID, LOCAL
from headgate.features.accounts.spaces.errors import AmbiguousSpace
from headgate.features.accounts.spaces.routes import router
from headgate.features.accounts.spaces.service import get_space_named
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.api import api
from tests.support.tenants import add_space, add_tenant


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    async with api(router, database=database) as found:
        yield found


class TestSpaces:
    async def test_are_created_and_listed_oldest_first(self, client: httpx2.AsyncClient) -> None:
        made = await client.post("/spaces", json={"name": "  Research  "})
        assert (made.status_code, made.json()["name"]) == (201, "Research")
        assert made.json()["owner_user_id"] == DEFAULT_USER_ID
        items = (await client.get("/spaces")).json()["items"]
        assert [item["name"] for item in items] == ["Personal", "Research"]

    async def test_come_in_pages(self, client: httpx2.AsyncClient) -> None:
        for number in range(4):
            await client.post("/spaces", json={"name": f"Space {number}"})
        seen: list[str] = []
        cursor: str | None = None
        for _ in range(3):
            page = (await client.get("/spaces", params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
            seen += [item["name"] for item in page["items"]]
            cursor = page["next_cursor"]
        assert seen == ["Personal", "Space 0", "Space 1", "Space 2", "Space 3"]
        assert cursor is None

    async def test_have_a_name_of_their_own(self, client: httpx2.AsyncClient) -> None:
        answer = await client.post("/spaces", json={"name": "Personal"})
        assert (answer.status_code, answer.json()["code"]) == (409, "space_name_taken")

    async def test_of_one_name_are_told_apart_by_their_ids(self, database: Database) -> None:
        twice = [replace(LOCAL, space_id=new_id()) for _ in range(2)]
        for one in twice:
            await add_space(database, one, name="Permits")
        async with database.reading() as session:
            with pytest.raises(AmbiguousSpace) as refused:
                await get_space_named(session, LOCAL, "Permits")
        assert refused.value.extra["spaces"] == sorted(one.space_id for one in twice)

    @pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\x00b", "a\nb", None, 7])
    async def test_refuse_what_is_no_name(self, client: httpx2.AsyncClient, name: object) -> None:
        assert (await client.post("/spaces", json={"name": name})).status_code == 422

    async def test_refuse_a_cursor_that_is_none(self, client: httpx2.AsyncClient) -> None:
        assert (await client.get("/spaces", params={"cursor": "x\x00"})).status_code == 422

    async def test_belong_to_one_tenant(self, client: httpx2.AsyncClient, database: Database) -> None:
        async with api(router, principal=await add_tenant(database), database=database) as theirs:
            assert (await theirs.post("/spaces", json={"name": "Research"})).status_code == 201
            assert (await client.post("/spaces", json={"name": "Research"})).status_code == 201
            assert len((await theirs.get("/spaces")).json()["items"]) == 2
