"""Webhooks at their public address, on both databases."""

import asyncio
import base64
import json
import time
from collections.abc import Callable
from typing import Any

import httpx2
import orjson
import pytest
from sqlalchemy import text

from headgate.features.maintenance.expired import delete_old_occurrences
from headgate.features.triggers import firing
from headgate.features.triggers.hooks import service
from headgate.foundation.settings import Settings
from tests.integration.features.triggers.conftest import add, occurrences, published, until
from tests.support.people import asking
from tests.support.team import Team
from tests.unit.features.triggers.test_signatures import SECRET, WHSEC, github, slack, standard, stripe

EVENT = orjson.dumps({"id": "evt_1", "event_id": "Ev1", "type": "order", "order": {"number": "A 7"}})
FORM = """name: Orders
form:
  number: text
nodes:
  heard: ChatInput
  said: ChatOutput
edges:
  heard.message -> said.input
"""


async def call(
    us: Team, trigger: dict[str, Any], content: bytes = EVENT, *, query: str = "", **headers: Any
) -> httpx2.Response:
    async with asking(us.app) as client:
        sent = {"content-type": "application/json", **headers}
        address = client.base_url.copy_with(path=trigger["path"])
        return await client.post(f"{address}?{query}", content=content, headers=sent)


async def hook(
    us: Team, *, spec: str | None = None, secret: str | None = None, policies: Any = None, **config: Any
) -> Any:
    flow_id = await published(us, *([] if spec is None else [spec]))
    members: dict[str, Any] = {"policies": policies} | ({} if secret is None else {"secret": secret})
    return await add(us, flow_id, name="Orders", config={"kind": "webhook", **config}, **members)


def current() -> int:
    return int(time.time())


