"""Triggers in the real application, on both databases."""

import asyncio
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text, update

from headgate.features.access.permissions import Role
from headgate.features.runs.evidence.verify import verify
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.transitions import clock
from headgate.features.triggers import repository
from headgate.features.triggers.errors import TriggerChanged
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.occurrences import Occurrence
from headgate.features.triggers.schedule import SECOND
from headgate.features.triggers.sealed import seal
from headgate.features.triggers.settings import TriggerInput
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.foundation.database import now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.integration.features.triggers.conftest import add, occurrences, published, until
from tests.support.people import running, signed_in
from tests.support.team import FLOW, Team

HOURLY = {"kind": "schedule", "cron": "0 * * * *"}
NEVER_NOW = {"kind": "schedule", "cron": "0 0 1 1 *"}
EACH_SECOND = {"kind": "schedule", "every_seconds": 1}
RANGE = {"since": "2026-03-01T00:00:00Z", "until": "2026-03-01T05:30:00Z"}
WAITS = """name: Waits
nodes:
  heard: ChatInput
  ok: Approval
    question: Go on?
  said: ChatOutput
edges:
  heard.text -> ok.value
  ok.approve -> said.input
"""
FAILS = """name: Fails
nodes:
  heard: ChatInput
    policy:
      output_type: json
  said: ChatOutput
edges:
  heard.message -> said.input
"""


async def set_back(us: Team, trigger_id: str, **by: float) -> None:
    """As if no scheduler had looked at the trigger for a while."""
    at = clock() - round(timedelta(**by).total_seconds()) * SECOND
    async with us.database.writing() as session:
        change = update(TriggerRow).where(TriggerRow.id == trigger_id)
        await session.execute(change.values(cursor_at=at, resumed_at=at, due_at=clock()))


