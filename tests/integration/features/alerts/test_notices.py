"""Notices of alerts by mail, chat and webhook on both databases: grouped, limited, resolved, escalated, redelivered."""

import asyncio
import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headgate.entrypoints.compose import open_parts
from headgate.features.alerts import conditions, evaluation, sending
from headgate.features.jobs.leases import clock
from headgate.foundation.errors import DatabaseUnavailable
from headgate.foundation.settings import Settings
from tests.integration.features.alerts.conftest import (
    FAILING,
    HOOK,
    HOUR,
    SECOND,
    alerts,
    delivered,
    evaluated,
    flow_of,
    mail,
    notices,
    rule,
    run,
)
from tests.support.rows import execute
from tests.support.smtp import Postbox
from tests.support.team import Team
from tests.support.web_server import WebServer, answer

SECRET = "alert-signing-secret"
EVA = ["eva@example.org"]


async def settled(us: Team) -> None:
    """Evaluate, and wait until every notice was delivered or has failed."""
    await evaluated(us)
    await delivered(us)


async def quiet_is_over(us: Team) -> None:
    await execute(us.database, "UPDATE alert_rules SET notified_at = :at", at=clock() - 24 * HOUR)


class TestChannels:
    async def test_mail_names_the_rule_the_flow_and_the_value_and_nothing_of_the_run(
        self, us: Team, postbox: Postbox
    ) -> None:
        flow_id = await flow_of(us)
        connection_id = await mail(us, postbox)
        await rule(us, flow_id=flow_id, connection_id=connection_id, recipients=EVA)
        await run(us, flow_id, "very secret text")
        await settled(us)
        (envelope,) = postbox.received
        assert envelope.rcpt_tos == EVA
        message = postbox.message()
        assert message["Subject"] == "Alert: Imports fail"
        body = message.get_content()
        assert "Import: failed runs in 1 h: 1 (20" in body
        assert "secret" not in body
        assert "JSON" not in body
        [notice] = await notices(us)
        assert (notice["status"], notice["channel"], notice["opened"]) == ("delivered", "connection", 1)

    async def test_mail_is_in_swedish_where_the_rule_says_so(self, us: Team, postbox: Postbox) -> None:
        flow_id = await flow_of(us)
        connection_id = await mail(us, postbox)
        await rule(us, flow_id=flow_id, connection_id=connection_id, recipients=EVA, language="sv")
        await run(us, flow_id)
        await settled(us)
        assert postbox.message()["Subject"] == "Larm: Imports fail"
        assert "misslyckade körningar på 1 h: 1" in postbox.message().get_content()

    async def test_webhook_is_signed(self, us: Team, hook: WebServer) -> None:
        assert (await us.ask("admin", "PUT", "/variables/WEBHOOK_SECRET", json={"value": SECRET})).is_success
        flow_id = await flow_of(us)
        made = await rule(us, flow_id=flow_id, webhook_url=hook.url(HOOK))
        assert HOOK not in json.dumps(made)
        await run(us, flow_id)
        await settled(us)
        [request] = hook.seen(HOOK)
        body = json.loads(request.body)
        assert (body["type"], body["rule"], body["opened"][0]["name"]) == ("alert.opened", "Imports fail", "Import")
        content = f"{request.headers['webhook-id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
        expected = base64.b64encode(hmac.new(SECRET.encode(), content, hashlib.sha256).digest()).decode()
        assert request.headers["webhook-signature"] == f"v1,{expected}"

    async def test_chat_shows_names_as_text(self, us: Team, hook: WebServer) -> None:
        hook.on("/", answer(200, b'{"id": "1"}'))
        host = hook.url("").rstrip("/")
        secrets = {"address": host.replace("http://", "ntfy://") + "/alerts"}
        connection = await us.make(
            "owner", "/connections", name="team", kind="notification", fields={"hosts": [host]}, secrets=secrets
        )
        flow_id = await flow_of(us, FAILING.replace("name: Import", "name: 'Import [x](http://evil)'"))
        await rule(us, flow_id=flow_id, connection_id=connection["id"])
        await run(us, flow_id)
        await settled(us)
        sent = json.loads(hook.seen("/")[0].body)
        assert sent["title"] == "Alert: Imports fail"
        assert "failed runs in 1 h: 1" in sent["message"]

    async def test_are_tested_with_the_real_answer(self, us: Team, postbox: Postbox, hook: WebServer) -> None:
        connection_id = await mail(us, postbox)
        made = await rule(
            us, space_id=us.space, connection_id=connection_id, recipients=EVA, webhook_url=hook.url(HOOK)
        )
        path = f"/alert-rules/{made['id']}/test"
        outcomes = await us.make("publisher", path)
        assert [(one["channel"], one["delivered"], one["status"]) for one in outcomes] == [
            ("connection", True, None),
            ("webhook", True, 204),
        ]
        assert postbox.message()["Subject"] == "Test of the alert rule: Imports fail"
        hook.on(HOOK, answer(410))
        outcomes = await us.make("publisher", path)
        assert outcomes[1]["message"] == "The receiver answered 410."
        assert (await us.answers("POST", path))["editor"] == 403
        assert await notices(us) == []