class TestCalls:
    async def test_are_stored_with_their_run_and_marked_as_untrusted(self, us: Team) -> None:
        trigger = await hook(us)
        assert trigger["path"].startswith("/hooks/")
        answer = await call(us, trigger, **{"x-api-key": trigger["secret"]})
        assert answer.status_code == 202, answer.text
        (row,) = await occurrences(us, trigger["id"])
        assert (answer.json()["occurrence"], answer.json()["run_id"]) == (row["id"], row["run_id"])
        run = await us.get("viewer", f"/flow-runs/{row['run_id']}")
        assert orjson.loads(run["input"]["text"])["order"] == {"number": "A 7"}
        assert {"kind": "event", "name": "webhook Orders"} in run["outside_content"]

    @pytest.mark.parametrize(
        ("kind", "sign", "secret", "key"),
        [
            ("github", github, SECRET, None),
            ("stripe", stripe, SECRET, "evt_1"),
            ("slack", slack, SECRET, "Ev1"),
            ("standard", standard, WHSEC, "msg_1"),
        ],
    )
    async def test_of_services_are_verified_and_one_event_is_one_run(
        self, us: Team, kind: str, sign: Any, secret: str, key: str | None
    ) -> None:
        trigger = await hook(us, verification=kind, secret=secret)
        headers: dict[str, Any] = sign(EVENT, secret, current()) | (
            {"x-github-delivery": "g-1"} if kind == "github" else {}
        )
        first, again = await call(us, trigger, **headers), await call(us, trigger, **headers)
        assert (first.status_code, again.status_code) == (202, 202)
        assert (first.json()["duplicate"], again.json()["duplicate"]) == (False, True)
        assert first.json()["run_id"] == again.json()["run_id"]
        (row,) = await occurrences(us, trigger["id"])
        assert row["key"] == f"event:{key or 'g-1'}"
        wrong = await call(us, trigger, EVENT + b" ", **headers)
        assert (wrong.status_code, wrong.json()["code"]) == (401, "hook_refused")

    async def test_a_hundred_concurrent_deliveries_of_one_event_are_one_run(self, us: Team) -> None:
        trigger = await hook(us, verification="github", secret=SECRET)
        headers: dict[str, Any] = github(EVENT, SECRET) | {"x-github-delivery": "same"}

        async def deliver() -> httpx2.Response:
            """Deliver it as services do: again while the server is overloaded."""
            while (answer := await call(us, trigger, **headers)).status_code == 503:
                pass
            return answer

        answers = await asyncio.gather(*(deliver() for _ in range(100)))
        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["run_id"] for answer in answers}) == 1
        assert [answer.json()["duplicate"] for answer in answers].count(False) == 1
        assert len(await occurrences(us, trigger["id"])) == 1
        runs = await us.get("viewer", "/flow-runs", params={"flow_id": trigger["flow_id"]})
        assert len(runs["items"]) == 1

    async def test_answer_with_the_result_of_the_flow(self, us: Team) -> None:
        trigger = await hook(us, answer="result", text_from="body.order.number", verification="none")
        answer = await call(us, trigger)
        assert (answer.status_code, answer.text) == (200, "A 7")
        assert answer.headers["x-run-id"]

    async def test_fill_the_form_of_the_flow(self, us: Team) -> None:
        trigger = await hook(us, spec=FORM, verification="none", form_from={"number": "body.order.number"})
        run_id = (await call(us, trigger)).json()["run_id"]
        assert (await us.get("viewer", f"/flow-runs/{run_id}"))["input"]["form_data"] == {"number": "A 7"}

    async def test_without_what_the_flow_needs_are_kept_with_the_reason(self, us: Team) -> None:
        trigger = await hook(us, spec=FORM, verification="none", form_from={"other": "body.order.number"})
        answer = (await call(us, trigger)).json()
        assert (answer["status"], answer["reason"], answer["run_id"]) == ("skipped", "run_input_invalid", None)

    async def test_take_multipart_forms_with_files_and_binary_bodies(self, us: Team) -> None:
        trigger = await hook(us, verification="none")
        async with asking(us.app) as client:
            address = str(client.base_url.copy_with(path=trigger["path"]))
            files = {"photo": ("a.txt", b"content", "text/plain")}
            first = await client.post(address, data={"who": "Ada", "tag": ["a", "b"]}, files=files)
            second = await client.post(address, content=b"\x89PNG\xff\x00", headers={"content-type": "image/png"})
        for answer, expected in ((first, '{"who":"Ada","tag":["a","b"]}'), (second, "")):
            assert answer.json()["status"] == "started", answer.text
            run = await us.get("viewer", f"/flow-runs/{answer.json()['run_id']}")
            assert (run["input"]["text"], len(run["input"]["file_ids"])) == (expected, 1)

    async def test_leave_no_files_where_no_run_starts(self, us: Team) -> None:
        trigger = await hook(us, spec=FORM, verification="none", form_from={"other": "body.who"})
        content, media_type = b"\x89PNG\xff\x00", {"content-type": "image/png"}

        async def stored() -> int:
            async with us.database.reading() as session:
                return int((await session.execute(text("SELECT count(*) FROM files"))).scalar_one())

        assert (await call(us, trigger, content, **media_type)).json()["reason"] == "run_input_invalid"
        assert await stored() == 0
        async with us.database.writing() as session:
            query = text("UPDATE users SET active = :on WHERE id = :id")
            await session.execute(query, {"on": False, "id": us.people["publisher"].id})
        answer = await call(us, trigger, content, **media_type)
        assert (answer.status_code, answer.json()["reason"]) == (202, "trigger_owner_gone")
        assert await stored() == 0

    async def test_of_slack_are_challenged(self, us: Team) -> None:
        trigger = await hook(us, verification="slack", secret=SECRET)
        content = json.dumps(
            {"type": "url_verification", "challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"}
        )
        answer = await call(us, trigger, content.encode(), **dict[str, Any](slack(content.encode(), SECRET, current())))
        assert (answer.status_code, answer.text) == (200, "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P")
        assert await occurrences(us, trigger["id"]) == []
        refused = await call(us, trigger, content.encode())
        assert refused.status_code == 401


