"""Mail, sent to a real SMTP server and read from a real IMAP server on loopback."""

import base64
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from typing import Any

import pytest
from pydantic import JsonValue

from headgate.components.isolated import calls
from headgate.components.mail import parsing
from headgate.components.mail.messages import addresses, to_html
from headgate.components.mail.reading import ReadMail
from headgate.components.mail.sending import SendMail
from headgate.components.readers.document import Unreadable
from headgate.foundation.errors import UpstreamFailed
from headgate.sdk import ComponentError, File, Table
from headgate.sdk.calls import CallRequest, CallResult
from headgate.sdk.testing import StepHarness
from tests.support.imap_process import PASSWORD, USER, ImapProcess
from tests.support.smtp import Postbox, smtp_server

PIXEL = b"\x89PNG fake"


@pytest.fixture
def postbox() -> Iterator[Postbox]:
    with smtp_server() as server:
        yield server


@pytest.fixture
def harness(postbox: Postbox) -> StepHarness:
    found = StepHarness(files={"a.txt": b"attached", "logo.png": PIXEL})
    found.connect("office", "smtp", postbox.fields, secrets={"password": "smtp-password"})
    return found


async def send(harness: StepHarness, **values: Any) -> dict[str, Any]:
    given = {"server": "office", "to": "bo@example.org", "subject": "Hello", "body": "Hi", **values}
    sent: dict[str, Any] = (await harness.run(SendMail, given))["data"]
    return sent