class TestGroups:
    async def test_several_flows_are_one_notice(self, us: Team, postbox: Postbox) -> None:
        connection_id = await mail(us, postbox)
        for number in range(3):
            await run(us, await flow_of(us, FAILING.replace("name: Import", f"name: Import {number}")))
        await rule(us, space_id=us.space, connection_id=connection_id, recipients=EVA)
        await settled(us)
        assert len(postbox.received) == 1
        body = postbox.message().get_content()
        assert all(f"Import {number}: failed runs in 1 h: 1" in body for number in range(3))

    async def test_a_further_alert_waits_until_the_quiet_time_is_over(self, us: Team, hook: WebServer) -> None:
        await rule(us, space_id=us.space, webhook_url=hook.url(HOOK))
        await run(us, await flow_of(us))
        await settled(us)
        await run(us, await flow_of(us, FAILING.replace("name: Import", "name: Second")))
        await settled(us)
        assert len(hook.seen(HOOK)) == 1
        await quiet_is_over(us)
        await settled(us)
        bodies = [json.loads(request.body) for request in hook.seen(HOOK)]
        assert [[one["name"] for one in body["opened"]] for body in bodies] == [["Import"], ["Second"]]

    async def test_a_clock_set_back_ends_the_quiet_time(self, us: Team, hook: WebServer) -> None:
        await rule(us, space_id=us.space, webhook_url=hook.url(HOOK))
        await execute(us.database, "UPDATE alert_rules SET notified_at = :at", at=clock() + 5 * HOUR)
        await run(us, await flow_of(us))
        await settled(us)
        assert len(hook.seen(HOOK)) == 1

    async def test_resolved_alerts_are_reported_unless_the_rule_says_no(self, us: Team, hook: WebServer) -> None:
        flow_id = await flow_of(us)
        hook.on("/silent", answer(204))
        await rule(us, flow_id=flow_id, webhook_url=hook.url(HOOK))
        await rule(us, flow_id=flow_id, webhook_url=hook.url("/silent"), notify_resolved=False)
        await run(us, flow_id)
        await settled(us)
        await quiet_is_over(us)
        await execute(us.database, "UPDATE flow_runs SET finished_at = :at", at=clock() - 2 * HOUR)
        await settled(us)
        assert [json.loads(one.body)["type"] for one in hook.seen(HOOK)] == ["alert.opened", "alert.resolved"]
        assert len(hook.seen("/silent")) == 1

    async def test_muted_rules_send_nothing_until_the_mute_ends(self, us: Team, hook: WebServer) -> None:
        flow_id = await flow_of(us)
        made = await rule(us, flow_id=flow_id, webhook_url=hook.url(HOOK))
        path, until = f"/alert-rules/{made['id']}", datetime.now(UTC) + timedelta(hours=1)
        muted = await us.ask("publisher", "PATCH", path, json={"muted_until": until.isoformat()})
        assert muted.json()["state"] == "muted"
        await run(us, flow_id)
        await settled(us)
        assert len(await alerts(us, state="open")) == 1
        assert hook.seen(HOOK) == []
        await us.ask("publisher", "PATCH", path, json={"muted_until": None})
        await settled(us)
        assert len(hook.seen(HOOK)) == 1

    async def test_escalates_what_nobody_acknowledged_once(self, us: Team, postbox: Postbox, hook: WebServer) -> None:
        connection_id = await mail(us, postbox)
        members: dict[str, Any] = {
            "escalation_seconds": 600,
            "escalation_connection_id": connection_id,
            "escalation_recipients": ["chief@example.org"],
        }
        names = ("Left", "Seen")
        for name in names:
            flow_id = await flow_of(us, FAILING.replace("name: Import", f"name: {name}"))
            await rule(us, flow_id=flow_id, name=name, webhook_url=hook.url(HOOK), **members)
            await run(us, flow_id)
        await settled(us)
        assert postbox.received == []
        seen = next(one for one in await alerts(us) if one["name"] == "Seen")
        await us.make("runner", f"/alerts/{seen['id']}/acknowledge")
        await execute(us.database, "UPDATE alerts SET opened_at = :at", at=clock() - 601 * SECOND)
        for _ in range(2):
            await settled(us)
        (envelope,) = postbox.received
        assert envelope.rcpt_tos == ["chief@example.org"]
        assert postbox.message()["Subject"] == "Alert not acknowledged: Left"