class TestSchedules:
    async def test_start_the_published_version_with_the_saved_input_and_are_evidence(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=EACH_SECOND, input={"text": "good morning"})
        first = (await until(lambda: occurrences(us, trigger["id"])))[0]
        assert (first["status"], first["key"][:3], first["reason"]) == ("started", "at:", "")

        async def over() -> Any:
            run = await us.get("viewer", f"/flow-runs/{first['run_id']}")
            return run if run["status"] == "completed" else None

        run = await until(over)
        assert (run["text"], run["user_id"]) == ("good morning", us.people["publisher"].id)
        named = {key: run["trigger"][key] for key in ("id", "name", "kind", "occurrence_id", "key")}
        assert named == {
            "id": trigger["id"],
            "name": "Nightly",
            "kind": "schedule",
            "occurrence_id": first["id"],
            "key": first["key"],
        }
        package = (await us.ask("viewer", "GET", f"/flow-runs/{run['id']}/evidence")).content
        assert verify(package).good
        assert first["id"].encode() in package
        assert not verify(package.replace(first["id"].encode(), b"0" * 36)).good

    async def test_say_when_they_fire(self, us: Team) -> None:
        flow_id = await published(us)
        config = {"kind": "schedule", "cron": "0 7 * * MON-FRI", "time_zone": "Europe/Stockholm"}
        trigger = await add(us, flow_id, config=config)
        assert trigger["sentence"] == "At 07:00 on weekdays (Europe/Stockholm)"
        firings = (await us.get("viewer", f"/triggers/{trigger['id']}/next"))["items"]
        assert len(firings) == 10
        assert firings[0]["due_at"] == trigger["next_at"]
        assert all("07:00:00 CE" in firing["local"] for firing in firings)
        agenda = (await us.get("viewer", "/triggers/agenda", params={"days": 14}))["items"]
        assert [entry["trigger_id"] for entry in agenda] == [trigger["id"]] * len(agenda)
        assert len(agenda) >= 9
        assert (await us.get("stranger", "/triggers/agenda"))["items"] == []

    async def test_are_previewed_with_both_nights_of_the_clock_changes(self, us: Team) -> None:
        config = {"kind": "schedule", "cron": "30 2 28 3 *", "time_zone": "Europe/Stockholm"}
        body = {"config": config | {"start": "2027-01-01T00:00:00Z"}, "count": 1}
        shown = (await us.ask("viewer", "POST", "/triggers/preview", json=body)).json()
        assert shown["next"][0]["local"] == "2027-03-28 03:00:00 CEST"
        assert [note["text"] for note in shown["next"][0]["notes"]] == [
            "02:30 does not exist on 2027-03-28: runs at 03:00"
        ]

    async def test_of_business_days_take_the_holidays_of_a_calendar(self, us: Team) -> None:
        config = {"kind": "schedule", "cron": "0 7 * * *", "days": "next_business", "start": "2027-12-23T00:00:00Z"}
        events = (("20271224", "20271227", "Christmas"), ("20280106", "20280107", "Epiphany"))
        lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//EN"]
        for first, last, name in events:
            lines += ["BEGIN:VEVENT", f"UID:{first}@example.org", f"SUMMARY:{name}"]
            lines += [f"DTSTART;VALUE=DATE:{first}", f"DTEND;VALUE=DATE:{last}", "END:VEVENT"]
        body = {"config": config, "count": 3, "calendar": "\r\n".join([*lines, "END:VCALENDAR", ""])}
        shown = (await us.ask("viewer", "POST", "/triggers/preview", json=body)).json()
        assert shown["holidays"] == ["2027-12-24", "2027-12-25", "2027-12-26", "2028-01-06"]
        assert [firing["local"][:16] for firing in shown["next"]] == [
            "2027-12-23 07:00",
            "2027-12-27 07:00",
            "2027-12-28 07:00",
        ]
        assert shown["sentence"].startswith("At 07:00 every day")
        assert ", else on the next business day, 4 holidays" in shown["sentence"]
        made = await add(us, await published(us), config=config | {"holidays": shown["holidays"]})
        assert made["next_at"] == "2027-12-23T07:00:00Z"
        assert made["config"]["holidays"] == shown["holidays"]

    @pytest.mark.parametrize("text", ["", "no calendar", "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", "\x00" * 100])
    async def test_refuse_a_calendar_without_holidays(self, us: Team, text: str) -> None:
        body = {"config": {"kind": "schedule", "cron": "0 7 * * *", "days": "business"}, "calendar": text}
        refused = await us.ask("viewer", "POST", "/triggers/preview", json=body)
        assert refused.status_code == 422, refused.text

    async def test_of_an_interval_have_no_business_days(self, us: Team) -> None:
        config = {"kind": "schedule", "every_seconds": 60, "days": "business"}
        refused = await us.ask("viewer", "POST", "/triggers/preview", json={"config": config})
        assert refused.status_code == 422, refused.text

    @pytest.mark.parametrize("year", [1, 9990])
    async def test_begin_and_end_in_these_centuries(self, us: Team, year: int) -> None:
        config = {"kind": "schedule", "every_seconds": 366 * 86_400, "start": f"{year:04}-01-01T00:00:00Z"}
        refused = await us.ask("viewer", "POST", "/triggers/preview", json={"config": config, "count": 100})
        assert refused.status_code == 422, refused.text

    async def test_of_an_agenda_are_computed_until_its_end(self, us: Team) -> None:
        flow_id = await published(us)
        config = {"kind": "schedule", "cron": "0 * * * *"}
        ids = {(await add(us, flow_id, name=f"Hourly {number}", config=config))["id"] for number in range(3)}
        await add(us, flow_id, name="Paused", config=config, enabled=False)
        entries = (await us.get("viewer", "/triggers/agenda", params={"days": 1, "limit": 50}))["items"]
        dues = [entry["due_at"] for entry in entries]
        assert (len(entries), dues) == (50, sorted(dues))
        assert {entry["trigger_id"] for entry in entries} == ids
        entries = (await us.get("viewer", "/triggers/agenda", params={"days": 1, "limit": 200}))["items"]
        assert len(entries) == 72

    async def test_of_a_frequent_schedule_are_one_entry_a_day_in_a_folded_agenda(self, us: Team) -> None:
        flow_id = await published(us)
        start = (now() + timedelta(days=1)).replace(hour=9, minute=0, second=0, microsecond=0)
        times = {"start": start.isoformat(), "end": (start + timedelta(hours=9)).isoformat()}
        frequent = {"kind": "schedule", "cron": "* 14 * * *"} | times
        daily = {"kind": "schedule", "cron": "30 14 * * *"} | times
        for name, config in (("Frequent", frequent), ("Daily", daily)):
            await add(us, flow_id, name=name, config=config)
        asked = {"days": 3, "limit": 100}
        assert len((await us.get("viewer", "/triggers/agenda", params=asked))["items"]) == 61
        entries = (await us.get("viewer", "/triggers/agenda", params=asked | {"fold": True}))["items"]
        assert [(entry["trigger_name"], entry["count"]) for entry in entries] == [("Frequent", 60), ("Daily", 1)]
        assert (entries[0]["every_seconds"], entries[1]["until"]) == (60, None)
        assert entries[0]["until"] == start.replace(hour=14, minute=59).isoformat().replace("+00:00", "Z")

    async def test_of_every_second_end_a_folded_agenda_in_time(self, us: Team) -> None:
        config = {"kind": "schedule", "cron": "* * * * * *", "time_zone": "UTC"}
        await add(us, await published(us), name="Restless", config=config)
        entries = (await us.get("viewer", "/triggers/agenda", params={"days": 31, "limit": 200, "fold": True}))["items"]
        assert sum(entry["count"] for entry in entries) <= 50_000
        assert max(entry["count"] for entry in entries) == 1_440

    @pytest.mark.parametrize(("catch_up", "started", "skipped"), [("none", 0, 5), ("latest", 1, 4), ("all", 5, 0)])
    async def test_catch_up_after_a_downtime(self, us: Team, catch_up: str, started: int, skipped: int) -> None:
        flow_id = await published(us)
        config = {"kind": "schedule", "every_seconds": 3600, "start": (now() - timedelta(minutes=330)).isoformat()}
        trigger = await add(us, flow_id, config=config, policies={"catch_up": catch_up}, enabled=False)
        await us.make("publisher", f"/triggers/{trigger['id']}/resume")
        await set_back(us, trigger["id"], minutes=320)

        async def settled() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if len(rows) == 5 and all(row["status"] != "queued" for row in rows) else None

        rows = await until(settled)
        assert [row["status"] for row in rows].count("started") == started
        missed = [row for row in rows if row["status"] == "skipped"]
        assert len(missed) == skipped
        assert {row["reason"] for row in missed} <= {"missed"}
        assert len({row["due_at"] for row in rows}) == 5

    async def test_are_fired_once_by_several_servers(self, us: Team, settings: Settings) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=EACH_SECOND, policies={"overlap": "allow", "limit": 50})
        async with running(signed_in(settings)), running(signed_in(settings)):

            async def several() -> Any:
                rows = await occurrences(us, trigger["id"])
                return rows if len(rows) >= 6 else None

            rows = await until(several)
        dues = [row["due_at"] for row in rows]
        assert len(set(dues)) == len(dues)
        assert {row["status"] for row in rows} == {"started"}
        runs = (await us.get("viewer", "/flow-runs", params={"flow_id": flow_id, "limit": 200}))["items"]
        assert len(runs) >= len(rows)
        assert len({row["run_id"] for row in rows}) == len(rows)


