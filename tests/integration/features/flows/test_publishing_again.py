"""Publishing content that was published before, on both databases; and whose flow it is."""

from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import Settings
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as team_client:
        yield team_client


class TestPublishingAgain:
    async def test_makes_earlier_content_current_as_a_new_release_with_its_note(self, us: Team) -> None:
        flow_id = str((await us.make("owner", "/flows", spec=FLOW))["id"])
        first = await us.make("owner", f"/flows/{flow_id}/publish", notes="First")
        spec = FLOW.replace("said.input", "said.input").replace("ChatInput", "TextInput").replace("message", "text")
        flow = await us.get("owner", f"/flows/{flow_id}")
        other = (await us.make("owner", "/flows", spec=spec))["definition"] | {"name": "Talk"}
        body = {"revision": flow["revision"], "definition": other}
        assert (await us.ask("owner", "PATCH", f"/flows/{flow_id}/draft", json=body)).status_code == 200
        await us.make("owner", f"/flows/{flow_id}/publish", notes="Second")
        revision = (await us.get("owner", f"/flows/{flow_id}"))["revision"]
        await us.make("owner", f"/flows/{flow_id}/versions/{first['version']}/restore", revision=revision)
        again = await us.make("owner", f"/flows/{flow_id}/publish", notes="Back to the first")
        assert (again["version"], again["release"]) == (first["version"], 3)
        assert again["release_notes"] == "Back to the first"
        assert (await us.get("owner", f"/flows/{flow_id}"))["published_version"] == first["version"]
        history = (await us.get("owner", f"/flows/{flow_id}/versions?released=true"))["items"]
        assert [(one["release"], one["release_notes"]) for one in history] == [(3, "Back to the first"), (2, "Second")]
        page = await us.get("owner", f"/flows/{flow_id}/versions?released=true&limit=1")
        rest = await us.get("owner", f"/flows/{flow_id}/versions?released=true&cursor={page['next_cursor']}")
        assert [one["release"] for one in [*page["items"], *rest["items"]]] == [3, 2]

    async def test_of_what_is_published_changes_nothing(self, us: Team) -> None:
        flow_id = str((await us.make("owner", "/flows", spec=FLOW))["id"])
        first = await us.make("owner", f"/flows/{flow_id}/publish", notes="First")
        again = await us.make("owner", f"/flows/{flow_id}/publish", notes="Again")
        assert (again["release"], again["release_notes"]) == (first["release"], "First")


class TestOwner:
    async def test_is_in_the_flow_and_in_the_list(self, us: Team) -> None:
        made = await us.make("editor", "/flows", spec=FLOW)
        assert made["owner_user_id"] == us.people["editor"].id
        (listed,) = [one for one in (await us.get("editor", "/flows"))["items"] if one["id"] == made["id"]]
        assert listed["owner_user_id"] == made["owner_user_id"]