class TestFailures:
    async def test_of_the_mail_server_are_shown_and_sent_again_with_the_same_id(
        self, us: Team, postbox: Postbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sending, "LATER_SECONDS", (0.01,))
        answers = ["451 busy", "451 busy"]
        accept = postbox.handle_DATA

        async def handle(server: Any, session: Any, envelope: Any) -> str:
            accepted = await accept(server, session, envelope)
            return answers.pop() if answers else accepted

        monkeypatch.setattr(postbox, "handle_DATA", handle)
        flow_id, connection_id = await flow_of(us), await mail(us, postbox)
        made = await rule(us, flow_id=flow_id, connection_id=connection_id, recipients=EVA)
        await run(us, flow_id)
        await settled(us)
        [notice] = await notices(us)
        assert (notice["status"], notice["attempts"]) == ("failed", 2)
        assert "451" in notice["error"]["message"]
        assert (await us.get("viewer", f"/alert-rules/{made['id']}"))["failed_notices"] == 1
        path = f"/alert-notices/{notice['id']}/redeliver"
        assert (await us.answers("POST", path)) | {"publisher": 0, "owner": 0, "admin": 0} == {
            **dict.fromkeys(("viewer", "runner", "editor"), 403),
            **dict.fromkeys(("publisher", "owner", "admin"), 0),
            "stranger": 404,
        }
        await delivered(us)
        assert [one["status"] for one in await notices(us)] == ["delivered"]
        assert (await us.ask("publisher", "POST", path)).status_code == 409
        assert len({postbox.message(number)["Message-ID"] for number in range(3)}) == 1

    async def test_of_a_wrong_password_show_no_secret(self, us: Team, postbox: Postbox) -> None:
        flow_id = await flow_of(us)
        connection_id = await mail(us, postbox, secrets={"password": "wrong-password"})
        await rule(us, flow_id=flow_id, connection_id=connection_id, recipients=EVA)
        await run(us, flow_id)
        await settled(us)
        [notice] = await notices(us)
        assert notice["status"] == "failed"
        assert "did not accept the user and password of 'office'" in notice["error"]["message"]
        assert "wrong-password" not in json.dumps(notice)

    async def test_of_a_removed_connection_say_so_and_another_one_delivers(self, us: Team, postbox: Postbox) -> None:
        flow_id, connection_id = await flow_of(us), await mail(us, postbox)
        made = await rule(us, flow_id=flow_id, connection_id=connection_id, recipients=EVA)
        assert (await us.ask("owner", "DELETE", f"/connections/{connection_id}")).status_code == 204
        await run(us, flow_id)
        await settled(us)
        [notice] = await notices(us)
        assert notice["error"]["message"].startswith("The connection of the rule was deleted.")
        change = {"connection_id": await mail(us, postbox)}
        assert (await us.ask("publisher", "PATCH", f"/alert-rules/{made['id']}", json=change)).is_success
        await us.make("publisher", f"/alert-notices/{notice['id']}/redeliver")
        await delivered(us)
        assert len(postbox.received) == 1


class TestTogether:
    async def test_two_servers_send_one_notice(self, us: Team, hook: WebServer, settings: Settings) -> None:
        await rule(us, space_id=us.space, webhook_url=hook.url(HOOK))
        await run(us, await flow_of(us))
        async with open_parts(us.app.state.settings, recover=True) as other:
            other.recover()
            for _ in range(4):
                await execute(us.database, "UPDATE alert_evaluations SET due_at = :at", at=clock())
                await asyncio.gather(
                    *(jobs.settle(evaluation.KIND) for jobs in (us.app.state.services.jobs, other.services.jobs))
                )
            await asyncio.gather(
                *(jobs.settle(sending.KIND) for jobs in (us.app.state.services.jobs, other.services.jobs))
            )
        assert len(hook.seen(HOOK)) == 1
        assert len(await alerts(us)) == 1

    async def test_an_evaluator_that_lost_its_claim_writes_nothing(
        self, us: Team, hook: WebServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await rule(us, space_id=us.space, webhook_url=hook.url(HOOK))
        await evaluated(us)
        await run(us, await flow_of(us))
        find = conditions.find

        robberies = 0

        async def robbed(session: Any, *given: Any, **more: Any) -> Any:
            nonlocal robberies
            robberies += 1
            findings = await find(session, *given, **more)
            await session.rollback()
            await execute(us.database, "UPDATE alert_evaluations SET attempts = attempts + 1")
            return findings

        monkeypatch.setattr(evaluation, "find", robbed)
        for _ in range(3):
            await execute(us.database, "UPDATE alert_evaluations SET due_at = :at", at=clock())
            await us.app.state.services.jobs.settle(evaluation.KIND)
        assert robberies > 0
        assert await alerts(us) == []

    async def test_while_the_database_is_away_nothing_is_opened_and_everything_afterwards(
        self, us: Team, hook: WebServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        flow_id = await flow_of(us, FAILING)
        await rule(us, flow_id=flow_id, webhook_url=hook.url(HOOK))
        await evaluated(us)
        await run(us, flow_id)
        find, failures = conditions.find, iter(range(3))

        async def away(*given: Any, **more: Any) -> Any:
            if next(failures, None) is not None:
                raise DatabaseUnavailable("The database is locked.")
            return await find(*given, **more)

        monkeypatch.setattr(evaluation, "find", away)
        for _ in range(3):
            await execute(us.database, "UPDATE alert_evaluations SET due_at = :at", at=clock())
            await us.app.state.services.jobs.settle(evaluation.KIND)
            assert await alerts(us) == []
        assert next(failures, None) is None
        await evaluated(us)
        assert len(await alerts(us)) == 1
        await delivered(us)
        assert len(hook.seen(HOOK)) == 1