class TestOwners:
    async def test_fire_with_the_rights_of_now(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=NEVER_NOW)
        async with us.database.writing() as session:
            await session.execute(
                text("UPDATE users SET active = :off WHERE id = :id"),
                {"off": False, "id": us.people["publisher"].id},
            )
        fired = await us.make("runner", f"/triggers/{trigger['id']}/fire")
        assert (fired["occurrence"]["status"], fired["occurrence"]["reason"]) == ("skipped", "trigger_owner_gone")
        async with us.database.writing() as session:
            await session.execute(
                text("UPDATE users SET active = :on WHERE id = :id"), {"on": True, "id": us.people["publisher"].id}
            )
            await session.execute(
                text("UPDATE space_members SET role = :role WHERE user_id = :id"),
                {"role": Role.VIEWER.value, "id": us.people["publisher"].id},
            )
        fired = await us.make("runner", f"/triggers/{trigger['id']}/fire")
        assert (fired["occurrence"]["status"], fired["occurrence"]["reason"]) == ("skipped", "permission_missing")

    async def test_are_the_user_who_adds_them_and_others_only_by_an_admin(self, us: Team) -> None:
        flow_id = await published(us)
        other = us.people["runner"].id
        body = {"name": "Mine", "config": NEVER_NOW, "owner_user_id": other}
        refused = await us.ask("publisher", "POST", f"/flows/{flow_id}/triggers", json=body)
        assert refused.status_code == 403
        made = await us.make("admin", f"/flows/{flow_id}/triggers", **body)
        assert made["owner_user_id"] == other

    async def test_give_away_no_file_that_only_they_see(self, us: Team) -> None:
        """The run has the owner's rights, so who fires or changes a trigger names only files that they see."""
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=NEVER_NOW)
        upload = {"file": ("private.txt", b"private", "text/plain")}
        private = (await us.ask("publisher", "POST", "/files", files=upload)).json()["id"]
        path, named = f"/triggers/{trigger['id']}", {"file_ids": [private]}
        for who, method, where, body in (
            ("runner", "POST", f"{path}/fire", named),
            ("owner", "PATCH", path, {"input": named}),
            ("owner", "PATCH", path, {"input": {"form_data": {"report": [private]}}}),
            ("admin", "POST", f"/flows/{flow_id}/triggers", {"name": "B", "config": NEVER_NOW, "input": named}),
        ):
            refused = await us.ask(who, method, where, json=body)
            assert (refused.status_code, refused.json()["code"]) == (404, "file_not_found"), who
        assert await occurrences(us, trigger["id"]) == []
        assert (await us.ask("publisher", "PATCH", path, json={"input": named})).status_code == 200
        assert (
            await us.ask("owner", "PATCH", path, json={"input": {"form_data": {"id": new_id()}}})
        ).status_code == 200
        assert (await us.ask("publisher", "PATCH", path, json={"input": named})).status_code == 200
        kept = {"input": {"text": "hi", **named}}
        assert (await us.ask("owner", "PATCH", path, json=kept)).status_code == 404
        assert (await us.ask("owner", "PATCH", path, json={"config": NEVER_NOW})).status_code == 404
        assert (await us.ask("admin", "PATCH", path, json=kept)).status_code == 200
        fired = await us.make("publisher", f"{path}/fire", **named)
        assert fired["occurrence"]["status"] == "started"

    @pytest.mark.parametrize(
        "change",
        [
            {"config": {"kind": "webhook", "verification": "none", "form_from": {"report": "'an id'"}}},
            {"input": {"text": "other"}},
            {"secret": "another secret"},
        ],
    )
    async def test_become_the_user_who_changes_what_the_runs_read(self, us: Team, change: dict[str, Any]) -> None:
        """Otherwise who may change a trigger would act with the rights of its owner, for example on their files."""
        trigger = await add(us, await published(us), config={"kind": "webhook"})
        path = f"/triggers/{trigger['id']}"
        owner, publisher = us.people["owner"].id, us.people["publisher"].id
        for who, body, owner_id in (
            ("owner", {"name": "Renamed", "policies": {"overlap": "skip"}}, publisher),
            ("admin", change, publisher),
            ("owner", change, owner),
        ):
            answer = await us.ask(who, "PATCH", path, json=body)
            assert (answer.status_code, answer.json()["owner_user_id"]) == (200, owner_id), who


