"""Notices of approvals by mail and chat, through connections of the space, on both databases."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from sqlalchemy import text

from headgate.features.runs.approvals import notices
from headgate.features.runs.deliveries.letters import LONGEST_TITLE
from headgate.foundation.settings import ClassificationSettings, Settings
from tests.integration.features.runs.approvals.test_approvals import asked, decide
from tests.integration.features.runs.approvals.test_notices import notices_of, settled
from tests.support.people import LOOPBACK
from tests.support.smtp import PASSWORD, Postbox, smtp_server
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer, web_server

TOPIC = "/alerts"


@pytest.fixture
async def us(settings: Settings) -> AsyncIterator[Team]:
    async with team(settings, http=LOOPBACK) as people:
        yield people


@pytest.fixture
def postbox() -> Iterator[Postbox]:
    with smtp_server() as server:
        yield server


@pytest.fixture
async def chat() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        server.on("/", answer(200, b'{"id": "1"}'))
        yield server


async def mail(us: Team, postbox: Postbox, **members: Any) -> None:
    """Add the connection to the mail server."""
    secrets = {"password": PASSWORD}
    await us.make(
        "owner", "/connections", name="office", kind="smtp", fields=postbox.fields, secrets=secrets, **members
    )


async def shown_notices(us: Team, approval: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await us.get("viewer", f"/approvals/{approval['id']}"))["notices"]
    return found


class TestMail:
    async def test_reaches_the_assignees_with_question_deadline_and_starter(self, us: Team, postbox: Postbox) -> None:
        await mail(us, postbox)
        assignees = '["owner@example.org", "publisher@example.org"]'
        approval = await asked(us, notify_connection="office", assignees=assignees, timeout_hours=5)
        await settled(us, approval, ("asked", "delivered"))
        (envelope,) = postbox.received
        assert envelope.rcpt_tos == ["owner@example.org", "publisher@example.org"]
        message = postbox.message()
        assert (message["Subject"], message["Bcc"]) == ("Approval needed: Pay it?", None)
        body = message.get_content()
        assert "Flow: Expense" in body
        assert "Decide before: 20" in body
        assert "Asked by: editor" in body, body
        assert "Taxi" not in body
        assert [(one["connection"], one["url"]) for one in await shown_notices(us, approval)] == [("office", "")]

    async def test_shows_hostile_text_as_one_plain_line(self, us: Team, postbox: Postbox) -> None:
        await mail(us, postbox)
        question = "Pay \u202e001\u202c it?\u200b\r\nBcc: eve@example.org <script>alert(1)</script> " + "x" * 1500
        connection: dict[str, Any] = {"notify_connection": "office", "assignees": '["owner@example.org"]'}
        approval = await asked(us, check=json.dumps(question), **connection)
        await settled(us, approval, ("asked", "delivered"))
        (envelope,) = postbox.received
        assert envelope.rcpt_tos == ["owner@example.org"]
        message = postbox.message()
        assert message["Bcc"] is None
        subject = str(message["Subject"])
        assert subject.startswith("Approval needed: Pay 001 it? Bcc: eve@example.org <script>")
        assert len(subject) <= LONGEST_TITLE
        assert message.get_content_type() == "text/plain"

    async def test_of_a_role_reaches_its_members_but_not_the_starter_who_may_not_decide(
        self, us: Team, postbox: Postbox
    ) -> None:
        await mail(us, postbox)
        approval = await asked(us, notify_connection="office", assignees='["role:editor"]', not_starter="true")
        await settled(us, approval, ("asked", "delivered"))
        assert postbox.received[0].rcpt_tos == ["owner@example.org", "publisher@example.org"]

    async def test_reminds_those_who_have_not_decided_and_escalates(self, us: Team, postbox: Postbox) -> None:
        await mail(us, postbox)
        approval = await asked(
            us,
            notify_connection="office",
            assignees='["owner@example.org", "publisher@example.org"]',
            needed=2,
            reminders="[0.0015]",
            escalate_hours=0.0025,
            escalate_to='["runner@example.org"]',
        )
        assert await decide(us, "owner", approval) == 200
        await settled(us, approval, ("asked", "delivered"), ("reminder", "delivered"), ("escalated", "delivered"))
        assert postbox.received[1].rcpt_tos == ["publisher@example.org"]
        assert postbox.received[2].rcpt_tos == ["publisher@example.org", "runner@example.org"]
        subjects = [postbox.message(number)["Subject"].partition(":")[0] for number in (1, 2)]
        assert subjects == ["Approval still needed", "Approval escalated to you"]

    async def test_and_webhook_of_the_space_are_chosen_by_variables(self, us: Team, postbox: Postbox) -> None:
        await mail(us, postbox)
        variable = {"value": "office"}
        assert (await us.ask("admin", "PUT", "/variables/APPROVAL_CONNECTION", json=variable)).is_success
        approval = await asked(us, assignees='["owner@example.org"]')
        await settled(us, approval, ("asked", "delivered"))
        assert postbox.message()["To"] == "owner@example.org"

    async def test_is_in_swedish_where_the_step_says_so_also_reminder_escalation_and_one_time_link(
        self, us: Team, postbox: Postbox
    ) -> None:
        await mail(us, postbox)
        assert (await us.ask("admin", "PUT", "/variables/APPROVAL_LANGUAGE", json={"value": "en"})).is_success
        approval = await asked(
            us,
            notify_connection="office",
            notify_language="sv",
            assignees='["owner@example.org"]',
            timeout_hours=5,
            reminders="[0.0015]",
            escalate_hours=0.0016,
            escalate_to='["runner@example.org"]',
        )
        await settled(us, approval, ("asked", "delivered"), ("reminder", "delivered"), ("escalated", "delivered"))
        links = {"recipient": "eva@customer.example", "send": True}
        created = await us.ask("owner", "POST", f"/approvals/{approval['id']}/links", json=links)
        assert created.is_success, created.text
        await settled(us, approval, *[(kind, "delivered") for kind in ("asked", "reminder", "escalated", "asked")])
        subjects = {postbox.message(number)["Subject"] for number in range(4)}
        assert subjects == {
            "Godkännande behövs: Pay it?",
            "Godkännande behövs fortfarande: Pay it?",
            "Godkännande eskalerat till dig: Pay it?",
        }
        for number in range(4):
            body = postbox.message(number).get_content()
            for shown in ("Flöde: Expense", "Begärt av: editor", "Besluta före: 20"):
                assert shown in body, body

    async def test_is_in_the_language_of_the_space_where_the_step_names_none(self, us: Team, postbox: Postbox) -> None:
        await mail(us, postbox)
        assert (await us.ask("admin", "PUT", "/variables/APPROVAL_LANGUAGE", json={"value": "sv-SE"})).is_success
        approval = await asked(us, notify_connection="office", assignees='["owner@example.org"]')
        await settled(us, approval, ("asked", "delivered"))
        assert postbox.message()["Subject"] == "Godkännande behövs: Pay it?"

    async def test_that_fails_is_shown_with_the_reason(self, us: Team, postbox: Postbox) -> None:
        secrets = {"password": "wrong-password"}
        await us.make("owner", "/connections", name="office", kind="smtp", fields=postbox.fields, secrets=secrets)
        approval = await asked(us, notify_connection="office")
        await settled(us, approval, ("asked", "failed"))
        error = (await shown_notices(us, approval))[0]["error"]
        assert "did not accept the user and password of 'office'" in error
        assert "wrong-password" not in error
        assert postbox.received == []

    async def test_that_a_server_refuses_for_now_is_sent_again_with_the_same_id(
        self, us: Team, postbox: Postbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(notices, "LATER_SECONDS", (0.01, 0.01, 60))
        answers = ["451 busy", "451 busy"]
        accept = postbox.handle_DATA

        async def handle(server: Any, session: Any, envelope: Any) -> str:
            accepted = await accept(server, session, envelope)
            return answers.pop() if answers else accepted

        monkeypatch.setattr(postbox, "handle_DATA", handle)
        await mail(us, postbox)
        approval = await asked(us, notify_connection="office", assignees='["owner@example.org"]')
        await settled(us, approval, ("asked", "delivered"))
        assert len(postbox.received) == 3
        assert len({postbox.message(number)["Message-ID"] for number in range(3)}) == 1


class TestChat:
    async def test_reaches_the_channel_of_the_connection(self, us: Team, chat: WebServer) -> None:
        host = chat.url("").rstrip("/")
        await us.make(
            "owner",
            "/connections",
            name="team",
            kind="notification",
            fields={"hosts": [host]},
            secrets={"address": host.replace("http://", "ntfy://") + TOPIC},
        )
        approval = await asked(us, notify_connection="team")
        await settled(us, approval, ("asked", "delivered"))
        sent = json.loads(chat.seen("/")[0].body)
        assert (sent["topic"], sent["title"]) == ("alerts", "Approval needed: Pay it?")
        assert "Expense" in sent["message"]
        assert "Taxi" not in sent["message"]

    @pytest.mark.parametrize(
        ("variable", "members"), [("en", {"notify_language": "sv"}), ("sv-SE", {})], ids=["of the step", "of the space"]
    )
    async def test_is_in_swedish_where_the_step_or_the_space_says_so(
        self, us: Team, chat: WebServer, variable: str, members: dict[str, Any]
    ) -> None:
        host = chat.url("").rstrip("/")
        secrets = {"address": host.replace("http://", "ntfy://") + TOPIC}
        await us.make(
            "owner", "/connections", name="team", kind="notification", fields={"hosts": [host]}, secrets=secrets
        )
        assert (await us.ask("admin", "PUT", "/variables/APPROVAL_LANGUAGE", json={"value": variable})).is_success
        approval = await asked(us, notify_connection="team", timeout_hours=5, **members)
        await settled(us, approval, ("asked", "delivered"))
        sent = json.loads(chat.seen("/")[0].body)
        assert sent["title"] == "Godkännande behövs: Pay it?"
        for shown in ("Flöde: Expense", "Begärt av: editor", "Besluta före: 20"):
            assert shown in sent["message"], sent
        assert "Approval needed" not in sent["message"]

    async def test_reaches_no_other_host(self, us: Team, chat: WebServer) -> None:
        address = chat.url("").rstrip("/").replace("http://", "ntfy://") + TOPIC
        fields = {"hosts": ["https://chat.example.org"]}
        await us.make(
            "owner", "/connections", name="team", kind="notification", fields=fields, secrets={"address": address}
        )
        approval = await asked(us, notify_connection="team")
        await settled(us, approval, ("asked", "failed"))
        assert chat.seen("/") == []


class TestClassified:
    @pytest.mark.parametrize(("limit", "subject"), [(1, "Approval needed"), (2, "Approval needed: Pay it?")])
    async def test_question_is_sent_only_where_the_connection_may_carry_it(
        self, settings: Settings, postbox: Postbox, limit: int, subject: str
    ) -> None:
        async with team(settings, http=LOOPBACK, classification=ClassificationSettings(enabled=True)) as us:
            await mail(us, postbox, classification=limit)
            approval = await asked(
                us, input_classification=2, notify_connection="office", assignees='["owner@example.org"]'
            )
            await settled(us, approval, ("asked", "delivered"))
        assert postbox.message()["Subject"] == subject


class TestLinks:
    async def test_to_an_outside_address_is_sent_by_mail_and_its_token_is_erased(
        self, us: Team, postbox: Postbox
    ) -> None:
        await mail(us, postbox)
        approval = await asked(us, notify_connection="office", assignees='["owner@example.org"]')
        await settled(us, approval, ("asked", "delivered"))
        link = await us.make("owner", f"/approvals/{approval['id']}/links", recipient="eva@customer.example", send=True)
        await settled(us, approval, ("asked", "delivered"), ("asked", "delivered"))
        assert postbox.received[1].rcpt_tos == ["eva@customer.example"]
        assert link["url"] in postbox.message().get_content()
        assert (await shown_notices(us, approval))[1]["recipient"] == "eva@customer.example"
        async with us.database.reading() as session:
            query = text("SELECT target FROM approval_notices WHERE link_id IS NOT NULL")
            sealed = (await session.execute(query)).scalar_one()
        opened = us.app.state.box.decrypt(bytes(sealed)).get_secret_value()
        token = link["url"].partition("#token=")[2]
        assert token not in opened
        review = await us.ask("stranger", "POST", "/reviews/read", json={"token": token})
        assert review.json()["question"] == "Pay it?"

    @pytest.mark.parametrize("recipient", ["Eva", "eva@customer.example, bo@customer.example"])
    async def test_needs_one_address(self, us: Team, postbox: Postbox, recipient: str) -> None:
        await mail(us, postbox)
        approval = await asked(us, notify_connection="office")
        body = {"recipient": recipient, "send": True}
        refused = await us.ask("owner", "POST", f"/approvals/{approval['id']}/links", json=body)
        assert refused.status_code == 422, refused.text
        assert (await us.get("owner", f"/approvals/{approval['id']}/links"))["items"] == []

    async def test_needs_a_connection(self, us: Team) -> None:
        approval = await asked(us)
        body = {"recipient": "eva@customer.example", "send": True}
        refused = await us.ask("owner", "POST", f"/approvals/{approval['id']}/links", json=body)
        assert refused.status_code == 422
        assert "APPROVAL_CONNECTION" in refused.text
        assert await notices_of(us, approval) == []
