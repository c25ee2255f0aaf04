"""Events in the real application, on both databases; engines are in `conformance_events`."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.runs.evidence.verify import verify
from headgate.features.runs.sent_events import exchange, repository
from headgate.features.runs.transitions import clock
from headgate.foundation.settings import Settings
from tests.support.team import Team, team

PATIENCE = 60.0
SPEC = """name: Paid
nodes:
  order: ChatInput
  paid: WaitForEvent
    event: payment_received
    correlation: {{order.text}}
    timeout_hours: 48
  out: ChatOutput
edges:
  order.text -> paid.value
  paid.data -> out.input
"""
EVENT = {"name": "payment_received", "correlation": "order 7", "data": {"card": "4711 is secret"}, "key": "p7"}


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings) as people:
        yield people


async def waiting(us: Team) -> dict[str, Any]:
    """Start a flow that waits for an event, and return the wait."""
    flow = await us.make("editor", "/flows", spec=SPEC)
    run = await us.make("editor", f"/flows/{flow['id']}/runs", text="order 7", version="draft")
    async with asyncio.timeout(PATIENCE):
        while not (items := (await us.get("editor", "/events/waiting", params={"run_id": run["id"]}))["items"]):
            assert (await us.get("editor", f"/flow-runs/{run['id']}"))["status"] not in {"failed", "completed"}
            await asyncio.sleep(0.02)
    wait: dict[str, Any] = items[0]
    return wait


async def ended(us: Team, run_id: str) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE):
        while True:
            run: dict[str, Any] = await us.get("editor", f"/flow-runs/{run_id}")
            if run["status"] not in {"queued", "running", "waiting"}:
                return run
            await asyncio.sleep(0.05)


async def send(us: Team, who: str, **more: Any) -> tuple[int, dict[str, Any]]:
    answer = await us.ask(who, "POST", "/events", json={**EVENT, "space_id": us.space, **more})
    return answer.status_code, answer.json()


class TestEvents:
    async def test_continue_the_run_that_waits_and_are_evidence(self, us: Team) -> None:
        wait = await waiting(us)
        assert (wait["name"], wait["correlation"], wait["step_id"]) == ("payment_received", "order 7", "paid")
        status, event = await send(us, "runner")
        assert (status, event["status"], event["sender"]["kind"]) == (201, "delivered", "user")
        run = await ended(us, wait["run_id"])
        assert (run["status"], "4711" in run["text"]) == ("completed", True)
        full = await us.get("editor", f"/flow-runs/{wait['run_id']}/steps/paid")
        assert {"kind": "event", "name": "payment_received"} in full["outside_content"]
        package = (await us.ask("viewer", "GET", f"/flow-runs/{wait['run_id']}/evidence")).content
        assert verify(package).good
        for known in (event["id"], event["sha256"], event["sender"]["user_id"]):
            assert known.encode() in package
        assert not verify(package.replace(event["sha256"].encode(), b"0" * 64)).good

    async def test_are_audited_by_hash_and_encrypted_at_rest(self, us: Team) -> None:
        status, event = await send(us, "runner")
        assert (status, (await send(us, "runner"))[1]["duplicate"]) == (201, True)
        async with us.database.reading() as session:
            content = (await session.execute(text("SELECT content FROM sent_events"))).scalar_one()
            rows = (await session.execute(text("SELECT payload FROM audit_events WHERE action = 'event.sent'"))).all()
        assert b"4711" not in bytes(content)
        assert len(rows) == 1
        assert event["sha256"] in rows[0][0]
        assert "4711" not in rows[0][0]

    async def test_need_the_right_to_run_flows_of_the_space(self, us: Team) -> None:
        assert (await send(us, "viewer"))[0] == 403
        assert (await send(us, "stranger"))[0] == 404
        assert (await send(us, "runner"))[0] == 201
        assert len((await us.get("viewer", "/events"))["items"]) == 1
        assert (await us.get("stranger", "/events"))["items"] == []

    async def test_never_cross_spaces(self, us: Team) -> None:
        wait = await waiting(us)
        for who in ("stranger", "admin"):
            status, event = await send(us, who, space_id=us.elsewhere, key=who)
            assert (status, event["status"]) == (201, "kept")
        assert (await us.get("editor", f"/flow-runs/{wait['run_id']}"))["status"] == "waiting"
        assert (await us.get("viewer", "/events"))["items"] == []

    async def test_with_a_used_key_and_other_data_are_refused(self, us: Team) -> None:
        assert (await send(us, "runner"))[0] == 201
        status, problem = await send(us, "runner", data={"card": "other"})
        assert (status, problem["code"]) == (409, "event_key_reused")

    @pytest.mark.parametrize(
        ("more", "expected"),
        [
            ({"name": " "}, 422),
            ({"name": "a\nb"}, 422),
            ({"correlation": "x" * 501}, 422),
            ({"keep_hours": 721}, 422),
            ({"deliver": "some"}, 422),
            ({"key": "two words"}, 422),
            ({"data": "x" * exchange.LARGEST_BYTES}, 413),
        ],
    )
    async def test_out_of_bounds_are_refused(self, us: Team, more: dict[str, Any], expected: int) -> None:
        assert (await send(us, "runner", **more))[0] == expected

    async def test_are_bounded_in_number(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(exchange, "MOST_KEPT", 1)
        assert (await send(us, "runner", key="1"))[0] == 201
        status, problem = await send(us, "runner", key="2")
        assert (status, problem["code"]) == (429, "too_many_events")

    async def test_are_deleted_when_their_time_is_over(self, us: Team) -> None:
        assert (await send(us, "runner", key="1", keep_hours=0))[0] == 201
        assert (await send(us, "runner", key="2", keep_hours=48))[0] == 201
        at = clock()
        async with us.database.writing() as session:
            assert await repository.delete_expired(session, at - exchange.KEY_MICROSECONDS, at=at) == 0, "key in use"
            assert await repository.delete_expired(session, at + 1, at=at + 1, dry=True) == 1
            assert await repository.delete_expired(session, at + 1, at=at + 1) == 1
        assert [item["status"] for item in (await us.get("viewer", "/events"))["items"]] == ["kept"]

    async def test_are_named_by_a_dry_run(self, us: Team) -> None:
        flow = await us.make("editor", "/flows", spec=SPEC)
        preview = (await us.ask("editor", "POST", f"/flows/{flow['id']}/dry-run", json={})).json()
        step = next(one for one in preview["path"] if one["step_id"] == "paid")
        assert step["waits_for"] == {
            "tools": [],
            "reason": "event",
            "event": "payment_received",
            "correlation": "{{order.text}}",
            "until": "",
            "cron": "",
            "seconds": 172_800.0,
        }