class TestHostileIds:
    async def test_are_unknown_and_no_error_of_the_database(self, us: Team) -> None:
        trigger = await add(us, await published(us), config=HOURLY)
        for method, path, status in (
            ("GET", "/triggers/%00", 404),
            ("DELETE", f"/triggers/{trigger['id']}/backfill/%00", 404),
            ("GET", "/triggers?flow_id=%00", 422),
            ("GET", "/triggers/agenda?flow_id=%00", 422),
        ):
            assert (await us.ask("publisher", method, path)).status_code == status, path
        for change in (
            {"owner_user_id": "\0"},
            {"input": {"file_ids": ["\0"]}},
            {"input": {"text": "\0"}},
            {"config": {"kind": "flow", "flow_id": "\0"}},
            {"config": {"kind": "webhook", "prefix": "\0"}},
            {"config": {"kind": "webhook", "event_key": "body:\0"}},
            {"config": {"kind": "webhook", "form_from": {"\0": "body"}}},
        ):
            answer = await us.ask("admin", "PATCH", f"/triggers/{trigger['id']}", json=change)
            assert answer.status_code == 422, change


class TestNames:
    async def test_of_a_flow_are_unique_also_at_the_same_time(self, us: Team) -> None:
        flow_id = await published(us)
        body = {"name": "Nightly", "config": NEVER_NOW}
        sent = (us.ask("publisher", "POST", f"/flows/{flow_id}/triggers", json=body) for _ in range(5))
        states = sorted(answer.status_code for answer in await asyncio.gather(*sent))
        assert states == [201] + [422] * 4
        other = await add(us, flow_id, name="Other", config=NEVER_NOW)
        refused = await us.ask("publisher", "PATCH", f"/triggers/{other['id']}", json={"name": "Nightly"})
        assert (refused.status_code, refused.json()["code"]) == (422, "trigger_invalid")


class TestPermissions:
    async def test_publishers_manage_runners_fire_viewers_view(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=NEVER_NOW)
        path = f"/triggers/{trigger['id']}"
        managers = {"publisher", "owner", "admin"}
        seeing = {*managers, "viewer", "runner", "editor"}
        assert await us.allowed("GET", path) == seeing
        assert await us.allowed("GET", f"{path}/occurrences") == seeing
        assert await us.allowed("GET", f"{path}/next") == seeing
        assert await us.allowed("POST", f"{path}/fire") == seeing - {"viewer"}
        for action in ("pause", "resume"):
            assert await us.allowed("POST", f"{path}/{action}") == managers
        assert await us.allowed("PATCH", path, json={"name": "Later"}) == managers
        since = {"since": "2020-01-01T00:00:00Z", "until": "2020-01-02T00:00:00Z", "dry_run": True}
        assert await us.allowed("POST", f"{path}/backfill", json=since) == managers
        days = {"since": "2025-12-31T00:00:00Z", "until": "2026-01-02T00:00:00Z"}
        made = await us.make("publisher", f"{path}/backfill", **days)
        assert await us.allowed("DELETE", f"{path}/backfill/{made['id']}") == managers
        assert (await us.get("stranger", "/triggers"))["items"] == []
        assert len((await us.get("viewer", "/triggers"))["items"]) == 1
        assert (await us.ask("stranger", "DELETE", path)).status_code == 404
        assert (await us.ask("owner", "DELETE", path)).status_code == 204


class TestList:
    async def test_is_filtered_by_flow_kind_state_and_text(self, us: Team) -> None:
        flow_id = await published(us)
        draft_id = (await us.make("publisher", "/flows", spec=FLOW.replace("Talk", "Import 100 %")))["id"]
        hourly = {"kind": "schedule", "every_seconds": 3600}
        await add(us, flow_id, name="Hourly", config=hourly)
        await add(us, flow_id, name="Stopped", config=hourly, enabled=False)
        broken = await add(us, flow_id, name="Broken", config={"kind": "manual"})
        await us.make("publisher", f"/triggers/{broken['id']}/pause", reason="No answer.")
        await add(us, draft_id, name="Waiting", config=hourly)

        async def names(**params: Any) -> list[str]:
            return sorted(item["name"] for item in (await us.get("viewer", "/triggers", params=params))["items"])

        assert await names(flow_id=draft_id) == ["Waiting"]
        assert await names(kind="manual") == ["Broken"]
        states = {state: await names(state=state) for state in ("on", "off", "failing", "unpublished")}
        assert states == {"on": ["Hourly"], "off": ["Stopped"], "failing": ["Broken"], "unpublished": ["Waiting"]}
        assert await names(text="HOUR") == ["Hourly"]
        assert await names(text="0 %") == ["Waiting"]
        assert await names(text="%") == ["Waiting"]
        assert await names(text="talk", state="off") == ["Stopped"]
        assert (await us.ask("viewer", "GET", "/triggers?state=broken")).status_code == 422


