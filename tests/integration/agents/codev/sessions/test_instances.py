"""Which server a session works on: the one that it began on, whatever becomes of the others."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from headgate.agents.codev.schemas import InstanceOut
from headgate.agents.codev.sessions.places import Place
from headgate.features.access.principal import Principal
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.support.codev_place import FakePlace
from tests.support.codev_sessions import open_bench


class TestInstance:
    async def test_of_a_session_that_names_none_is_the_first_there_was(
        self, settings: Settings, database: Database
    ) -> None:
        """What was approved for one server is not written to another, which became the first meanwhile."""
        servers = [InstanceOut(id=one, endpoint=f"http://{one}.example") for one in ("staging", "production")]

        async def instances(_principal: Principal) -> Sequence[InstanceOut]:
            return servers

        async with open_bench(settings, database, FakePlace(greeter="nothing")) as bench:
            places = cast("dict[str, Place]", bench.runner.around.places)
            places["memory"] = replace(places["memory"], instances=instances)
            waiting = await bench.start(flow_id="greeter")
            assert waiting.instance_id == "staging"
            servers.reverse()
            await bench.answer(waiting, approved=True)
            assert {instance for _, _, instance in bench.domain.opened} == {"staging"}
