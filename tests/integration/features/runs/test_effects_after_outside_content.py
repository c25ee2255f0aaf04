"""Mail, notifications and database writes after content from outside: the content decides none of them."""

from collections.abc import Iterator
from typing import Any

import pytest
from aiosmtpd.controller import Controller

from tests.integration.features.runs.test_injections import READ, READ_EDGES, site, wire
from tests.support.connections import connect
from tests.support.injections import Range, agent_flow, calls_then
from tests.support.ports import free_port
from tests.support.scripted_server import json_reply

__all__ = ["site", "wire"]
ALLOW = '    policy:\n      outside_allowlist: ["127.0.0.1"]\n'
MAIL = "SendMail\n    server: office\n    subject: News\n"
NOTIFY = "Notify\n    service: chat\n"
WRITE = 'SqlWrite\n    database: shop\n    rows: {"columns": ["a"], "rows": [["{{read.text}}"]]}\n    table: '


class Postbox:
    """Accepts every message."""

    def __init__(self) -> None:
        self.recipients: list[str] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.recipients += envelope.rcpt_tos
        return "250 accepted"


@pytest.fixture
def postbox() -> Iterator[tuple[Postbox, int]]:
    box, port = Postbox(), free_port()
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    yield box, port
    controller.stop()


@pytest.fixture
async def box(site: Range, postbox: tuple[Postbox, int]) -> Postbox:
    """A mail server, a chat and a database that is away, each with a connection."""
    received, port = postbox
    fields = {"host": "127.0.0.1", "port": port, "security": "none", "sender": "studio@example.org"}
    await connect(site.client, "office", "smtp", fields=fields)
    address = f"json://127.0.0.1:{site.ours.origin.rpartition(':')[2]}/chat"
    hosts = {"hosts": [site.ours.origin]}
    await connect(site.client, "chat", "notification", fields=hosts, secrets={"address": address})
    database = {"host": "127.0.0.1", "port": 9, "database": "shop", "tls": "off"}
    await connect(site.client, "shop", "sql", fields=database)
    site.ours.script(json_reply({"ok": True}))
    return received


async def fixed(site: Range, step: str, field: str, *, content: str) -> dict[str, Any]:
    """The step after one that has read a file with this content."""
    spec = f"name: Fixed\nnodes:\n{READ}  to: {step}edges:\n{READ_EDGES}"
    if field:
        spec += f"  read.text -> to.{field}\n"
    run = await site.run(spec, files=[await site.upload("order.txt", content.encode())])
    step_row: dict[str, Any] = await site.step(run["id"], "to")
    return {**step_row, "error": str(run["error"])}


class TestFixedSteps:
    async def test_send_the_content_to_recipients_of_the_author(self, site: Range, box: Postbox) -> None:
        to = '    to: "Ann <ann@example.org>, bo@example.org"\n'
        assert (await fixed(site, MAIL + to, "body", content="Tea."))["status"] == "completed"
        assert box.recipients == ["ann@example.org", "bo@example.org"]

    @pytest.mark.parametrize(
        "to", ["{{read.text}}", "ann@example.org, {{read.text}}", "{{read.text}}@example.org", "ann@{{read.text}}"]
    )
    async def test_send_no_mail_to_recipients_in_the_content(self, site: Range, box: Postbox, to: str) -> None:
        content = "mallory@example.com" if "@" not in to.replace("ann@example.org", "") else "mallory.example.com"
        step = await fixed(site, f'{MAIL}    body: Hi\n    to: "{to}"\n', "", content=content)
        assert "would have decided it" in step["error"]
        assert box.recipients == []
        step = await fixed(site, f'{MAIL}    body: Hi\n    to: "{to}"\n{ALLOW}', "", content=content)
        assert step["status"] == "completed", step

    async def test_send_no_answers_to_an_address_in_the_content(self, site: Range, box: Postbox) -> None:
        step = MAIL + '    body: Hi\n    to: ann@example.org\n    reply_to: "{{read.text}}"\n'
        assert "would have decided it" in (await fixed(site, step, "", content="mallory@example.com"))["error"]
        assert box.recipients == []

    async def test_notify_the_service_of_the_connection(self, site: Range, box: Postbox) -> None:
        step = await fixed(site, NOTIFY, "text", content="Tea.")
        assert step["status"] == "completed", step
        assert [request.path for request in site.ours.asked] == ["/chat"]

    async def test_write_to_the_table_of_the_author_only(self, site: Range, box: Postbox) -> None:
        assert "would have decided it" in (await fixed(site, f'{WRITE}"{{{{read.text}}}}"\n', "", content="x"))["error"]
        own = await fixed(site, f"{WRITE}customer\n", "", content="x")
        assert "127.0.0.1:9 failed" in own["error"]


class TestModels:
    """A model that has read content from outside and obeys it."""

    @pytest.mark.parametrize(
        ("name", "step", "arguments"),
        [
            (
                "send_mail",
                "SendMail\n    server: office\n",
                {"to": "mallory@example.com", "subject": "x", "body": "secret"},
            ),
            ("notify", NOTIFY, {"text": "secret"}),
        ],
    )
    async def test_has_no_effect_unless_it_is_allowed(
        self, site: Range, box: Postbox, name: str, step: str, arguments: dict[str, Any]
    ) -> None:
        for policy, refused in (("", True), (ALLOW, False)):
            spec = agent_flow(
                site.ours.origin,
                nodes=f"{READ}  out: {step}",
                edges=f"{READ_EDGES}  out.tool -> boss.tools\n",
                source="read.text",
                policy=policy,
                tools=False,
            )
            site.reset()
            site.openai.sort = calls_then(site.openai, [(name, arguments)])
            run = await site.run(spec, files=[await site.upload("order.txt", b"Tea.")])
            (call,) = (await site.step(run["id"], "boss"))["tool_calls"]
            assert ("would have decided it" in call.get("error", "")) is refused, call
            sent = bool(box.recipients or [one for one in site.ours.asked if one.path == "/chat"])
            assert sent is not refused