class TestPolicies:
    async def started(self, us: Team, **policies: Any) -> tuple[str, list[dict[str, Any]]]:
        """Three starts of a flow that waits for approval, at a time."""
        flow_id = await published(us, WAITS)
        trigger = await add(us, flow_id, config={"kind": "manual"}, policies=policies)
        rows = [(await us.make("runner", f"/triggers/{trigger['id']}/fire"))["occurrence"] for _ in range(3)]
        return str(trigger["id"]), rows

    async def test_skip_while_a_run_waits_for_approval(self, us: Team) -> None:
        _, rows = await self.started(us, overlap="skip")
        assert [row["status"] for row in rows] == ["started", "skipped", "skipped"]
        assert rows[1]["reason"] == "overlap"

    async def test_allow_so_many(self, us: Team) -> None:
        _, rows = await self.started(us, overlap="allow", limit=2)
        assert [row["status"] for row in rows] == ["started", "started", "skipped"]

    async def test_queue_one_and_start_it_when_the_run_has_ended(self, us: Team) -> None:
        trigger_id, rows = await self.started(us, overlap="queue_one")
        assert [row["status"] for row in rows] == ["started", "queued", "skipped"]
        assert rows[2]["reason"] == "queue_full"
        await us.make("runner", f"/flow-runs/{rows[0]['run_id']}/cancel")

        async def moved() -> Any:
            second = (await occurrences(us, trigger_id))[1]
            return second if second["status"] == "started" else None

        assert (await until(moved))["run_id"] not in {None, rows[0]["run_id"]}

    async def test_replace_what_waits_with_the_newest(self, us: Team) -> None:
        trigger_id, rows = await self.started(us, overlap="replace")
        assert [row["status"] for row in rows] == ["started", "queued", "queued"]
        found = await occurrences(us, trigger_id)
        assert [row["status"] for row in found] == ["started", "skipped", "queued"]
        assert (found[1]["reason"], found[1]["message"]) == ("replaced", "A newer occurrence replaced it in the queue.")
        await us.make("runner", f"/flow-runs/{rows[0]['run_id']}/cancel")

        async def moved() -> Any:
            return [row["status"] for row in await occurrences(us, trigger_id)] == ["started", "skipped", "started"]

        await until(moved)

    async def test_replace_leaves_one_of_many_that_come_at_the_same_time(self, us: Team) -> None:
        flow_id = await published(us, WAITS)
        trigger = await add(us, flow_id, config={"kind": "manual"}, policies={"overlap": "replace"})
        await asyncio.gather(*(us.make("runner", f"/triggers/{trigger['id']}/fire") for _ in range(20)))
        states = Counter(row["status"] for row in await occurrences(us, trigger["id"]))
        assert states == {"started": 1, "skipped": 18, "queued": 1}

    async def test_queue_all_in_order(self, us: Team) -> None:
        trigger_id, rows = await self.started(us, overlap="queue_all")
        assert [row["status"] for row in rows] == ["started", "queued", "queued"]
        for number in (1, 2):
            run_id = (await occurrences(us, trigger_id))[number - 1]["run_id"]
            await us.make("runner", f"/flow-runs/{run_id}/cancel")

            async def moved(number: int = number) -> Any:
                return (await occurrences(us, trigger_id))[number]["status"] == "started"

            await until(moved)

    async def test_cancel_the_old(self, us: Team) -> None:
        _, rows = await self.started(us, overlap="cancel_old")
        assert [row["status"] for row in rows] == ["started"] * 3
        states = [(await us.get("viewer", f"/flow-runs/{row['run_id']}"))["status"] for row in rows]
        assert states[:2] == ["cancelled", "cancelled"]
        assert states[2] not in {"cancelled", "failed"}

    async def test_cancel_only_as_many_as_the_limit_requires(self, us: Team) -> None:
        _, rows = await self.started(us, overlap="cancel_old", limit=2)
        states = [(await us.get("viewer", f"/flow-runs/{row['run_id']}"))["status"] for row in rows]
        assert states[0] == "cancelled"
        assert not {"cancelled", "failed"} & set(states[1:])

    async def test_cancel_no_run_for_one_that_the_rate_or_a_quota_refuses(self, us: Team) -> None:
        _, rows = await self.started(us, overlap="cancel_old", rate_runs=1, rate_seconds=3600)
        assert [row["status"] for row in rows] == ["started", "skipped", "skipped"]
        assert (await us.get("viewer", f"/flow-runs/{rows[0]['run_id']}"))["status"] != "cancelled"

    async def test_start_what_waits_at_once_when_the_limit_is_raised_or_the_trigger_resumed(self, us: Team) -> None:
        """Not at the next due time, which may be next year."""
        flow_id = await published(us)
        policies = {"overlap": "queue_all", "rate_runs": 1, "rate_seconds": 86_400}
        trigger = await add(us, flow_id, config=NEVER_NOW, policies=policies)
        path = f"/triggers/{trigger['id']}"
        for _ in range(2):
            await us.make("runner", f"{path}/fire")
        await us.make("publisher", f"{path}/pause")
        more = {"policies": {"overlap": "queue_all", "rate_runs": 2, "rate_seconds": 86_400}}
        assert (await us.ask("publisher", "PATCH", path, json={**more, "config": NEVER_NOW})).status_code == 200
        await us.make("publisher", f"{path}/resume")

        async def started() -> Any:
            return [row["status"] for row in await occurrences(us, trigger["id"])] == ["started"] * 2

        await until(started)

    async def test_a_queued_one_that_cannot_be_read_does_not_block_the_others(self, us: Team) -> None:
        flow_id = await published(us)
        policies = {"overlap": "queue_all", "rate_runs": 1, "rate_seconds": 86_400}
        trigger = await add(us, flow_id, config={"kind": "manual"}, policies=policies)
        path = f"/triggers/{trigger['id']}"
        for number in range(4):
            await us.make("runner", f"{path}/fire", text=f"run {number}")
        rows = await occurrences(us, trigger["id"])
        box = us.app.state.box
        async with us.database.writing() as session:
            for row, content in ((rows[1], seal(box, "cut")[:-8]), (rows[2], seal(box, '{"input": {"text": 7}}'))):
                change = update(OccurrenceRow).where(OccurrenceRow.id == row["id"]).values(content=content)
                await session.execute(change)
        await us.ask("publisher", "PATCH", path, json={"policies": {"overlap": "queue_all"}})

        async def last() -> Any:
            found = await occurrences(us, trigger["id"])
            return found if found[3]["status"] == "started" else None

        assert [row["status"] for row in await until(last)] == ["started", "skipped", "skipped", "started"]

    async def test_limit_starts_in_a_time(self, us: Team) -> None:
        _, rows = await self.started(us, overlap="allow", limit=50, rate_runs=2, rate_seconds=3600)
        assert [row["status"] for row in rows] == ["started", "started", "skipped"]
        assert "2 had started within 3600 seconds" in rows[2]["message"]

    async def test_concurrent_starts_never_exceed_the_limit(self, us: Team) -> None:
        flow_id = await published(us, WAITS)
        trigger = await add(us, flow_id, config={"kind": "manual"}, policies={"overlap": "allow", "limit": 3})
        answers = await asyncio.gather(*(us.make("runner", f"/triggers/{trigger['id']}/fire") for _ in range(20)))
        assert [answer["occurrence"]["status"] for answer in answers].count("started") == 3
        assert len(await occurrences(us, trigger["id"])) == 20

    async def test_pause_after_failures_in_a_row(self, us: Team) -> None:
        flow_id = await published(us, FAILS)
        policies = {"overlap": "allow", "limit": 50, "pause_after_failures": 2}
        trigger = await add(us, flow_id, config=EACH_SECOND, policies=policies)

        async def paused() -> Any:
            found = await us.get("viewer", f"/triggers/{trigger['id']}")
            return None if found["enabled"] else found

        assert (await until(paused))["paused_reason"] == "2 runs in a row failed."
        await us.make("publisher", f"/triggers/{trigger['id']}/resume")
        assert (await us.get("viewer", f"/triggers/{trigger['id']}"))["enabled"] is True