class TestLimits:
    async def test_of_size_and_rate_are_those_of_the_address(self, us: Team) -> None:
        trigger = await hook(us, verification="none", max_bytes=100, calls_per_minute=3)
        assert (await call(us, trigger, b'"' + b"x" * 100 + b'"')).status_code == 413
        states = [(await call(us, trigger, b'"x"')).status_code for _ in range(3)]
        assert states == [202, 202, 429]

    async def test_of_an_input_are_refused_at_the_address(self, us: Team) -> None:
        trigger = await hook(us, verification="none", text_from="query.text")
        refused = await call(us, trigger, query="text=%00")
        assert (refused.status_code, refused.json()["code"]) == (422, "trigger_invalid"), refused.text
        assert await occurrences(us, trigger["id"]) == []

    async def test_large_calls_wait_and_start(self, us: Team) -> None:
        """A text of more than 100,000 characters blocked the queue of the trigger for ever."""
        trigger = await hook(us, verification="none", policies={"overlap": "queue_all", "rate_runs": 1})
        for size in (1, 150_000, 2):
            assert (await call(us, trigger, b'"' + b"x" * size + b'"')).status_code == 202
        more = {"policies": {"overlap": "queue_all"}}
        assert (await us.ask("publisher", "PATCH", f"/triggers/{trigger['id']}", json=more)).status_code == 200

        async def done() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if [row["status"] for row in rows] == ["started"] * 3 else None

        rows = await until(done)
        assert len((await us.get("viewer", f"/flow-runs/{rows[1]['run_id']}"))["input"]["text"]) == 150_000

    async def test_of_runs_keep_calls_waiting(self, us: Team) -> None:
        """A verified call that was answered with 202 is not dropped."""
        policies = {"overlap": "allow", "limit": 100, "rate_runs": 1, "rate_seconds": 86_400}
        trigger = await hook(us, verification="none", policies=policies)
        states = [(await call(us, trigger)).json()["status"] for _ in range(2)]
        assert states == ["started", "queued"]

    async def test_of_the_queue_are_answered_with_429(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(firing, "MOST_QUEUED", 1)
        policies = {"overlap": "allow", "limit": 100, "rate_runs": 1, "rate_seconds": 86_400}
        trigger = await hook(us, verification="none", policies=policies)
        answers = [await call(us, trigger) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [202, 202, 429]
        assert answers[2].headers["retry-after"] == "60"
        assert len(await occurrences(us, trigger["id"])) == 2

    async def test_of_quotas_are_answered_with_429_and_the_call_can_be_delivered_again(self, us: Team) -> None:
        trigger = await hook(us, verification="github", secret=SECRET)
        headers: dict[str, Any] = github(EVENT, SECRET) | {"x-github-delivery": "d-1"}
        limit = {"scope": "space", "quota": "runs_per_hour", "space_id": us.space}
        await us.ask("admin", "PUT", "/quotas", json={**limit, "most": 1})
        await us.make("runner", f"/flows/{trigger['flow_id']}/runs", text="one", version="published", wait=True)
        refused = await call(us, trigger, **headers)
        assert (refused.status_code, refused.json()["code"]) == (429, "quota_exceeded")
        assert await occurrences(us, trigger["id"]) == []
        await us.ask("admin", "PUT", "/quotas", json={**limit, "most": 100})
        assert (await call(us, trigger, **headers)).json()["status"] == "started"

    async def test_skipped_calls_can_be_delivered_again(self, us: Team) -> None:
        trigger = await hook(us, verification="github", secret=SECRET)
        path = f"/triggers/{trigger['id']}"
        headers: dict[str, Any] = github(EVENT, SECRET) | {"x-github-delivery": "d-1"}
        async with us.database.writing() as session:
            query = text("UPDATE users SET active = :on WHERE id = :id")
            await session.execute(query, {"on": False, "id": us.people["publisher"].id})
        for _ in range(2):
            assert (await call(us, trigger, **headers)).json()["reason"] == "trigger_owner_gone"
        assert len(await occurrences(us, trigger["id"])) == 1
        assert (await us.ask("admin", "PATCH", path, json={"owner_user_id": us.people["owner"].id})).status_code == 200
        again = (await call(us, trigger, **headers)).json()
        assert (again["status"], again["duplicate"]) == ("started", False)
        (row,) = await occurrences(us, trigger["id"])
        assert (row["id"], row["run_id"]) == (again["occurrence"], again["run_id"])

    async def test_old_calls_are_refused(self, us: Team) -> None:
        trigger = await hook(us, verification="stripe", secret=SECRET)
        assert (await call(us, trigger, **dict[str, Any](stripe(EVENT, SECRET, current() - 400)))).status_code == 401
        assert await occurrences(us, trigger["id"]) == []

    async def test_unknown_addresses_and_removed_triggers_look_the_same(self, us: Team) -> None:
        trigger = await hook(us, verification="none")
        await us.ask("publisher", "DELETE", f"/triggers/{trigger['id']}")
        answers = [await call(us, {"path": path}) for path in (trigger["path"], "/hooks/nothing", "/hooks/%00")]
        assert [(answer.status_code, answer.json()["detail"]) for answer in answers] == [
            (404, "There is no webhook at this address.")
        ] * 3

    async def test_of_a_paused_trigger_are_to_be_sent_again(self, us: Team) -> None:
        trigger = await hook(us, verification="none")
        await us.make("publisher", f"/triggers/{trigger['id']}/pause", reason="tests")
        refused = await call(us, trigger)
        assert refused.status_code == 503
        assert "tests" not in refused.text
        await us.make("publisher", f"/triggers/{trigger['id']}/resume")
        assert (await call(us, trigger)).status_code == 202


class TestSecrets:
    async def test_are_shown_once_and_encrypted(self, us: Team) -> None:
        trigger = await hook(us)
        assert len(trigger["secret"]) > 30
        read = await us.ask("publisher", "GET", f"/triggers/{trigger['id']}")
        assert trigger["secret"] not in read.text
        assert "secret" not in read.json()
        async with us.database.reading() as session:
            stored = (await session.execute(text("SELECT secret FROM triggers"))).scalar_one()
            logged = (await session.execute(text("SELECT payload FROM audit_events"))).scalars().all()
        assert trigger["secret"].encode() not in bytes(stored)
        assert us.app.state.box.decrypt(bytes(stored)).get_secret_value() == trigger["secret"]
        assert not any(trigger["secret"] in str(entry) for entry in logged)
        other: Any = "another secret"
        await us.ask("publisher", "PATCH", f"/triggers/{trigger['id']}", json={"secret": other})
        assert (await call(us, trigger, **{"x-api-key": trigger["secret"]})).status_code == 401
        assert (await call(us, trigger, **{"x-api-key": other})).status_code == 202

    @pytest.mark.parametrize(
        ("kind", "wrong"), [("standard", "no base 64!"), ("basic", "password"), ("key", "håll så")]
    )
    async def test_fit_their_verification(self, us: Team, kind: str, wrong: str) -> None:
        trigger = await hook(us, verification=kind)
        secret, now = trigger["secret"], current()
        proofs: dict[str, Callable[[], Any]] = {
            "standard": lambda: standard(EVENT, secret, now),
            "basic": lambda: {"authorization": "Basic " + base64.b64encode(secret.encode()).decode()},
            "key": lambda: {"x-api-key": secret},
        }
        assert (await call(us, trigger, **proofs[kind]())).status_code == 202
        path = f"/triggers/{trigger['id']}"
        assert (await us.ask("publisher", "PATCH", path, json={"secret": wrong})).status_code == 422
        body = {"name": "Other", "config": {"kind": "webhook", "verification": kind}, "secret": wrong}
        where = f"/flows/{trigger['flow_id']}/triggers"
        assert (await us.ask("publisher", "POST", where, json=body)).status_code == 422
        other = {"basic": "standard"}.get(kind, "basic")
        changed = {"config": {"kind": "webhook", "verification": other}}
        assert (await us.ask("publisher", "PATCH", path, json=changed)).status_code == 422
        assert (await call(us, trigger, **proofs[kind]())).status_code == 202


class TestTestMode:
    async def test_shows_the_next_call_and_starts_no_run(self, us: Team) -> None:
        trigger = await hook(us)
        path = f"/triggers/{trigger['id']}/catch"
        assert (await us.make("publisher", path))["waiting"] is True
        assert (await us.get("publisher", path))["call"] is None
        answer = await call(us, trigger, **{"x-api-key": trigger["secret"], "x-event": "order"})
        assert (answer.status_code, answer.json()) == (202, {"status": "caught"})
        shown = (await us.get("publisher", path))["call"]
        assert (shown["verified"], shown["headers"]["x-event"]) == (True, "order")
        assert shown["headers"]["x-api-key"] == "***"
        assert trigger["secret"] not in str(shown)
        assert await occurrences(us, trigger["id"]) == []
        assert (await call(us, trigger, **{"x-api-key": trigger["secret"]})).json()["status"] == "started"

    async def test_hides_the_secret_in_a_header_of_choice_from_users_and_runs(self, us: Team) -> None:
        trigger = await hook(us, header="X-Gitlab-Token", text_from="headers")
        proof: Any = {"x-gitlab-token": trigger["secret"], "x-event": "push"}
        await us.make("publisher", f"/triggers/{trigger['id']}/catch")
        await call(us, trigger, **proof)
        shown = (await us.get("publisher", f"/triggers/{trigger['id']}/catch"))["call"]
        assert shown["headers"]["x-gitlab-token"] == "***"
        run_id = (await call(us, trigger, **proof)).json()["run_id"]
        run = await us.ask("viewer", "GET", f"/flow-runs/{run_id}")
        assert '\\"x-event\\":\\"push\\"' in run.text
        assert trigger["secret"] not in run.text

    async def test_shows_why_a_call_is_not_verified(self, us: Team) -> None:
        trigger = await hook(us, verification="github", secret=SECRET)
        await us.make("publisher", f"/triggers/{trigger['id']}/catch")
        assert (await call(us, trigger)).status_code == 401
        shown = (await us.get("publisher", f"/triggers/{trigger['id']}/catch"))["call"]
        assert (shown["verified"], shown["text"]) == (False, "")
        assert "x-hub-signature-256" in shown["refusal"]

    async def test_catches_one_of_many_calls(self, us: Team) -> None:
        trigger = await hook(us, verification="none")
        await us.make("publisher", f"/triggers/{trigger['id']}/catch")
        answers = await asyncio.gather(*(call(us, trigger) for _ in range(10)))
        assert [answer.json()["status"] for answer in answers].count("caught") == 1

    async def test_forgets_the_caught_call(self, us: Team, settings: Settings) -> None:
        """It was kept for ever, with headers and content of a user."""
        trigger = await hook(us, verification="none")
        path = f"/triggers/{trigger['id']}/catch"
        await us.make("publisher", path)
        await call(us, trigger)
        assert (await us.get("publisher", path))["call"] is not None
        async with us.database.writing() as session:
            await session.execute(text("UPDATE triggers SET catching_until = 1"))
        assert await us.get("publisher", path) == {"waiting": False, "until": None, "call": None}
        await delete_old_occurrences(us.database, us.app.state.storage, settings.retention)
        async with us.database.reading() as session:
            assert (await session.execute(text("SELECT caught FROM triggers"))).scalar_one() is None

    async def test_ends_by_itself(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        trigger = await hook(us, verification="none")
        monkeypatch.setattr(service, "CATCH_SECONDS", 0)
        await us.make("publisher", f"/triggers/{trigger['id']}/catch")
        assert (await call(us, trigger)).json()["status"] == "started"


class TestOverlap:
    async def test_queued_calls_keep_their_own_input_encrypted(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(
            us,
            flow_id,
            config={"kind": "webhook", "verification": "none"},
            policies={"overlap": "queue_all", "rate_runs": 1, "rate_seconds": 5},
        )
        for number in range(3):
            await call(us, trigger, orjson.dumps({"secret number": number}))
        async with us.database.reading() as session:
            query = text("SELECT content FROM trigger_occurrences WHERE content IS NOT NULL")
            sealed = (await session.execute(query)).scalars().all()
        assert len(sealed) == 2
        assert not any(b"secret number" in bytes(content) for content in sealed)
        assert all("secret number" in us.app.state.box.decrypt(bytes(c)).get_secret_value() for c in sealed)

        async def done() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if [row["status"] for row in rows] == ["started"] * 3 else None

        rows = await until(done)
        texts = [(await us.get("viewer", f"/flow-runs/{row['run_id']}"))["input"]["text"] for row in rows]
        assert texts == [f'{{"secret number":{number}}}' for number in range(3)]