class TestSendMail:
    async def test_sends_text_html_and_files(self, harness: StepHarness, postbox: Postbox) -> None:
        files = list(harness.ctx.input.files)
        body = "# Title\n\n**Bold** <script>x</script> ![logo](logo.png)\n\n| a |\n| - |\n| 1 |"
        sent = await send(harness, body=body, attachments=files, cc="Cai <cai@example.org>", bcc="dee@example.org")
        message = postbox.message()
        assert sent["recipients"] == ["bo@example.org", "cai@example.org", "dee@example.org"]
        assert (message["From"], message["To"], message["Cc"], message["Bcc"]) == (
            "Ann <ann@example.org>", "bo@example.org", "Cai <cai@example.org>", None,
        )  # fmt: skip
        html, plain = message.get_body(("html",)), message.get_body(("plain",))
        assert html is not None
        assert plain is not None
        markup = html.get_content()
        assert "<h1>Title</h1>" in markup
        assert "<td>1</td>" in markup
        assert "<script>" not in markup
        assert plain.get_content().startswith("# Title")
        assert [part.get_filename() for part in message.iter_attachments()] == ["a.txt"]
        image = next(part for part in message.walk() if part.get_content_type() == "image/png")
        assert f"cid:{str(image['Content-ID']).strip('<>')}" in markup
        assert image.get_payload(decode=True) == PIXEL

    async def test_has_one_id_for_every_attempt(self, harness: StepHarness, postbox: Postbox) -> None:
        first = await send(harness)
        assert postbox.message()["Message-ID"] == first["message_id"]
        again = await send(harness)
        assert again["message_id"] != first["message_id"]  # the second message of the same step
        harness.ctx.key_count = 0
        assert (await send(harness))["message_id"] == first["message_id"]

    async def test_writes_a_table_and_an_answer(self, harness: StepHarness, postbox: Postbox) -> None:
        await send(
            harness, body=Table(columns=["a"], rows=[[1]]), reply_to="x@example.org", in_reply_to="<1@example.org>"
        )
        message = postbox.message()
        assert (message["In-Reply-To"], message["References"], message["Reply-To"]) == (
            "<1@example.org>", "<1@example.org>", "x@example.org",
        )  # fmt: skip
        assert "<table>" in str(message.get_body(("html",)))

    async def test_reports_who_was_refused(self, harness: StepHarness) -> None:
        sent = await send(harness, to="bo@example.org, refused@example.org")
        assert (sent["recipients"], sent["refused"]) == (["bo@example.org"], ["refused@example.org"])
        with pytest.raises(ComponentError, match="refused the message: 550 no such mailbox"):
            await send(harness, to="refused@example.org")
        with pytest.raises(UpstreamFailed, match="450 try again"):
            await send(harness, to="later@example.org")

    @pytest.mark.parametrize(
        "text",
        [
            "nobody",
            "a@b@c",
            "a b@example.org",
            "x@example.org\nBcc: all@example.org",
            "<x@example.org>\r\nSubject: y",
            "@",
        ],
    )
    async def test_refuses_what_is_no_address(self, harness: StepHarness, postbox: Postbox, text: str) -> None:
        with pytest.raises(ComponentError, match="is not a list of addresses"):
            await send(harness, to=text)
        assert postbox.received == []

    async def test_reads_no_files_that_are_too_large_together(
        self, harness: StepHarness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def read(file: File) -> bytes:
            raise AssertionError(file.name)

        monkeypatch.setattr(harness.ctx.files, "read", read)
        files = [File(id=name, name=name, media_type="text/plain", size=13_000_000) for name in ("a", "b")]
        with pytest.raises(ComponentError, match="more than 25000000 bytes"):
            await send(harness, attachments=files)

    async def test_keeps_headers_apart(self, harness: StepHarness, postbox: Postbox) -> None:
        await send(harness, subject="a\r\nBcc: all@example.org\r\n\r\nbody")
        message = postbox.message()
        assert (message["Subject"], message["Bcc"]) == ("a Bcc: all@example.org body", None)
        with pytest.raises(ComponentError, match="is not a Message-ID"):
            await send(harness, in_reply_to="<1@x>\r\nBcc: all@example.org")

    async def test_says_what_is_wrong_without_the_password(self, harness: StepHarness) -> None:
        connection = harness.ctx.connections["office"]
        wrong = {**connection.fields}
        harness.connect("office", "smtp", wrong, secrets={"password": "another-secret"})
        with pytest.raises(ComponentError, match="did not accept the user and password of 'office'") as refused:
            await send(harness)
        assert "another-secret" not in str(refused.value)
        harness.connect("office", "smtp", {**wrong, "port": 9})
        with pytest.raises(UpstreamFailed, match="cannot be reached"):
            await send(harness)
        with pytest.raises(ComponentError, match="there are no recipients"):
            await send(harness, to=" ")


class TestParts:
    def test_reads_addresses(self) -> None:
        found = addresses('Ann B <ann@example.org>; "C, D" <c@example.org>', field="to")
        assert [(one.display_name, one.addr_spec) for one in found] == [
            ("Ann B", "ann@example.org"),
            ("C, D", "c@example.org"),
        ]

    def test_links_nowhere_that_runs(self) -> None:
        assert "href" not in to_html("[x](javascript:alert(1))")
        assert "<img" not in to_html("<img src=x onerror=alert(1)>")


@pytest.fixture(scope="module")
def server() -> Iterator[ImapProcess]:
    found = ImapProcess()
    yield found
    found.close()


@pytest.fixture(scope="module")
def filled(server: ImapProcess) -> ImapProcess:
    for number, subject in enumerate(["Invoice 1", "Hello", "Räkning 2"]):
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "Bo <bo@example.org>", "ann@example.org", subject
        message["Date"], message["Message-ID"] = "Sat, 31 Jan 2026 09:00:00 +0100", f"<{number}@example.org>"
        message.set_content(f"Text {number} med å")
        if number == 0:
            message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="../../invoice.csv")
        server.add(message)
    only_html = EmailMessage()
    only_html["From"], only_html["Subject"] = "Cai <cai@example.org>", "Page"
    only_html.set_content("<p>Only <b>HTML</b></p><script>no()</script>", subtype="html")
    server.add(only_html)
    return server


@pytest.fixture
def mailbox(filled: ImapProcess) -> StepHarness:
    harness = StepHarness()
    fields: dict[str, JsonValue] = {"host": "127.0.0.1", "port": filled.port, "security": "none", "user": USER}
    harness.connect("inbox", "imap", fields, secrets={"password": PASSWORD})
    return harness


async def read(harness: StepHarness, **values: Any) -> list[dict[str, Any]]:
    table = (await harness.run(ReadMail, {"mailbox": "inbox", **values}, outputs=["messages"]))["messages"]
    found: list[dict[str, Any]] = table.records()
    return found