class TestChanges:
    async def test_during_a_firing_are_not_ignored(self, us: Team) -> None:
        """A firing that read the trigger before a change must not use the old owner or input."""
        trigger = await add(us, await published(us), config={"kind": "manual"})
        async with us.database.reading() as session:
            listed = await repository.find_claimed(session, trigger["id"])
        assert listed is not None
        await us.ask("publisher", "PATCH", f"/triggers/{trigger['id']}", json={"input": {"text": "new"}})
        firing: Firing = us.app.state.firing
        with pytest.raises(TriggerChanged):
            await firing.fire(listed, Occurrence("manual:a", TriggerInput(text="old"), by_hand=True))
        assert await occurrences(us, trigger["id"]) == []


class TestPauses:
    async def test_keep_the_reason_and_fire_nothing(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=EACH_SECOND)
        await until(lambda: occurrences(us, trigger["id"]))
        paused = await us.make("publisher", f"/triggers/{trigger['id']}/pause", reason="month end")
        assert (paused["enabled"], paused["paused_reason"], paused["next_at"]) == (False, "month end", None)
        count = len(await occurrences(us, trigger["id"]))
        await asyncio.sleep(2.2)
        assert len(await occurrences(us, trigger["id"])) == count
        by_hand = await us.make("runner", f"/triggers/{trigger['id']}/fire")
        assert by_hand["occurrence"]["status"] in {"started", "skipped"}
        resumed = await us.make("publisher", f"/triggers/{trigger['id']}/resume")
        assert (resumed["enabled"], resumed["paused_reason"]) == (True, "")

    async def test_of_an_unpublished_flow_say_so(self, us: Team) -> None:
        flow = await us.make(
            "publisher",
            "/flows",
            spec="name: Draft\nnodes:\n  a: ChatInput\n  b: ChatOutput\nedges:\n  a.message -> b.input\n",
        )
        trigger = await add(us, flow["id"], config=NEVER_NOW)
        assert trigger["published"] is False
        fired = await us.make("runner", f"/triggers/{trigger['id']}/fire")
        assert fired["occurrence"]["status"] == "skipped"
        assert "publish" in fired["occurrence"]["message"].lower()


