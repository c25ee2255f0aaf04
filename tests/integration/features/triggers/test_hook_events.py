"""Webhooks that send an event instead of starting a run, on both databases."""

from typing import Any

import orjson
import pytest
from sqlalchemy import text

from tests.integration.features.triggers.conftest import occurrences, published, until
from tests.integration.features.triggers.test_webhooks import EVENT, call, current, hook
from tests.support.team import Team
from tests.unit.features.triggers.test_signatures import SECRET, WHSEC, slack, standard, stripe

WAITS = """name: Ship
nodes:
  order: ChatInput
  paid: WaitForEvent
    event: paid
    correlation: "{{order.text}}"
  out: ChatOutput
edges:
  order.text -> paid.value
  paid.data -> out.input
"""
PAID = {"name": "paid", "correlation_from": "body.order.number", "data_from": "body.order"}
SIGNED = [("stripe", stripe, SECRET), ("slack", slack, SECRET), ("standard", standard, WHSEC)]


async def events(us: Team) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = (await us.get("viewer", "/events"))["items"]
    return listed


async def waiting_run(us: Team) -> str:
    """A run that waits for the payment of an order."""
    flow_id = await published(us, WAITS)
    run = await us.make("runner", f"/flows/{flow_id}/runs", text="A 7", version="published")
    await until(lambda: us.get("viewer", "/events/waiting", params={"run_id": run["id"]}))
    return str(run["id"])


