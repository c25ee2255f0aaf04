"""One's own components in the catalogue: in the list and in searches, for the person who made them alone."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.features.access.permissions import Role
from headgate.features.access.principal import Access, Principal
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.foundation.settings import Settings
from headgate.graph.manifest import NOTHING
from headgate.graph.ports import PortType
from headgate.graph.template import OutputTemplate, Template
from tests.support.own_code import REVERSE
from tests.support.team import Team, team

MADE = CheckedComponent(
    code=REVERSE,
    template=Template(
        type="ReverseText",
        label="Reverse text",
        description="Turns text around.",
        category="own",
        outputs=(OutputTemplate(name="reversed_text", type=PortType.TEXT),),
    ),
    manifest=NOTHING,
)


@pytest.fixture
async def house(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as found:
        person = found.people["editor"]
        maker = Principal(person.tenant_id, person.id, found.space, Access(roles={found.space: Role.EDITOR}))
        assert await found.app.state.workshop.components.keep(maker, MADE) == ""
        yield found


async def own(house: Team, who: str) -> list[Any]:
    return [one for one in await house.get(who, "/components") if one.get("code")]


class TestOwnComponents:
    async def test_are_in_the_list_with_their_code_for_their_maker_alone(self, house: Team) -> None:
        (mine,) = await own(house, "editor")
        assert (mine["type"], mine["code"], mine["label"]) == ("ReverseText", REVERSE, "Reverse text")
        assert await own(house, "owner") == []

    async def test_have_an_etag_of_their_maker(self, house: Team) -> None:
        mine = await house.ask("editor", "GET", "/components")
        theirs = await house.ask("owner", "GET", "/components")
        assert mine.headers["etag"] != theirs.headers["etag"]
        for who, status in (("editor", 304), ("owner", 200)):
            again = await house.ask(who, "GET", "/components", headers={"if-none-match": mine.headers["etag"]})
            assert again.status_code == status

    async def test_are_found_by_what_they_do(self, house: Team) -> None:
        found = await house.get("editor", "/components/search?q=turn text around")
        assert [one["type"] for one in found if one.get("own")] == ["ReverseText"]
        others = await house.get("owner", "/components/search?q=turn text around")
        assert "ReverseText" not in {one["type"] for one in others}

    async def test_are_read_one_by_one(self, house: Team) -> None:
        assert (await house.get("editor", "/components/ReverseText"))["code"] == REVERSE
        assert (await house.ask("owner", "GET", "/components/ReverseText")).status_code == 404
        assert (await house.get("owner", "/components/ChatInput"))["code"] is None