class TestBackfills:
    async def test_run_what_has_no_row_in_order(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=HOURLY)
        path = f"/triggers/{trigger['id']}/backfill"
        preview = await us.make("publisher", path, **RANGE, dry_run=True)
        assert (preview["count"], preview["id"]) == (6, None)
        assert await occurrences(us, trigger["id"]) == []
        made = await us.make("publisher", path, **RANGE)
        assert made["count"] == 6

        async def done() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if all(row["status"] == "started" for row in rows) else None

        rows = await until(done)
        assert [row["due_at"] for row in rows] == sorted(row["due_at"] for row in rows)
        assert len({row["run_id"] for row in rows}) == 6
        again = await us.make("publisher", path, **RANGE)
        assert again["count"] == 0

    async def test_can_be_cancelled(self, us: Team) -> None:
        flow_id = await published(us, WAITS)
        trigger = await add(us, flow_id, config=HOURLY)
        made = await us.make("publisher", f"/triggers/{trigger['id']}/backfill", **RANGE)

        async def begun() -> Any:
            return [row for row in await occurrences(us, trigger["id"]) if row["status"] == "started"]

        await until(begun)
        answer = await us.ask("publisher", "DELETE", f"/triggers/{trigger['id']}/backfill/{made['id']}")
        assert answer.json() == {"cancelled": 5}
        states = [row["status"] for row in await occurrences(us, trigger["id"])]
        assert states == ["started"] + ["cancelled"] * 5
        other = await add(us, flow_id, name="Other", config=HOURLY)
        for wrong in (f"{trigger['id']}/backfill/{new_id()}", f"{other['id']}/backfill/{made['id']}"):
            refused = await us.ask("publisher", "DELETE", f"/triggers/{wrong}")
            assert (refused.status_code, refused.json()["code"]) == (404, "backfill_not_found")

    @pytest.mark.parametrize(
        "policies", [{"overlap": "skip"}, {"overlap": "allow", "limit": 50}, {"overlap": "cancel_old"}]
    )
    async def test_run_so_many_at_the_same_time(self, us: Team, policies: Any) -> None:
        """Whatever the policies of the trigger are, which are about its due times."""
        trigger = await add(us, await published(us, WAITS), config=HOURLY, policies=policies)
        await us.make("publisher", f"/triggers/{trigger['id']}/backfill", **RANGE, parallel=3)

        async def begun() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if [row["status"] for row in rows].count("started") == 3 else None

        rows = await until(begun)
        await asyncio.sleep(0.5)
        states = [row["status"] for row in await occurrences(us, trigger["id"])]
        assert states == ["started"] * 3 + ["queued"] * 3
        await us.make("runner", f"/flow-runs/{rows[1]['run_id']}/cancel")

        async def moved() -> Any:
            return [row["status"] for row in await occurrences(us, trigger["id"])] == ["started"] * 4 + ["queued"] * 2

        await until(moved)

    async def test_are_shown_with_time_and_cost_of_past_runs(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=HOURLY)
        path = f"/triggers/{trigger['id']}/backfill"
        assert (await us.make("publisher", path, **RANGE, dry_run=True))["estimate"] is None
        run = await us.make("runner", f"/flows/{flow_id}/runs", text="hi", version="published")
        lasted = await self.completed(us, run["id"], 10)
        estimate = (await us.make("publisher", path, **RANGE, dry_run=True, parallel=4))["estimate"]
        costs = {"runs": 1, "cost_usd": 0.0, "unpriced": 0}
        assert estimate == {"basis": "flow", "seconds": pytest.approx(2 * lasted), **costs}  # 6 in 2 rounds of 4
        fired = (await us.make("runner", f"/triggers/{trigger['id']}/fire"))["occurrence"]["run_id"]
        lasted = await self.completed(us, fired, 20)
        estimate = (await us.make("publisher", path, **RANGE, dry_run=True))["estimate"]
        assert estimate == {"basis": "trigger", "seconds": pytest.approx(6 * lasted), **costs}

    async def completed(self, us: Team, run_id: str, seconds: int) -> int:
        """Wait until a run has completed, and let it have taken so long. Returns the seconds."""

        async def over() -> Any:
            return (await us.get("viewer", f"/flow-runs/{run_id}"))["status"] == "completed"

        await until(over)
        row = flow_runs.c
        async with us.database.writing() as session:
            change = update(flow_runs).where(row.id == run_id)
            await session.execute(change.values(finished_at=row.started_at + seconds * SECOND))
        return seconds

    async def test_are_refused_where_occurrences_were_deleted(self, us: Team) -> None:
        """A due time that had run would run again."""
        trigger = await add(us, await published(us), config=HOURLY)
        async with us.database.writing() as session:
            old = clock() - round(timedelta(days=200).total_seconds()) * SECOND
            await session.execute(update(TriggerRow).where(TriggerRow.id == trigger["id"]).values(created_at=old))
        path = f"/triggers/{trigger['id']}/backfill"
        for days, status in ((100, 422), (80, 201), (210, 201)):
            since = now() - timedelta(days=days)
            body = {"since": since.isoformat(), "until": (since + timedelta(hours=2)).isoformat(), "dry_run": True}
            answer = await us.ask("publisher", "POST", path, json=body)
            assert answer.status_code == status or (answer.status_code, status) == (200, 201), answer.text

    async def test_are_refused_where_they_make_no_sense(self, us: Team) -> None:
        flow_id = await published(us)
        hourly = await add(us, flow_id, config=HOURLY)
        manual = await add(us, flow_id, name="By hand", config={"kind": "manual"})
        seconds = await add(us, flow_id, name="Seconds", config={"kind": "schedule", "cron": "* * * * * *"})
        for trigger, body, status in (
            (hourly, {**RANGE, "until": "2999-01-01T00:00:00Z"}, 422),
            (manual, RANGE, 422),
            (seconds, RANGE, 409),
        ):
            path = f"/triggers/{trigger['id']}/backfill"
            assert (await us.ask("publisher", "POST", path, json=body)).status_code == status


