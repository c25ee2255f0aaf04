"""Triggers that poll, in the real application with real servers, on both databases."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest
from sqlalchemy import update
from sqlalchemy.engine import make_url

from headgate.components.mail.reading import ReadMail
from headgate.components.storage.storage import opened_storage
from headgate.features.runs.evidence.verify import verify
from headgate.features.runs.transitions import clock
from headgate.features.triggers.polling import folders, listening, mailboxes
from headgate.features.triggers.polling.poller import backoff_seconds
from headgate.features.triggers.tables import TriggerRow
from headgate.foundation.errors import UpstreamFailed
from headgate.foundation.settings import ClassificationSettings, ConnectionSettings, RateLimitSettings, Settings
from headgate.foundation.settings.connections import FolderSettings
from headgate.sdk.testing import StepHarness
from tests.integration.features.triggers.conftest import PATIENCE, add, occurrences, published, until
from tests.integration.features.triggers.test_followed import SECRET_FLOW
from tests.support.databases import Postgres
from tests.support.forwarder import forwarded
from tests.support.imap_process import PASSWORD, USER, ImapProcess
from tests.support.people import LOOPBACK
from tests.support.sql_server import PASSWORD as SQL_PASSWORD
from tests.support.sql_server import sql_server
from tests.support.storages import store_of
from tests.support.team import Team, team
from tests.support.web_server import WebServer, answer, web_server


def reply(body: bytes, media_type: str) -> bytes:
    return answer(200, body, content_type=media_type)


async def connection(us: Team, name: str, kind: str, fields: dict[str, Any], **secrets: str) -> None:
    """Add a connection of the space."""
    body = {"name": name, "kind": kind, "space_id": us.space, "fields": fields, "secrets": secrets}
    who = "admin" if kind in {"local_folder", "sql_file"} else "owner"
    made = await us.ask(who, "POST", "/connections", json=body)
    assert made.status_code == 201, made.text


@pytest.fixture
async def us(settings: Settings, tmp_path: Path) -> AsyncIterator[Team]:
    opened = FolderSettings(path=f"{tmp_path}/opened")
    groups = {"http": LOOPBACK, "connections": ConnectionSettings(folders={"opened": opened})}
    async with team(settings, rate_limits=RateLimitSettings(enabled=False), **groups) as people:
        yield people


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        yield server


@pytest.fixture
def mail_server() -> Iterator[ImapProcess]:
    server = ImapProcess()
    yield server
    server.close()


async def polled(us: Team, trigger: dict[str, Any]) -> dict[str, Any]:
    """The trigger after its next poll."""
    at = (await us.get("publisher", f"/triggers/{trigger['id']}"))["polled_at"]
    async with us.database.writing() as session:
        change = update(TriggerRow).where(TriggerRow.id == trigger["id"])
        await session.execute(change.values(due_at=clock(), next_at=clock()))

    async def done() -> Any:
        now = await us.get("publisher", f"/triggers/{trigger['id']}")
        return now if now["polled_at"] not in {None, at} else None

    shown: dict[str, Any] = await until(done)
    return shown


async def first_poll(us: Team, trigger: dict[str, Any]) -> None:
    """Wait for the poll that follows the creation of a trigger."""

    async def done() -> bool:
        return (await us.get("publisher", f"/triggers/{trigger['id']}"))["polled_at"] is not None

    await until(done)


async def texts(us: Team, trigger: dict[str, Any]) -> list[str]:
    """The texts of the runs of a trigger, in their order."""
    shown = []
    for row in await occurrences(us, trigger["id"]):
        assert row["status"] == "started", row

        async def over(run_id: str = row["run_id"]) -> Any:
            run = await us.get("publisher", f"/flow-runs/{run_id}")
            return run if run["status"] in {"completed", "failed"} else None

        shown.append((await until(over))["text"])
    return shown


def feed(*ids: int) -> bytes:
    items = [{"id": str(number), "title": f"Entry {number}", "url": f"https://example.org/{number}"} for number in ids]
    document = {"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": items}
    return reply(orjson.dumps(document), "application/feed+json")


class TestFeed:
    async def test_each_new_entry_is_one_run_and_evidence(self, us: Team, web: WebServer) -> None:
        web.on("/feed", feed(1))
        config = {"kind": "feed", "url": web.url("/feed"), "text_from": "title", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        assert await occurrences(us, trigger["id"]) == []
        web.on("/feed", feed(3, 2, 1))
        await polled(us, trigger)
        await polled(us, trigger)
        assert await texts(us, trigger) == ["Entry 2", "Entry 3"]
        rows = await occurrences(us, trigger["id"])
        assert [row["key"] for row in rows] == ["item:2", "item:3"]
        package = (await us.ask("viewer", "GET", f"/flow-runs/{rows[0]['run_id']}/evidence")).content
        assert verify(package).good
        assert rows[0]["id"].encode() in package

    async def test_an_answer_without_entries_makes_nothing_new_again(self, us: Team, web: WebServer) -> None:
        web.on("/feed", feed(1, 2))
        config = {"kind": "feed", "url": web.url("/feed"), "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        web.on("/feed", feed())
        await polled(us, trigger)
        web.on("/feed", feed(1, 2))
        await polled(us, trigger)
        assert await occurrences(us, trigger["id"]) == []

    async def test_all_at_first_in_bounded_polls(self, us: Team, web: WebServer) -> None:
        web.on("/feed", feed(*range(7, 0, -1)))
        config = {"kind": "feed", "url": web.url("/feed"), "text_from": "id", "first": "all", "most": 3}
        trigger = await add(us, await published(us), config=config | {"every_seconds": 3600})

        async def seven() -> bool:
            return len(await occurrences(us, trigger["id"])) == 7

        await until(seven)
        assert await texts(us, trigger) == [str(number) for number in range(1, 8)]
        assert len(web.seen("/feed")) == 3

    async def test_failures_are_shown_back_off_and_pause(self, us: Team, web: WebServer) -> None:
        config = {"kind": "feed", "url": web.url("/gone"), "every_seconds": 600, "pause_after_errors": 2}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        failed = await us.get("publisher", f"/triggers/{trigger['id']}")
        assert "answered 404" in failed["poll_error"]
        assert failed["enabled"]
        paused = await polled(us, trigger)
        assert not paused["enabled"]
        assert paused["paused_reason"].startswith("2 polls in a row failed: ReadFeed: ")
        assert paused["next_at"] is None
        web.on("/gone", feed(1))
        await us.make("publisher", f"/triggers/{trigger['id']}/resume")

        async def well() -> bool:
            return bool((await us.get("publisher", f"/triggers/{trigger['id']}"))["poll_error"] == "")

        await until(well)

    def test_failures_double_the_time_up_to_six_hours(self) -> None:
        assert [backoff_seconds(600, failures) for failures in (1, 2, 3, 40)] == [1_200, 2_400, 4_800, 21_600]
        assert backoff_seconds(7 * 86_400, 3) == 7 * 86_400


class TestPage:
    async def test_each_change_of_the_part_is_one_run(self, us: Team, web: WebServer) -> None:
        page = "<html><body><p id=price>{}</p><i>{}</i></body></html>"
        config = {"kind": "page", "url": web.url("/page"), "selector": "#price", "every_seconds": 3600}
        web.on("/page", reply(page.format("10", "a").encode(), "text/html"))
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        for price, other in (("10", "b"), ("12", "b"), ("10", "b"), ("12", "b")):
            web.on("/page", reply(page.format(price, other).encode(), "text/html"))
            await polled(us, trigger)
        assert await texts(us, trigger) == ["12", "10", "12"]

    async def test_without_the_part_says_so(self, us: Team, web: WebServer) -> None:
        web.on("/page", reply(b"<p>no price</p>", "text/html"))
        config = {"kind": "page", "url": web.url("/page"), "selector": "#price", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        shown = await us.get("publisher", f"/triggers/{trigger['id']}")
        assert "No element of the page matches '#price'" in shown["poll_error"]


class TestFolder:
    async def test_new_and_changed_files_reach_the_run(self, us: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(folders, "SETTLE_SECONDS", 0)

        async def write(path: str, text: str) -> None:
            params = {"path": path, "area": "flows"}
            put = await us.ask("publisher", "PUT", "/workspace/files/content", params=params, json={"text": text})
            assert put.status_code == 200, put.text

        await write("in/old.txt", "old")
        config = {"kind": "folder", "folder": "in", "pattern": "*.txt", "text_from": "path", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        await write("in/new.txt", "new")
        await write("in/old.txt", "changed")
        await write("in/other.csv", "1")
        await polled(us, trigger)
        await polled(us, trigger)
        assert await texts(us, trigger) == ["in/new.txt", "in/old.txt"]
        first = (await occurrences(us, trigger["id"]))[0]
        run = await us.get("publisher", f"/flow-runs/{first['run_id']}")
        (file_id,) = run["input"]["file_ids"]
        assert (await us.ask("publisher", "GET", f"/files/{file_id}/content")).content == b"new"

    async def test_a_file_that_is_written_piece_by_piece_is_one_run(
        self, us: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = clock()
        monkeypatch.setattr(folders, "clock", lambda: now)
        params = {"path": "in/large.txt", "area": "flows"}
        config = {"kind": "folder", "folder": "in", "pattern": "*.txt", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        for text in ("half", "half and", "half and half"):
            put = await us.ask("publisher", "PUT", "/workspace/files/content", params=params, json={"text": text})
            assert put.status_code == 200, put.text
            now += 4_000_000
            await polled(us, trigger)
            assert await occurrences(us, trigger["id"]) == []
        dry = await us.make("publisher", f"/triggers/{trigger['id']}/dry-run")
        assert len(dry["items"]) == 1
        now += 5_000_000
        await polled(us, trigger)
        now += 5_000_000
        await polled(us, trigger)
        (row,) = await occurrences(us, trigger["id"])
        run = await us.get("publisher", f"/flow-runs/{row['run_id']}")
        (file_id,) = run["input"]["file_ids"]
        assert (await us.ask("publisher", "GET", f"/files/{file_id}/content")).content == b"half and half"

    @pytest.mark.parametrize("kind", ["local_folder", "s3", "gcs", "azure_blob", "sftp", "webdav"])
    async def test_of_a_storage(self, us: Team, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
        monkeypatch.setattr(folders, "SETTLE_SECONDS", 0)
        (tmp_path / "opened").mkdir()
        with store_of(kind, tmp_path / "opened") as store:
            fields = {"folder": "opened"} if kind == "local_folder" else dict(store.fields)
            await connection(us, "store", kind, fields, **store.secrets)

            async def write(path: str, text: str) -> None:
                async with opened_storage(store.connect(StepHarness()), seconds=20, subject="The test") as storage:
                    await storage.write(path, text.encode(), replace=True)

            await write("in/old.txt", "old")
            config: dict[str, Any] = {"kind": "folder", "connection": "store", "folder": "in", "pattern": "**/*.txt"}
            config |= {"text_from": "path", "every_seconds": 3600}
            trigger = await add(us, await published(us), config=config)
            await first_poll(us, trigger)
            await write("in/deep/new.txt", "new")
            await write("in/old.txt", "changed now")
            await write("in/other.csv", "1")
            for _ in range(3):
                await polled(us, trigger)
            assert sorted(await texts(us, trigger)) == ["in/deep/new.txt", "in/old.txt"]
            rows = await occurrences(us, trigger["id"])
            run = await us.get("publisher", f"/flow-runs/{rows[0]['run_id']}")
            (file_id,) = run["input"]["file_ids"]
            content = (await us.ask("publisher", "GET", f"/files/{file_id}/content")).content
            assert content in {b"new", b"changed now"}

    @pytest.mark.parametrize("place", ["workspace", "storage"])
    async def test_that_does_not_exist_is_waited_for(
        self, us: Team, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str
    ) -> None:
        monkeypatch.setattr(folders, "SETTLE_SECONDS", 0)
        (tmp_path / "opened").mkdir()
        await connection(us, "store", "local_folder", {"folder": "opened"})
        config: dict[str, Any] = {"kind": "folder", "folder": "later", "text_from": "path", "every_seconds": 3600}
        config |= {"pause_after_errors": 1} | ({} if place == "workspace" else {"connection": "store"})
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        shown = await polled(us, trigger)
        assert (shown["enabled"], shown["poll_error"], shown["waits_for"]) == (True, "", "later")
        states = [row["id"] for row in (await us.get("publisher", "/triggers", params={"state": "failing"}))["items"]]
        assert trigger["id"] not in states
        if place == "storage":
            (tmp_path / "opened" / "later").mkdir()
            (tmp_path / "opened" / "later" / "first.txt").write_text("1")
        else:
            params = {"path": "later/first.txt", "area": "flows"}
            await us.ask("publisher", "PUT", "/workspace/files/content", params=params, json={"text": "1"})
        for _ in range(2):
            shown = await polled(us, trigger)
        assert shown["waits_for"] == ""
        assert await texts(us, trigger) == ["later/first.txt"]


class TestRows:
    async def test_of_a_database_file(self, us: Team, tmp_path: Path) -> None:
        (tmp_path / "opened").mkdir()
        fields = {"dialect": "sqlite", "folder": "opened", "file": "shop.db"}

        def write(*numbers: int) -> None:
            with sqlite3.connect(tmp_path / "opened" / "shop.db") as database:
                database.execute("CREATE TABLE IF NOT EXISTS orders (no integer)")
                database.executemany("INSERT INTO orders VALUES (?)", [(number,) for number in numbers])

        write(1)
        await connection(us, "db", "sql_file", fields)
        config = {"kind": "rows", "connection": "db", "sql": "SELECT * FROM orders", "cursor_column": "no"}
        trigger = await add(us, await published(us), config=config | {"text_from": "no", "every_seconds": 3600})
        await first_poll(us, trigger)
        write(2, 3)
        await polled(us, trigger)
        assert await texts(us, trigger) == ["2", "3"]

    async def test_of_sql_server(self, us: Team) -> None:
        with sql_server() as server:
            server.sql("CREATE TABLE orders (no int)", "INSERT INTO orders VALUES (1)")
            fields = {
                "dialect": "sqlserver",
                "host": "127.0.0.1",
                "port": server.port,
                "database": "shop",
                "tls": "off",
            }
            await connection(us, "db", "sql", fields | {"user": "shop"}, password=SQL_PASSWORD)
            config = {"kind": "rows", "connection": "db", "sql": "SELECT no FROM orders -- all", "cursor_column": "no"}
            trigger = await add(us, await published(us), config=config | {"text_from": "no", "every_seconds": 3600})
            await first_poll(us, trigger)
            server.sql("INSERT INTO orders VALUES (2), (3)")
            await polled(us, trigger)
            assert await texts(us, trigger) == ["2", "3"]
            assert any("FETCH NEXT" in sql and "LIMIT" not in sql for sql in server.statements)

    async def test_each_new_row_is_one_run_also_with_equal_cursors(self, us: Team, postgres: Postgres) -> None:
        with postgres.empty() as url:
            parts = make_url(url)
            uri = parts.set(drivername="postgresql").render_as_string(hide_password=False)

            def write(*rows: tuple[int, str]) -> None:
                with psycopg.connect(uri) as database:
                    for row in rows:
                        database.execute("INSERT INTO orders VALUES (%s, %s)", row)

            with psycopg.connect(uri) as database:
                database.execute("CREATE TABLE orders (no integer PRIMARY KEY, day date NOT NULL)")
            write((1, "2026-01-01"), (2, "2026-01-02"))
            socket = f"{parts.query['host']}/.s.PGSQL.{parts.query.get('port', 5432)}"
            with forwarded(socket) as tcp:
                fields: dict[str, Any] = {"dialect": "postgresql", "host": "127.0.0.1", "port": tcp, "tls": "off"}
                fields |= {"database": str(parts.database), "user": str(parts.username)}
                await connection(us, "db", "sql", fields, password="not checked here")
                config: dict[str, Any] = {"kind": "rows", "connection": "db", "sql": "SELECT * FROM orders -- all;"}
                config |= {
                    "cursor_column": "day",
                    "key_column": "no",
                    "text_from": "no",
                    "every_seconds": 3600,
                    "most": 2,
                }
                trigger = await add(us, await published(us), config=config)
                await first_poll(us, trigger)
                write((3, "2026-01-02"), (4, "2026-01-02"), (5, "2026-01-02"), (6, "2026-01-03"))
                await polled(us, trigger)

                async def four() -> bool:
                    return len(await occurrences(us, trigger["id"])) == 4

                await until(four)
                await polled(us, trigger)
                assert sorted(await texts(us, trigger)) == ["3", "4", "5", "6"]
                dry = await us.make("publisher", f"/triggers/{trigger['id']}/dry-run")
                assert (dry["items"], dry["first"]) == ([], False)

    async def test_write_nothing(self, us: Team, postgres: Postgres) -> None:
        with postgres.empty() as url:
            parts = make_url(url)
            uri = parts.set(drivername="postgresql").render_as_string(hide_password=False)
            with psycopg.connect(uri) as database:
                database.execute("CREATE TABLE orders (no integer)")
                database.execute("INSERT INTO orders VALUES (1)")
            socket = f"{parts.query['host']}/.s.PGSQL.{parts.query.get('port', 5432)}"
            with forwarded(socket) as tcp:
                fields: dict[str, Any] = {"dialect": "postgresql", "host": "127.0.0.1", "port": tcp, "tls": "off"}
                fields |= {"database": str(parts.database), "user": str(parts.username)}
                await connection(us, "db", "sql", fields, password="not checked here")
                flow_id = await published(us)
                for number, sql in enumerate(
                    [
                        "SELECT 1 AS no) AS x; DELETE FROM orders; --",
                        "WITH d AS (DELETE FROM orders RETURNING no) TABLE d",
                    ]
                ):
                    config: dict[str, Any] = {"kind": "rows", "connection": "db", "sql": sql, "cursor_column": "no"}
                    trigger = await add(us, flow_id, name=f"T{number}", config=config | {"every_seconds": 3600})
                    await first_poll(us, trigger)
                    assert (await us.get("publisher", f"/triggers/{trigger['id']}"))["poll_error"]
            with psycopg.connect(uri) as database:
                assert database.execute("SELECT count(*) FROM orders").fetchone() == (1,)


def mail(number: int) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "bo@example.org", f"Mail {number}"
    message["Message-ID"] = f"<{number}@idle.example.org>"
    message.set_content("x")
    return message


async def is_silent(trigger: dict[str, Any]) -> bool:
    """Whether no connection is held for a trigger."""
    return not any(task.get_name() == f"listening {trigger['id']}" for task in asyncio.all_tasks())


async def is_listening(trigger: dict[str, Any]) -> bool:
    return not await is_silent(trigger)


async def has_occurrences(us: Team, trigger: dict[str, Any], count: int) -> bool:
    return len(await occurrences(us, trigger["id"])) == count


class TestMail:
    async def test_starts_its_run_at_once_on_a_connection_that_stays_open(
        self, us: Team, mail_server: ImapProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(listening, "LOOK_SECONDS", 0.1)
        fields = {"host": "127.0.0.1", "port": mail_server.port, "security": "none", "user": USER}
        await connection(us, "inbox", "imap", fields, password=PASSWORD)
        config = {"kind": "mail", "connection": "inbox", "text_from": "subject", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        for number in (1, 2):
            begun = time.monotonic()
            mail_server.add(mail(number))
            await until(partial(has_occurrences, us, trigger, number))
            assert time.monotonic() - begun < PATIENCE, "the next poll is due in an hour"
        mail_server.add(mail(2))
        mail_server.add(mail(3))
        await until(lambda: has_occurrences(us, trigger, 3))
        assert await texts(us, trigger) == ["Mail 1", "Mail 2", "Mail 3"]
        await until(partial(is_listening, trigger))
        await us.make("publisher", f"/triggers/{trigger['id']}/pause")
        await until(partial(is_silent, trigger))
        mail_server.add(mail(4))
        await us.make("publisher", f"/triggers/{trigger['id']}/resume")
        await until(lambda: has_occurrences(us, trigger, 4))

    async def test_is_polled_where_the_server_has_no_idle(
        self, us: Team, mail_server: ImapProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def refuse(*_: Any) -> str:
            raise UpstreamFailed("The mail server has no IDLE.")

        monkeypatch.setattr(us.app.state.poller, "wait_for_change", refuse)
        fields = {"host": "127.0.0.1", "port": mail_server.port, "security": "none", "user": USER}
        await connection(us, "inbox", "imap", fields, password=PASSWORD)
        config = {"kind": "mail", "connection": "inbox", "text_from": "subject", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        mail_server.add(mail(1))
        shown = await polled(us, trigger)
        assert (shown["enabled"], shown["poll_error"]) == (True, "")
        assert await texts(us, trigger) == ["Mail 1"]

    async def test_each_message_is_one_run_and_then_marked(self, us: Team, mail_server: ImapProcess) -> None:
        def deliver(number: int) -> None:
            message = EmailMessage()
            message["From"], message["To"] = "Bo <bo@example.org>", "ann@example.org"
            message["Subject"], message["Message-ID"] = f"Mail {number}", f"<{number}@polls.example.org>"
            message.set_content(f"Text {number}")
            message.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="invoice.csv")
            mail_server.add(message)

        fields = {"host": "127.0.0.1", "port": mail_server.port, "security": "none", "user": USER}
        await connection(us, "inbox", "imap", fields, password=PASSWORD)
        deliver(1)
        config = {"kind": "mail", "idle": False, "connection": "inbox", "text_from": "subject", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        assert "\\Seen" not in mail_server.flags()[0]
        deliver(2)
        deliver(3)
        deliver(3)  # doubled on its way
        await us.make("publisher", f"/triggers/{trigger['id']}/dry-run")
        assert not any("\\Seen" in flags for flags in mail_server.flags())
        await polled(us, trigger)
        await polled(us, trigger)
        assert await texts(us, trigger) == ["Mail 2", "Mail 3"]
        assert ["\\Seen" in flags for flags in mail_server.flags()] == [False, True, True, True]
        rows = await occurrences(us, trigger["id"])
        assert [row["key"] for row in rows] == ["item:<2@polls.example.org>", "item:<3@polls.example.org>"]
        run = await us.get("publisher", f"/flow-runs/{rows[0]['run_id']}")
        (file_id,) = run["input"]["file_ids"]
        assert (await us.ask("publisher", "GET", f"/files/{file_id}/content")).content == b"a,b\n1,2\n"

    async def test_a_message_that_cannot_be_parsed_stops_no_other(self, us: Team, mail_server: ImapProcess) -> None:
        fields = {"host": "127.0.0.1", "port": mail_server.port, "security": "none", "user": USER}
        await connection(us, "inbox", "imap", fields, password=PASSWORD)
        config = {"kind": "mail", "idle": False, "connection": "inbox", "text_from": "subject", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        broken = b'From: eve@example.org\r\nContent-Type: text/plain; charset="\0"\r\n\r\nx'
        mail_server.add(mail(71), broken, mail(72))
        shown = await polled(us, trigger)
        assert shown["poll_error"] == ""
        first, refused, last = await occurrences(us, trigger["id"])
        assert [first["status"], refused["status"], last["status"]] == ["started", "skipped", "started"]
        assert "cannot be parsed: embedded null" in refused["message"]

    async def test_of_more_messages_than_one_poll_reads_none_is_missed(
        self, us: Team, mail_server: ImapProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The newest were listed, and of mail that is not marked the others never."""
        monkeypatch.setattr(mailboxes, "MOST_LISTED", 5)
        messages = []
        for number in range(12):
            message = EmailMessage()
            message["From"], message["Subject"], message["Message-ID"] = "bo@example.org", "Many", f"<{number}@many>"
            message.set_content("x")
            messages.append(message)
        mail_server.add(*messages)
        fields = {"host": "127.0.0.1", "port": mail_server.port, "security": "none", "user": USER}
        await connection(us, "inbox", "imap", fields, password=PASSWORD)
        config = {
            "kind": "mail",
            "connection": "inbox",
            "subject": "Many",
            "first": "all",
            "mark_seen": False,
            "idle": False,
        }
        trigger = await add(us, await published(us), config=config | {"most": 4, "every_seconds": 3600})
        await first_poll(us, trigger)

        async def twelve() -> bool:  # a poll that finds more is followed by the next one
            return len(await occurrences(us, trigger["id"])) == 12

        await until(twelve)
        keys = [row["key"] for row in await occurrences(us, trigger["id"])]
        assert keys == [f"item:<{number}@many>" for number in range(12)]

    async def test_is_marked_after_a_failure_in_between(
        self, us: Team, mail_server: ImapProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        message = EmailMessage()
        message["From"], message["Subject"], message["Message-ID"] = "bo@example.org", "Later", "<later@example.org>"
        message.set_content("x")
        mail_server.add(message)
        fields = {"host": "127.0.0.1", "port": mail_server.port, "security": "none", "user": USER}
        await connection(us, "inbox", "imap", fields, password=PASSWORD)
        mark_read = ReadMail.mark_read

        async def failing(*_: Any) -> None:
            raise UpstreamFailed("The server is away.")

        monkeypatch.setattr(ReadMail, "mark_read", failing)
        config = {
            "kind": "mail",
            "idle": False,
            "connection": "inbox",
            "subject": "Later",
            "first": "all",
            "every_seconds": 3600,
        }
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        shown = await us.get("publisher", f"/triggers/{trigger['id']}")
        assert "The server is away" in shown["poll_error"]
        assert "\\Seen" not in mail_server.flags()[-1]
        monkeypatch.setattr(ReadMail, "mark_read", mark_read)
        await polled(us, trigger)
        assert "\\Seen" in mail_server.flags()[-1]
        assert len(await occurrences(us, trigger["id"])) == 1


class TestApi:
    async def test_new_items_by_key_with_a_connection(self, us: Team, web: WebServer) -> None:
        def orders(*numbers: int) -> bytes:
            found = {"data": {"orders": [{"no": number, "sum": number * 10} for number in numbers]}}
            return reply(orjson.dumps(found), "application/json")

        await connection(us, "shop", "bearer", {"url": web.origin}, token="the-token-of-the-shop")
        web.on("/orders", orders(1))
        config = {"kind": "api", "url": "/orders", "connection": "shop", "items": "data.orders", "key": "no"}
        flow_id = await published(us)
        trigger = await add(us, flow_id, config=config | {"every_seconds": 3600, "text_from": "sum"})
        await first_poll(us, trigger)
        web.on("/orders", orders(1, 2, 3))
        dry = await us.make("publisher", f"/triggers/{trigger['id']}/dry-run")
        assert [(item["key"], item["text"], item["occurred"]) for item in dry["items"]] == [
            ("item:2", "20", False),
            ("item:3", "30", False),
        ]
        assert await occurrences(us, trigger["id"]) == []
        await polled(us, trigger)
        assert await texts(us, trigger) == ["20", "30"]
        assert web.seen("/orders")[0].headers["authorization"] == "Bearer the-token-of-the-shop"

    async def test_an_item_without_a_key_is_an_error(self, us: Team, web: WebServer) -> None:
        web.on("/items", reply(b'[{"id": 1}, {"name": "x"}]', "application/json"))
        config = {"kind": "api", "url": web.url("/items"), "key": "id", "every_seconds": 3600}
        trigger = await add(us, await published(us), config=config)
        await first_poll(us, trigger)
        assert "has no key" in (await us.get("publisher", f"/triggers/{trigger['id']}"))["poll_error"]


class TestClassifications:
    async def test_of_the_connection_must_be_taken_by_the_flow(self, settings: Settings, web: WebServer) -> None:
        web.on("/orders", reply(b'[{"no": 1}]', "application/json"))
        groups: dict[str, Any] = {"classification": ClassificationSettings(enabled=True), "http": LOOPBACK}
        async with team(settings, rate_limits=RateLimitSettings(enabled=False), **groups) as us:
            body = {"name": "shop", "kind": "bearer", "space_id": us.space, "classification": 2}
            body |= {"fields": {"url": web.origin}, "secrets": {"token": "the-token-of-the-shop"}}
            assert (await us.ask("owner", "POST", "/connections", json=body)).status_code == 201
            config = {"kind": "api", "url": "/orders", "connection": "shop", "first": "all", "every_seconds": 3600}
            public, secret = await published(us), await published(us, SECRET_FLOW)
            refused = await add(us, public, config=config)
            taken = await add(us, secret, config=config)
            rows = await until(lambda: occurrences(us, refused["id"]))
            assert (rows[0]["status"], rows[0]["reason"]) == ("skipped", "classification_refused")
            rows = await until(lambda: occurrences(us, taken["id"]))
            assert rows[0]["status"] == "started"


class TestDryRun:
    async def test_shows_an_example_before_the_first_poll_and_only_to_the_owner(self, us: Team, web: WebServer) -> None:
        web.on("/feed", feed(2, 1))
        config = {"kind": "feed", "url": web.url("/feed"), "text_from": "title"}
        trigger = await add(us, await published(us), config=config, enabled=False)
        dry = await us.make("publisher", f"/triggers/{trigger['id']}/dry-run")
        assert (dry["items"], dry["first"], dry["example"]["text"]) == ([], True, "Entry 1")
        refused = await us.ask("owner", "POST", f"/triggers/{trigger['id']}/dry-run")
        assert (refused.status_code, refused.json()["remedy"][:6]) == (403, "Change")
        manual = await add(us, trigger["flow_id"], name="By hand", config={"kind": "manual"})
        assert (await us.ask("publisher", "POST", f"/triggers/{manual['id']}/dry-run")).status_code == 422
