"""The tool `set_schedule` changes what it is given, and nothing else."""

from typing import Any

from headgate.entrypoints.mcp.studio import studio_of
from headgate.features.access.principal import LOCAL
from headgate.toolkit.operations import OPERATIONS
from headgate.toolkit.stored.visit import Visit
from tests.integration.features.triggers.conftest import add, published
from tests.support.team import Team

ZONE = "Europe/Stockholm"
INPUT = {"text": "good morning", "form_data": {"who": "Eva"}, "file_ids": []}


async def set_schedule(us: Team, flow_id: str, **arguments: Any) -> dict[str, Any]:
    visit = Visit(studio_of(us.app.state._state["parts"][2]), LOCAL)
    line = await OPERATIONS["set_schedule"].call(visit, {"flow_id": flow_id, "name": "Nightly", **arguments})
    trigger: dict[str, Any] = await us.get("publisher", f"/triggers/{line['trigger_id']}")
    return trigger


class TestSetSchedule:
    async def test_keeps_what_is_not_given(self, us: Team) -> None:
        flow_id = await published(us)
        config = {"kind": "schedule", "cron": "0 0 1 1 *", "time_zone": ZONE, "jitter_seconds": 60}
        policies = {"overlap": "skip"}
        before = await add(us, flow_id, config=config, policies=policies, input=INPUT)
        after = await set_schedule(us, flow_id, cron="0 1 1 1 *")
        assert after["id"] == before["id"]
        assert after["config"] == before["config"] | {"cron": "0 1 1 1 *"}
        assert (after["input"], after["policies"]) == (INPUT, before["policies"])

    async def test_changes_what_is_given(self, us: Team) -> None:
        flow_id = await published(us)
        await add(us, flow_id, config={"kind": "schedule", "every_seconds": 86_400, "time_zone": ZONE}, input=INPUT)
        after = await set_schedule(us, flow_id, cron="0 1 1 1 *", time_zone="Asia/Tokyo", text="")
        config = after["config"]
        assert (config["cron"], config["every_seconds"], config["time_zone"]) == ("0 1 1 1 *", None, "Asia/Tokyo")
        assert after["input"] == INPUT | {"text": ""}

    async def test_adds_one_in_utc_without_a_text(self, us: Team) -> None:
        added = await set_schedule(us, await published(us), cron="0 1 1 1 *")
        assert (added["config"]["time_zone"], added["input"]["text"]) == ("UTC", "")