class TestEvents:
    @pytest.mark.parametrize(("kind", "sign", "secret"), SIGNED)
    async def test_of_a_signed_call_continue_the_run_that_waits(
        self, us: Team, kind: str, sign: Any, secret: str
    ) -> None:
        run_id = await waiting_run(us)
        await until(lambda: _is_waiting(us, run_id))
        trigger = await hook(us, verification=kind, secret=secret, event=PAID)
        answer = await call(us, trigger, **sign(EVENT, secret, current()))
        assert answer.status_code == 202, answer.text
        assert (answer.json()["status"], answer.json()["deliveries"]) == ("sent", 1)
        run = await until(lambda: _ended(us, run_id))
        assert (run["status"], orjson.loads(run["text"])) == ("completed", {"number": "A 7"})
        (event,) = await events(us)
        assert (event["name"], event["correlation"], event["status"]) == ("paid", "A 7", "delivered")
        assert event["sender"]["name"] == "Trigger Orders"
        assert await occurrences(us, trigger["id"]) == []

    @pytest.mark.parametrize(("kind", "sign", "secret"), SIGNED)
    async def test_are_not_sent_by_forged_and_expired_calls(self, us: Team, kind: str, sign: Any, secret: str) -> None:
        trigger = await hook(us, verification=kind, secret=secret, event=PAID, replay_seconds=60)
        wrong = WHSEC[:-4] + "AAA=" if kind == "standard" else "other secret"
        for headers, body in (
            (sign(EVENT, wrong, current()), EVENT),
            (sign(EVENT, secret, current()), EVENT + b" "),
            (sign(EVENT, secret, current() - 3600), EVENT),
            (sign(EVENT, secret, current() + 3600), EVENT),
            ({}, EVENT),
        ):
            answer = await call(us, trigger, body, **headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "hook_refused"), headers
        assert await events(us) == []

    @pytest.mark.parametrize(("kind", "sign", "secret"), SIGNED)
    @pytest.mark.parametrize("body", [EVENT, orjson.dumps({"order": {"number": "A 8"}})], ids=["key", "no key"])
    async def test_of_a_replayed_call_are_one(self, us: Team, kind: str, sign: Any, secret: str, body: bytes) -> None:
        trigger = await hook(us, verification=kind, secret=secret, event=PAID)
        headers: dict[str, Any] = sign(body, secret, current())
        first, again = await call(us, trigger, body, **headers), await call(us, trigger, body, **headers)
        assert (first.json()["duplicate"], again.json()["duplicate"]) == (False, True)
        assert first.json()["event"] == again.json()["event"]
        assert len(await events(us)) == 1

    async def test_use_the_rights_that_the_owner_has_now(self, us: Team) -> None:
        trigger = await hook(us, verification="none", event=PAID)
        async with us.database.writing() as session:
            await session.execute(text("UPDATE space_members SET role = 'viewer'"))
        answer = await call(us, trigger)
        assert (answer.status_code, answer.json()["detail"]) == (503, "The event was not sent.")
        assert await events(us) == []

    async def test_need_their_correlation_value_and_have_no_files(self, us: Team) -> None:
        trigger = await hook(us, verification="none", event=PAID)
        missing = await call(us, trigger, b"{}")
        assert (missing.status_code, "body.order.number" in missing.json()["detail"]) == (422, True)
        binary = await call(us, trigger, b"\x89PNG\xff", **{"content-type": "image/png"})
        assert binary.status_code == 422
        long = await call(us, trigger, orjson.dumps({"order": {"number": "7" * 501}}))
        assert long.status_code == 422
        assert await events(us) == []

    @pytest.mark.parametrize(("kind", "sign", "secret"), SIGNED)
    async def test_are_described_by_a_signed_call_at_the_address_for_events(
        self, us: Team, kind: str, sign: Any, secret: str
    ) -> None:
        run_id = await waiting_run(us)
        await until(lambda: _is_waiting(us, run_id))
        trigger = await hook(us, verification=kind, secret=secret, event={})
        assert trigger["sentence"].endswith("; sends its event")
        address = trigger | {"path": trigger["path"].replace("/hooks/", "/api/v1/events/")}
        body = orjson.dumps({"name": "paid", "correlation": "A 7", "data": {"sum": 3}, "key": "payment-1"})
        unsigned = await call(us, address, body)
        assert (unsigned.status_code, unsigned.json()["code"]) == (401, "hook_refused")
        late = await call(us, address, body, **sign(body, secret, current() - 3600))
        assert (late.status_code, await events(us)) == (401, [])
        sent = await call(us, address, body, **sign(body, secret, current()))
        assert (sent.status_code, sent.json()["deliveries"]) == (202, 1), sent.text
        again = await call(us, address, body, **sign(body, secret, current() - 1))
        assert (again.json()["duplicate"], again.json()["event"]) == (True, sent.json()["event"])
        run = await until(lambda: _ended(us, run_id))
        assert (run["status"], orjson.loads(run["text"])) == ("completed", {"sum": 3})
        (event,) = await events(us)
        assert (event["name"], event["correlation"], event["sender"]["name"]) == ("paid", "A 7", "Trigger Orders")

    async def test_of_another_space_or_form_are_refused(self, us: Team) -> None:
        trigger = await hook(us, verification="none", event={})
        for wrong in ([1], {"name": ""}, {"correlation": "A 7"}, {"name": "paid", "more": 1}):
            assert (await call(us, trigger, orjson.dumps(wrong))).status_code == 422, wrong
        answer = await call(us, trigger, orjson.dumps({"name": "paid", "space_id": us.elsewhere}))
        assert (answer.status_code, "another space" in answer.json()["detail"]) == (422, True)
        assert await events(us) == []
        same = await call(us, trigger, orjson.dumps({"name": "paid", "space_id": us.space}))
        assert same.status_code == 202

    async def test_have_no_address_where_the_webhook_starts_runs(self, us: Team) -> None:
        trigger = await hook(us, verification="none")
        answer = await call(us, trigger | {"path": trigger["path"].replace("/hooks/", "/api/v1/events/")})
        assert (answer.status_code, answer.json()["code"]) == (404, "hook_not_found")
        assert await occurrences(us, trigger["id"]) == []

    async def test_start_no_run_and_so_answer_with_none(self, us: Team) -> None:
        flow_id = await published(us)
        for wrong in ({"answer": "result"}, {"text_from": "body"}, {"form_from": {"a": "body"}}):
            config = {"kind": "webhook", "event": PAID, **wrong}
            answer = await us.ask(
                "publisher", "POST", f"/flows/{flow_id}/triggers", json={"name": "Orders", "config": config}
            )
            assert answer.status_code == 422, wrong
        trigger = await hook(us, verification="none", event=PAID)
        assert trigger["sentence"].endswith("; sends the event paid")


async def _is_waiting(us: Team, run_id: str) -> bool:
    return bool((await us.get("viewer", "/events/waiting", params={"run_id": run_id}))["items"])


async def _ended(us: Team, run_id: str) -> Any:
    run = await us.get("viewer", f"/flow-runs/{run_id}")
    return run if run["status"] in {"completed", "failed"} else None
