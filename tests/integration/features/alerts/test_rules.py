"""What each kind of rule finds, on both databases, and who may do what with rules."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.alerts import evaluation
from headgate.features.jobs.leases import clock
from headgate.features.models.catalogue import resolve
from headgate.sdk import Model
from tests.integration.features.alerts.conftest import (
    HOUR,
    SECOND,
    alerts,
    evaluated,
    flow_of,
    mail,
    notices,
    rule,
    run,
    until,
)
from tests.support.rows import execute
from tests.support.smtp import Postbox
from tests.support.team import FLOW, Team

FAILING_TOO = (
    "name: Import too\nnodes:\n  heard: ChatInput\n  parse: ParseJSON\n  pick: SelectData\n    expression: '@'\n"
    "  said: ChatOutput\n"
    "edges:\n  heard.text -> parse.text\n  parse.data -> pick.data\n  pick.text -> said.input\n"
)
DRAFT = FAILING_TOO.replace("Import too", "Trial")


async def age(us: Team, run_id: str, **columns: int) -> None:
    """Set times of a run."""
    changes = ", ".join(f"{name} = :{name}" for name in columns)
    await execute(us.database, f"UPDATE flow_runs SET {changes} WHERE id = :id", id=run_id, **columns)


async def found(us: Team, who: str = "viewer") -> list[tuple[str, str, Any]]:
    return [(one["kind"], one["name"], one["value"]) for one in await alerts(us, who, state="open")]


class TestKinds:
    async def test_failures_of_published_versions_within_the_window_open_one_alert_per_flow(self, us: Team) -> None:
        flow_id, other = await flow_of(us), await flow_of(us, FAILING_TOO)
        await rule(us, space_id=us.space, threshold=2)
        for target in (flow_id, flow_id, other, other, other):
            await run(us, target)
        old = await run(us, other)
        await age(us, old, finished_at=clock() - 2 * HOUR)
        await run(us, await flow_of(us, DRAFT, published=False), version="draft")
        await evaluated(us)
        assert sorted(await found(us)) == [("failure", "Import", 2), ("failure", "Import too", 3)]

    async def test_below_the_threshold_nothing_is_opened(self, us: Team) -> None:
        flow_id = await flow_of(us)
        await rule(us, flow_id=flow_id, threshold=2)
        await run(us, flow_id)
        await evaluated(us)
        assert await found(us) == []

    async def test_failure_rate_counts_only_with_enough_runs(self, us: Team) -> None:
        flow_id = await flow_of(us)
        await rule(us, flow_id=flow_id, kind="failure_rate", threshold=30, fewest_runs=3)
        await run(us, flow_id)
        await run(us, flow_id, "[1]")
        await evaluated(us)
        assert await found(us) == []
        await run(us, flow_id, "[1]")
        await evaluated(us)
        assert await found(us) == [("failure_rate", "Import", 33.3)]

    async def test_slow_runs_are_found_when_they_ended_and_while_they_run(self, us: Team) -> None:
        flow_id = await flow_of(us, FLOW)
        await rule(us, flow_id=flow_id, kind="slow", threshold=60)
        run_id = await run(us, flow_id, "hello")
        await evaluated(us)
        assert await found(us) == []
        await age(us, run_id, started_at=clock() - 90 * SECOND)
        await evaluated(us)
        [(_, _, value)] = await found(us)
        assert 60 <= value <= 120
        query = "UPDATE flow_runs SET status = 'running', finished_at = NULL, started_at = :at WHERE id = :id"
        await execute(us.database, query, at=clock() - 3 * HOUR, id=run_id)
        await evaluated(us)
        [(_, _, value)] = await found(us)
        assert value >= 3 * 3_600

    async def test_silent_flow_with_a_schedule_is_found_after_its_due_time_and_not_before(self, us: Team) -> None:
        flow_id = await flow_of(us, FLOW)
        config = {"kind": "schedule", "every_seconds": 3600}
        trigger = await us.make("publisher", f"/flows/{flow_id}/triggers", name="Hourly", config=config)
        await rule(us, space_id=us.space, kind="silent", window_seconds=600)
        run_id = await run(us, flow_id, "hello")
        at = clock()
        query = "UPDATE triggers SET created_at = :at, updated_at = :at WHERE id = :id"
        await execute(us.database, query, at=at - 10 * HOUR, id=trigger["id"])
        await execute(us.database, "UPDATE alert_rules SET created_at = :at", at=at - 10 * HOUR)
        # Due at full hours since 10 hours ago; the run of 65 minutes ago was before the one of an hour ago.
        await age(us, run_id, created_at=at - HOUR + 5 * SECOND)
        await evaluated(us)
        assert await found(us) == []
        await age(us, run_id, created_at=at - HOUR - 300 * SECOND)
        await evaluated(us)
        assert await found(us) == [("silent", "Talk", pytest.approx(3_600, abs=30))]
        await us.make("publisher", f"/triggers/{trigger['id']}/pause")
        await evaluated(us)
        assert await found(us) == []

    async def test_silent_flow_without_a_schedule_is_expected_to_run_in_every_window(self, us: Team) -> None:
        flow_id = await flow_of(us, FLOW)
        await rule(us, flow_id=flow_id, kind="silent", window_seconds=3_600)
        await rule(us, space_id=us.space, kind="silent", window_seconds=3_600)
        await evaluated(us)
        assert await found(us) == []
        await execute(us.database, "UPDATE alert_rules SET created_at = :at", at=clock() - 2 * HOUR)
        await evaluated(us)
        assert await found(us) == [("silent", "Talk", pytest.approx(7_200, abs=30))]
        await run(us, flow_id, "hello")
        await evaluated(us)
        assert await found(us) == []

    async def test_queue_counts_runs_of_the_whole_scope_that_wait_for_long(self, us: Team) -> None:
        await rule(us, space_id=us.space, kind="queue", threshold=2, window_seconds=600)
        run_ids = [await run(us, await flow_of(us, spec), "hello") for spec in (FLOW, FAILING_TOO)]
        await execute(us.database, "UPDATE flow_runs SET status = 'queued', created_at = :at", at=clock() - HOUR)
        await evaluated(us)
        assert await found(us) == [("queue", "", 2)]
        query = "UPDATE flow_runs SET status = 'completed' WHERE id = :id"
        for run_id in run_ids:
            await execute(us.database, query, id=run_id)

    async def test_cost_is_that_of_the_whole_scope_at_list_prices(self, us: Team) -> None:
        await rule(us, space_id=us.space, kind="cost", threshold=1)
        for spec in (FLOW, FAILING_TOO):
            run_id = await run(us, await flow_of(us, spec), "[1]")
            query = (
                "UPDATE flow_step_results SET num_tokens_input = 5000000, num_tokens_output = 0, model_parameters ="
                ' \'{"provider": "openai", "name": "gpt-4o-mini"}\' WHERE flow_run_id = :id AND step_id = \'heard\''
            )
            await execute(us.database, query, id=run_id)
        await evaluated(us)
        [(kind, name, value)] = await found(us)
        assert (kind, name) == ("cost", "")
        price = resolve(Model(provider="openai", name="gpt-4o-mini")).price_in
        assert value == pytest.approx(10 * (price or 0))

    async def test_budget_is_the_share_of_the_day_that_is_used(self, us: Team) -> None:
        flow_id = await flow_of(us, FLOW + "settings:\n  daily_budget:\n    tokens: 1000\n")
        await rule(us, flow_id=flow_id, kind="budget", threshold=80)
        await run(us, flow_id, "hello")
        account = (
            "INSERT INTO budget_accounts (subject, kind, tenant_id, flow_id, used, changed_at)"
            " SELECT 'flow:' || id || :day, 'tokens', tenant_id, id, :used, 0 FROM flows WHERE id = :id"
        )
        today = f":{datetime.now(UTC):%Y-%m-%d}"
        await execute(us.database, account, day=today, used=790, id=flow_id)
        await evaluated(us)
        assert await found(us) == []
        await execute(us.database, "UPDATE budget_accounts SET used = 850 WHERE kind = 'tokens'")
        await evaluated(us)
        assert await found(us) == [("budget", "Talk", 85)]


class TestAlerts:
    async def test_is_opened_once_resolved_when_it_holds_no_more_and_opened_again(self, us: Team) -> None:
        flow_id = await flow_of(us)
        made = await rule(us, flow_id=flow_id)
        run_id = await run(us, flow_id)
        for _ in range(3):
            await evaluated(us)
        [alert] = await alerts(us)
        assert (alert["state"], alert["rule_id"], alert["flow_id"]) == ("open", made["id"], flow_id)
        shown = await us.get("viewer", f"/alert-rules/{made['id']}")
        assert (shown["state"], shown["open"], shown["flow_name"]) == ("open", 1, "Import")
        assert shown["fired_at"]
        await age(us, run_id, finished_at=clock() - 2 * HOUR)
        await evaluated(us)
        [alert] = await alerts(us)
        assert alert["state"] == "resolved"
        assert alert["resolved_at"] > alert["opened_at"]
        await run(us, flow_id)
        await evaluated(us)
        assert [one["state"] for one in await alerts(us)] == ["open", "resolved"]

    async def test_is_acknowledged_by_who_may_start_runs(self, us: Team) -> None:
        flow_id = await flow_of(us)
        await rule(us, flow_id=flow_id)
        await run(us, flow_id)
        await evaluated(us)
        [alert] = await alerts(us)
        path = f"/alerts/{alert['id']}/acknowledge"
        assert await us.allowed("POST", path) == {"runner", "editor", "publisher", "owner", "admin"}
        await evaluated(us)
        [alert] = await alerts(us)
        assert alert["state"] == "acknowledged"

    async def test_is_in_the_attention_list_until_it_is_acknowledged(self, us: Team) -> None:
        flow_id = await flow_of(us)
        await rule(us, flow_id=flow_id)
        await run(us, flow_id)
        await evaluated(us)

        async def listed() -> list[dict[str, Any]]:
            items = (await us.get("viewer", "/attention"))["items"]
            return [item for item in items if item["kind"] == "alert"]

        [item] = await listed()
        assert (item["name"], item["code"], item["flow_id"]) == ("Imports fail", "failure", flow_id)
        assert item["message"] == "Import: failed runs in 1 h: 1"
        assert (await us.get("stranger", "/attention"))["items"] == []
        await us.make("runner", f"/alerts/{item['key'].removeprefix('alert:')}/acknowledge")
        assert await listed() == []

    async def test_of_a_disabled_rule_is_resolved_and_of_a_removed_one_gone(self, us: Team) -> None:
        flow_id = await flow_of(us)
        made = await rule(us, flow_id=flow_id)
        await run(us, flow_id)
        await evaluated(us)
        path = f"/alert-rules/{made['id']}"
        assert (await us.ask("publisher", "PATCH", path, json={"enabled": False})).is_success
        await evaluated(us)
        assert [one["state"] for one in await alerts(us)] == ["resolved"]
        assert (await us.get("viewer", path))["state"] == "off"
        assert (await us.ask("publisher", "DELETE", path)).status_code == 204
        assert await alerts(us) == []


class TestTime:
    async def test_late_and_queued_runs_are_evaluated_only_after_evaluations_were_steady(
        self, us: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flow_id = await flow_of(us, FLOW)
        await rule(us, flow_id=flow_id, kind="silent", window_seconds=3_600)
        await execute(us.database, "UPDATE alert_rules SET created_at = :at", at=clock() - 2 * HOUR)
        monkeypatch.setattr(evaluation, "STEADY_SECONDS", 60.0)
        await evaluated(us)
        assert await found(us) == []
        await execute(us.database, "UPDATE alert_evaluations SET steady_since = :at", at=clock() - 61 * SECOND)
        await evaluated(us)
        assert len(await found(us)) == 1
        # After a gap it neither opens nor resolves anything that depends on time.
        await execute(us.database, "UPDATE alert_evaluations SET evaluated_at = :at", at=clock() - HOUR)
        await run(us, flow_id, "hello")
        await evaluated(us)
        assert len(await found(us)) == 1

    async def test_a_clock_set_back_stops_neither_evaluations_nor_notices(self, us: Team) -> None:
        flow_id = await flow_of(us)
        await rule(us, flow_id=flow_id)
        await evaluated(us)
        await run(us, flow_id)
        ahead = clock() + 5 * HOUR
        await execute(us.database, "UPDATE alert_evaluations SET due_at = :at, evaluated_at = :at", at=ahead)
        await us.app.state.services.jobs.recover(evaluation.KIND)
        await until(us, text("SELECT count(*) FROM alerts"))

    async def test_the_clock_may_go_forward(self, us: Team) -> None:
        flow_id = await flow_of(us)
        await rule(us, flow_id=flow_id)
        await run(us, flow_id)
        await execute(us.database, "UPDATE alert_evaluations SET evaluated_at = :at", at=clock() - 48 * HOUR)
        await evaluated(us)
        assert len(await found(us)) == 1


class TestPermissions:
    async def test_rules_of_a_space_are_of_its_publishers(self, us: Team) -> None:
        body = {"name": "Fails", "kind": "failure", "space_id": us.space}
        answers = await us.answers("POST", "/alert-rules", json=body)
        allowed = {who for who, status in answers.items() if status == 201}
        assert allowed == {"publisher", "owner", "admin"}
        made = await rule(us, space_id=us.space)
        path = f"/alert-rules/{made['id']}"
        assert await us.allowed("PATCH", path, json={"name": "Other"}) == {"publisher", "owner", "admin"}
        assert (await us.answers("GET", path))["stranger"] == 404

    async def test_rules_of_the_organisation_are_of_its_admins(self, us: Team) -> None:
        body = {"name": "Fails", "kind": "failure"}
        answers = await us.answers("POST", "/alert-rules", json=body)
        assert {who for who, status in answers.items() if status == 201} == {"admin"}
        flow_id = await flow_of(us)
        await run(us, flow_id)
        await evaluated(us)
        names = [one["name"] for one in (await us.get("owner", "/alert-rules"))["items"]]
        assert names == []
        assert len((await us.get("admin", "/alert-rules"))["items"]) == 1
        # Their alerts are shown to who sees the flow.
        assert [len(await alerts(us, who)) for who in ("viewer", "admin", "stranger")] == [1, 1, 0]

    async def test_changes_are_in_the_audit_log(self, us: Team) -> None:
        flow_id = await flow_of(us)
        made = await rule(us, flow_id=flow_id)
        path = f"/alert-rules/{made['id']}"
        await us.ask("publisher", "PATCH", path, json={"muted_until": "2030-01-01T00:00:00Z"})
        await us.ask("publisher", "DELETE", path)
        entries = (await us.get("admin", "/audit"))["items"]
        assert [entry["action"] for entry in entries if entry["action"].startswith("alert_rule")] == [
            "alert_rule.removed",
            "alert_rule.changed",
            "alert_rule.created",
        ]


class TestHostileRules:
    @pytest.mark.parametrize(
        "members",
        [
            {"name": "a\nb"},
            {"name": "a\u202eb"},
            {"name": "\x00"},
            {"threshold": 0},
            {"threshold": -1},
            {"threshold": 1e12},
            {"kind": "failure_rate", "threshold": 101},
            {"kind": "budget", "threshold": 100.5},
            {"kind": "nonsense"},
            {"window_seconds": 59},
            {"window_seconds": 10**9},
            {"fewest_runs": 0},
            {"quiet_seconds": 1},
            {"recipients": ["eva@example.org\r\nBcc: x@example.org"]},
            {"recipients": ["eva@example.org, bo@example.org"]},
            {"recipients": ["a@example.org"] * 21},
            {"webhook_url": "file:///etc/passwd"},
            {"webhook_url": "no address"},
            {"escalation_seconds": 600},
            {"connection_id": "00000000-0000-7000-8000-00000000dead"},
            {"space_id": "00000000-0000-7000-8000-00000000dead"},
            {"language": "de"},
            {"notices": 4},
        ],
    )
    async def test_are_refused(self, us: Team, members: dict[str, Any]) -> None:
        body = {"name": "Fails", "kind": "failure", "space_id": us.space} | members
        refused = await us.ask("owner", "POST", "/alert-rules", json=body)
        assert refused.status_code == 422, refused.text
        assert (await us.get("owner", "/alert-rules"))["items"] == []

    async def test_numbers_that_are_none_are_refused(self, us: Team) -> None:
        for number in ("NaN", "Infinity", "1e999"):
            content = f'{{"name": "Fails", "kind": "failure", "space_id": "{us.space}", "threshold": {number}}}'
            headers = {"content-type": "application/json"}
            refused = await us.ask("owner", "POST", "/alert-rules", content=content, headers=headers)
            assert refused.status_code in {400, 422}, refused.text

    async def test_connections_of_other_spaces_and_of_users_are_refused(self, us: Team, postbox: Postbox) -> None:
        secret = {"password": "x" * 12}
        elsewhere = await us.make(
            "stranger", "/connections", name="theirs", kind="smtp", fields=postbox.fields, secrets=secret
        )
        own = await us.make(
            "owner", "/connections", name="mine", kind="smtp", fields=postbox.fields, secrets=secret, personal=True
        )
        for connection_id in (elsewhere["id"], own["id"]):
            body = {"name": "Fails", "kind": "failure", "space_id": us.space, "recipients": ["eva@example.org"]}
            refused = await us.ask("owner", "POST", "/alert-rules", json=body | {"connection_id": connection_id})
            assert refused.status_code == 422, refused.text
            assert "no such connection" in refused.text

    async def test_mail_needs_recipients(self, us: Team, postbox: Postbox) -> None:
        connection_id = await mail(us, postbox)
        body = {"name": "Fails", "kind": "failure", "space_id": us.space, "connection_id": connection_id}
        refused = await us.ask("owner", "POST", "/alert-rules", json=body)
        assert refused.status_code == 422
        assert "recipients" in refused.text

    async def test_there_are_at_most_so_many(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("headgate.features.alerts.service.MOST_RULES", 1)
        await rule(us, space_id=us.space)
        body = {"name": "Fails", "kind": "failure", "space_id": us.space}
        assert (await us.ask("owner", "POST", "/alert-rules", json=body)).status_code == 409
        assert await notices(us) == []