class TestReadMail:
    async def test_reads_the_newest_first(self, mailbox: StepHarness) -> None:
        rows = await read(mailbox)
        assert [row["subject"] for row in rows] == ["Page", "Räkning 2", "Hello", "Invoice 1"]
        assert rows[3] | {"uid": "", "files": []} == {
            "uid": "", "date": "2026-01-31T09:00:00+01:00", "from": "bo@example.org",
            "to": ["ann@example.org"], "cc": [],
            "subject": "Invoice 1", "text": "Text 0 med å\r\n", "message_id": "<0@example.org>",
            "in_reply_to": None,             "seen": False, "files": [],
        }  # fmt: skip
        assert rows[0]["text"] == "Only\nHTML"
        assert len(await read(mailbox, most_messages=2)) == 2

    async def test_stores_files_under_safe_names(self, mailbox: StepHarness) -> None:
        outputs = await mailbox.run(ReadMail, {"mailbox": "inbox", "subject": "Invoice"})
        (file,) = outputs["files"]
        assert (file["name"], file["media_type"]) == ("invoice.csv", "text/csv")
        assert await mailbox.ctx.files.read(mailbox.ctx.files.saved[0]) == b"a,b\n1,2\n"
        assert outputs["text"].startswith("**Invoice 1**")

    @pytest.mark.parametrize(
        ("values", "count"),
        [
            ({"from": "cai"}, 1),
            ({"subject": 'x" OR ALL "'}, 0),
            ({"subject": "Hello) (ALL"}, 0),
            ({"subject": "Hello"}, 1),
            ({"since": "2199-01-01"}, 0),
            ({"unseen": False}, 4),
        ],
    )
    async def test_searches(self, mailbox: StepHarness, values: dict[str, Any], count: int) -> None:
        assert len(await read(mailbox, **values)) == count

    async def test_changes_nothing_unless_asked(self, mailbox: StepHarness, filled: ImapProcess) -> None:
        await read(mailbox)
        assert not [line for line in filled.flags() if "Seen" in line]
        assert ReadMail.template({"mark_seen": True}).effect
        assert not ReadMail.template({}).effect

    async def test_says_what_is_wrong_without_the_password(self, mailbox: StepHarness) -> None:
        with pytest.raises(ComponentError, match="there is no folder 'Nowhere'"):
            await read(mailbox, folder="Nowhere")
        with pytest.raises(ComponentError, match="a search text has a line break"):
            await read(mailbox, subject="a\r\nb LOGOUT")
        with pytest.raises(ComponentError, match="is not a date"):
            await read(mailbox, since="yesterday")
        fields = dict(mailbox.ctx.connections["inbox"].fields)
        mailbox.connect("inbox", "imap", fields, secrets={"password": "another-secret"})
        with pytest.raises(ComponentError, match="did not accept the user and password") as refused:
            await read(mailbox)
        assert "another-secret" not in json.dumps(refused.value.problem())


@pytest.fixture
def unread() -> Iterator[ImapProcess]:
    """A mailbox with one unread message, which has a file."""
    server = ImapProcess()
    message = EmailMessage()
    message["From"], message["Subject"] = "bo@example.org", "One"
    message.set_content("x")
    message.add_attachment(b"a", maintype="text", subtype="plain", filename="a.txt")
    server.add(message)
    yield server
    server.close()


def harness_of(port: int) -> StepHarness:
    harness = StepHarness()
    fields: dict[str, JsonValue] = {"host": "127.0.0.1", "port": port, "security": "none", "user": USER}
    harness.connect("inbox", "imap", fields, secrets={"password": PASSWORD})
    return harness


BROKEN = b'From: eve@example.org\r\nSubject: Broken\r\nContent-Type: text/plain; charset="\0"\r\n\r\nx'


