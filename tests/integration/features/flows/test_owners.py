"""The owner of a flow, and who may transfer it to whom, on both databases."""

from collections.abc import AsyncIterator

import pytest

from headgate.foundation.settings import Settings
from tests.support.team import FLOW, Team, team


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as team_client:
        yield team_client


async def owned_by(us: Team, who: str) -> str:
    """The id of a flow that one of them made."""
    flow_id: str = (await us.make(who, "/flows", spec=FLOW))["id"]
    return flow_id


async def transfer(us: Team, who: str, flow_id: str, to: str) -> tuple[int, str]:
    """The status of a transfer, and the new owner or the code of the error."""
    answer = await us.ask(who, "PUT", f"/flows/{flow_id}/owner", json={"user_id": us.people[to].id})
    return answer.status_code, answer.json()["owner_user_id" if answer.is_success else "code"]


class TestTransfer:
    async def test_is_made_by_the_owner_and_is_in_the_audit_log(self, us: Team) -> None:
        flow_id = await owned_by(us, "editor")
        revision = (await us.get("editor", f"/flows/{flow_id}"))["revision"]
        assert await transfer(us, "editor", flow_id, "publisher") == (200, us.people["publisher"].id)
        flow = await us.get("viewer", f"/flows/{flow_id}")
        assert (flow["owner_user_id"], flow["revision"]) == (us.people["publisher"].id, revision)
        entries = (await us.get("admin", "/audit", params={"resource_id": flow_id}))["items"]
        (entry,) = [one for one in entries if one["action"] == "flow.owner_changed"]
        changed = (entry["payload"]["owner_before"], entry["payload"]["owner"])
        assert changed == (us.people["editor"].id, us.people["publisher"].id)

    async def test_is_no_longer_for_the_one_who_transferred_it(self, us: Team) -> None:
        flow_id = await owned_by(us, "editor")
        await transfer(us, "editor", flow_id, "publisher")
        assert (await transfer(us, "editor", flow_id, "editor"))[0] == 403

    async def test_of_the_flow_of_another_is_for_those_who_manage_the_space(self, us: Team) -> None:
        flow_id = await owned_by(us, "editor")
        body = {"user_id": us.people["editor"].id}
        assert await us.allowed("PUT", f"/flows/{flow_id}/owner", json=body) == {"editor", "owner", "admin"}

    @pytest.mark.parametrize(("to", "code"), [("viewer", "cannot_own"), ("runner", "cannot_own")])
    async def test_is_refused_for_members_who_cannot_edit_flows(self, us: Team, to: str, code: str) -> None:
        flow_id = await owned_by(us, "editor")
        assert await transfer(us, "editor", flow_id, to) == (422, code)
        assert (await us.get("editor", f"/flows/{flow_id}"))["owner_user_id"] == us.people["editor"].id

    @pytest.mark.parametrize("to", ["stranger", "admin"])
    async def test_is_refused_for_users_outside_the_space(self, us: Team, to: str) -> None:
        flow_id = await owned_by(us, "editor")
        assert await transfer(us, "editor", flow_id, to) == (404, "member_not_found")

    async def test_is_refused_for_a_member_who_is_shut_out(self, us: Team) -> None:
        flow_id = await owned_by(us, "editor")
        publisher = us.people["publisher"].id
        assert (await us.ask("admin", "PATCH", f"/users/{publisher}", json={"active": False})).status_code == 200
        assert await transfer(us, "editor", flow_id, "publisher") == (422, "cannot_own")

    async def test_to_the_same_owner_changes_nothing(self, us: Team) -> None:
        flow_id = await owned_by(us, "editor")
        assert await transfer(us, "editor", flow_id, "editor") == (200, us.people["editor"].id)
        entries = (await us.get("admin", "/audit", params={"resource_id": flow_id}))["items"]
        assert "flow.owner_changed" not in [one["action"] for one in entries]


class TestDeletedOwner:
    async def test_leaves_the_flow_without_an_owner_until_one_is_set(self, us: Team) -> None:
        flow_id = await owned_by(us, "editor")
        assert (await us.ask("admin", "DELETE", f"/users/{us.people['editor'].id}")).status_code == 204
        assert (await us.get("viewer", f"/flows/{flow_id}"))["owner_user_id"] is None
        assert (await transfer(us, "publisher", flow_id, "publisher"))[0] == 403
        assert await transfer(us, "owner", flow_id, "publisher") == (200, us.people["publisher"].id)

    async def test_keeps_the_owner_of_the_flows_of_others(self, us: Team) -> None:
        flow_id = await owned_by(us, "publisher")
        await us.ask("admin", "DELETE", f"/users/{us.people['editor'].id}")
        assert (await us.get("viewer", f"/flows/{flow_id}"))["owner_user_id"] == us.people["publisher"].id