class TestAfterAnotherFlow:
    async def test_starts_once_for_each_run_that_ended(self, us: Team) -> None:
        first, second = await published(us), await published(us)
        trigger = await add(us, second, config={"kind": "flow", "flow_id": first})
        assert trigger["sentence"] == "When a run of Talk has completed"
        for number in range(3):
            await us.make("runner", f"/flows/{first}/runs", text=f"run {number}", version="published", wait=True)

        async def three() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if len(rows) == 3 else None

        rows = await until(three)
        await asyncio.sleep(0.5)
        assert len(await occurrences(us, trigger["id"])) == 3
        run = await us.get("viewer", f"/flow-runs/{rows[0]['run_id']}")
        assert run["input"]["text"] == "run 0"

    async def test_cannot_follow_itself(self, us: Team) -> None:
        flow_id = await published(us)
        body = {"name": "Loop", "config": {"kind": "flow", "flow_id": flow_id}}
        assert (await us.ask("publisher", "POST", f"/flows/{flow_id}/triggers", json=body)).status_code == 422


class TestEvents:
    async def test_start_a_run_each_with_their_data(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config={"kind": "event", "name": "paid", "correlation": "7"})
        event = {"name": "paid", "data": {"amount": 40}, "space_id": us.space}
        for correlation, key in (("7", "a"), ("7", "a"), ("8", "b"), ("7", "c")):
            await us.make("runner", "/events", **event, correlation=correlation, key=key)
        await us.make("stranger", "/events", **{**event, "space_id": us.elsewhere}, correlation="7", key="d")

        async def two() -> Any:
            rows = await occurrences(us, trigger["id"])
            return rows if len(rows) == 2 else None

        rows = await until(two)
        await asyncio.sleep(0.5)
        assert len(await occurrences(us, trigger["id"])) == 2
        run = await us.get("viewer", f"/flow-runs/{rows[0]['run_id']}")
        assert run["input"]["text"] == '{"amount":40}'
        assert {"kind": "event", "name": "paid"} in run["outside_content"]


class TestAudit:
    async def test_records_every_change(self, us: Team) -> None:
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=HOURLY)
        path = f"/triggers/{trigger['id']}"
        await us.ask("publisher", "PATCH", path, json={"name": "Hourly"})
        for action in ("pause", "resume"):
            await us.make("publisher", f"{path}/{action}")
        await us.make("publisher", f"{path}/backfill", **RANGE)
        await us.ask("publisher", "DELETE", path)
        async with us.database.reading() as session:
            rows = await session.execute(
                text("SELECT action FROM audit_events WHERE resource_kind = 'trigger' ORDER BY seq")
            )
            actions = [row[0] for row in rows]
        assert actions == [
            f"trigger.{action}" for action in ("created", "changed", "paused", "resumed", "backfilled", "removed")
        ]