class TestUnparsable:
    """One message never hides the others."""

    async def test_is_a_row_with_the_reason_and_stays_unread(self, unread: ImapProcess) -> None:
        unread.add(BROKEN)
        last, first = await read(harness_of(unread.port), mark_seen=True)
        assert (first["subject"], first["seen"]) == ("One", True)
        assert last["text"].startswith(f"(Message {last['uid']} cannot be parsed: ")
        assert (last["subject"], last["files"], last["seen"]) == ("", [], False)
        assert ["\\Seen" in flags for flags in unread.flags()] == [True, False]

    async def test_is_found_by_parsing_each_alone_when_it_stops_the_process(
        self, unread: ImapProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def call(ctx: Any, function: str, arguments: dict[str, Any], task: str, seconds: float) -> JsonValue:
            if any(b"Heavy" in base64.b64decode(message["content"]) for message in arguments["messages"]):
                raise Unreadable(f"{task} was stopped: it took too long", remedy="")
            return await calls.call_isolated(ctx, function, arguments, task, seconds)

        monkeypatch.setattr(parsing, "call_isolated", call)
        unread.add(b"Subject: Heavy\r\n\r\nx", b"Subject: Last\r\n\r\nx")
        rows = await read(harness_of(unread.port))
        assert [row["subject"] for row in rows] == ["Last", "", "One"]
        assert rows[1]["text"].endswith("was stopped: it took too long)")

    async def test_a_message_without_a_date_has_none(self, unread: ImapProcess) -> None:
        unread.add(b"Subject: Timeless\r\n\r\nx", b"Date: someday\r\n\r\nx")
        rows = await read(harness_of(unread.port))
        assert [row["date"] for row in rows] == ["", "", ""]


class TestGroups:
    def test_are_bounded_and_keep_the_order(self) -> None:
        sizes = [1] * 30 + [parsing.MOST_PARSED_BYTES, 5_000_000, 1, 1]
        mails = [parsing.Raw(str(number), False, True, b"x" * size) for number, size in enumerate(sizes)]
        groups = parsing.grouped(mails)
        assert [len(group) for group in groups] == [parsing.MOST_PARSED, 5, 1, 1, 2]
        assert [mail for group in groups for mail in group] == mails


class TestMarking:
    async def test_marks_as_read(self, unread: ImapProcess) -> None:
        harness = harness_of(unread.port)
        assert (await read(harness, mark_seen=True))[0]["seen"]
        assert "\\Seen" in unread.flags()[0]
        assert await read(harness) == []

    async def test_a_later_attempt_reads_the_same_messages(
        self, unread: ImapProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The first one was interrupted after it had marked them, before its result was stored."""
        harness, answers = harness_of(unread.port), dict[str, JsonValue]()

        async def once(request: CallRequest, call: Callable[[], Awaitable[JsonValue]]) -> CallResult:
            if request.digest not in answers:
                answers[request.digest] = await call()
            return CallResult(answers[request.digest])

        monkeypatch.setattr(harness.ctx, "once", once)
        assert [row["subject"] for row in await read(harness, mark_seen=True)] == ["One"]
        assert [row["subject"] for row in await read(harness, mark_seen=True)] == ["One"]

    async def test_what_could_not_be_stored_stays_unread(
        self, unread: ImapProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        harness = harness_of(unread.port)

        async def save(name: str, content: bytes, media_type: str) -> None:
            raise UpstreamFailed("The disk is full.")

        monkeypatch.setattr(harness.ctx.files, "save", save)
        with pytest.raises(UpstreamFailed, match="disk is full"):
            await read(harness, mark_seen=True)
        assert "\\Seen" not in unread.flags()[0]


@contextmanager
def hostile(after_sign_in: bytes, *, often: bool = False) -> Iterator[int]:
    """A server that accepts the password and answers the next command like this, again and again if `often`."""
    over = threading.Event()

    def serve(listener: socket.socket) -> None:
        with listener.accept()[0] as stream, stream.makefile("rwb", buffering=0) as lines, suppress(OSError):
            lines.write(b"* OK IMAP4rev1\r\n")
            while line := lines.readline():
                tag, command = line.split()[:2]
                if command in {b"CAPABILITY", b"LOGIN"}:
                    lines.write(b"* CAPABILITY IMAP4rev1\r\n" + tag + b" OK done\r\n")
                    continue
                lines.write(after_sign_in)
                while often and not over.wait(0.05):
                    lines.write(after_sign_in)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=[listener])
        thread.start()
        yield listener.getsockname()[1]
        over.set()
        thread.join()


class TestHostileServer:
    async def test_reads_no_more_than_its_limit(self) -> None:
        refused = pytest.raises(UpstreamFailed, match="it sends more than 100 MB")
        with hostile(b"* 1 FETCH (BODY {2000000000}\r\n") as port, refused:
            await read(harness_of(port))

    async def test_waits_no_longer_than_its_limit(self) -> None:
        stopped = pytest.raises(UpstreamFailed, match="took longer than 1 seconds")
        with hostile(b"* 1 EXISTS\r\n", often=True) as port, stopped:
            await read(harness_of(port), timeout_seconds=1)
