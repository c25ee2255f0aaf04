"""Notices, reminders and escalation of approvals in the real application, on both databases."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headgate.features.runs.approvals import notices
from headgate.features.runs.approvals.asking import StepApprovals
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.waits import Pending
from headgate.features.runs.spaces import FlowSpaces
from headgate.features.runs.transitions import RunKey
from headgate.foundation.errors import DatabaseUnavailable
from headgate.foundation.settings import Settings
from headgate.sdk.approvals import ApprovalRequest
from tests.integration.features.runs.approvals.test_approvals import asked, decide
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import LOOPBACK
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer, web_server

HOOK = "/hook"
SECRET = "notice-signing-secret"


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, http=LOOPBACK) as people:
        yield people


@pytest.fixture
async def hook() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        server.on(HOOK, answer(204))
        yield server


async def notices_of(us: Team, approval: dict[str, Any]) -> list[tuple[str, str]]:
    shown = await us.get("viewer", f"/approvals/{approval['id']}")
    return [(one["kind"], one["status"]) for one in shown["notices"]]


async def settled(us: Team, approval: dict[str, Any], *wanted: tuple[str, str]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if await notices_of(us, approval) == list(wanted):
                return
            await asyncio.sleep(0.05)


class TestNotices:
    async def test_are_signed_and_sent_once_each_when_due(self, us: Team, hook: WebServer) -> None:
        assert (await us.ask("admin", "PUT", "/variables/WEBHOOK_SECRET", json={"value": SECRET})).is_success
        approval = await asked(us, notify_url=hook.url(HOOK), reminders="[0.0003, 10]")
        await settled(us, approval, ("asked", "delivered"), ("reminder", "delivered"), ("reminder", "pending"))
        assert await decide(us, "owner", approval) == 200
        requests = hook.seen(HOOK)
        bodies = [json.loads(one.body) for one in requests]
        assert [body["type"] for body in bodies] == ["approval.asked", "approval.reminder"]
        assert {body["approval_id"] for body in bodies} == {approval["id"]}
        assert b"Taxi" not in b"".join(one.body for one in requests)
        assert len({one.headers["idempotency-key"] for one in requests}) == 2
        for one in requests:
            content = f"{one.headers['webhook-id']}.{one.headers['webhook-timestamp']}.".encode() + one.body
            expected = base64.b64encode(hmac.new(SECRET.encode(), content, hashlib.sha256).digest()).decode()
            assert one.headers["webhook-signature"] == f"v1,{expected}"

    async def test_are_not_sent_again_where_the_outcome_cannot_be_stored_for_a_moment(
        self, us: Team, hook: WebServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Found by the simulator: a locked database made the reminder come twice."""
        finish, failures = notices.QUEUE.finish, iter(range(2))

        async def shaky(*args: Any, **values: Any) -> bool:
            if next(failures, None) is not None:
                raise DatabaseUnavailable("The database is locked by another process.")
            return await finish(*args, **values)

        monkeypatch.setattr(notices.QUEUE, "finish", shaky)
        approval = await asked(us, notify_url=hook.url(HOOK))
        await settled(us, approval, ("asked", "delivered"))
        assert next(failures, None) is None
        assert len(hook.seen(HOOK)) == 1

    async def test_go_to_the_address_of_the_space(self, us: Team, hook: WebServer) -> None:
        url = {"value": hook.url(HOOK)}
        assert (await us.ask("admin", "PUT", "/variables/APPROVAL_WEBHOOK_URL", json=url)).is_success
        approval = await asked(us)
        await settled(us, approval, ("asked", "delivered"))

    async def test_resolve_the_address_of_the_space_once(self, us: Team) -> None:
        approval = await asked(us)

        async def variable_of(origin: Origin, name: str) -> str:
            raise AssertionError(f"step {origin.step_id} resolves {name} again")

        again = StepApprovals(us.database, us.app.state.box, FlowSpaces(us.database), variable_of)
        key = RunKey(approval["run_id"], us.people["owner"].tenant_id, approval["flow_id"], 0)
        assert await again.ask(Origin(key, "check"), ApprovalRequest("Pay it?", "Taxi, 40 EUR")) == Pending(None)

    async def test_are_not_sent_after_the_decision(self, us: Team, hook: WebServer) -> None:
        approval = await asked(us, notify_url=hook.url(HOOK), reminders="[0.003]")
        await settled(us, approval, ("asked", "delivered"), ("reminder", "pending"))
        assert await decide(us, "owner", approval) == 200
        await settled(us, approval, ("asked", "delivered"), ("reminder", "cancelled"))
        assert len(hook.seen(HOOK)) == 1

    async def test_that_the_receiver_refuses_are_shown_as_failed(self, us: Team, hook: WebServer) -> None:
        approval = await asked(us, notify_url=hook.url("/nowhere"))
        await settled(us, approval, ("asked", "failed"))
        [notice] = (await us.get("viewer", f"/approvals/{approval['id']}"))["notices"]
        assert "404" in notice["error"]
        assert "/nowhere" not in notice["url"]

    async def test_are_sent_nowhere_without_an_address(self, us: Team) -> None:
        approval = await asked(us, reminders="[1]")
        assert await notices_of(us, approval) == []


class TestEscalation:
    async def test_lets_others_decide_from_its_time_on(self, us: Team, hook: WebServer) -> None:
        approval = await asked(
            us,
            assignees='["owner@example.org"]',
            escalate_hours=0.0008,
            escalate_to='["runner@example.org"]',
            notify_url=hook.url(HOOK),
        )
        assert await decide(us, "runner", approval) == 403
        assert (await us.get("runner", "/approvals/count"))["pending"] == 0
        await settled(us, approval, ("asked", "delivered"), ("escalated", "delivered"))
        assert (await us.get("runner", "/approvals/count"))["pending"] == 1
        assert json.loads(hook.seen(HOOK)[1].body)["also"] == ["runner@example.org"]
        shown = await us.get("runner", f"/approvals/{approval['id']}")
        assert [one["name"] for one in shown["escalation"]] == [shown["assignees"][1]["name"]]
        assert await decide(us, "runner", approval) == 200

    @pytest.mark.parametrize(
        "params",
        [
            {"escalate_hours": 1},
            {"escalate_hours": 1, "escalate_to": '["role:owner"]'},
            {"reminders": "[2]", "timeout_hours": 1},
            {"reminders": "[-1]"},
        ],
    )
    async def test_that_never_comes_is_refused(self, us: Team, params: dict[str, Any]) -> None:
        with pytest.raises(AssertionError):
            await asked(us, **params)
