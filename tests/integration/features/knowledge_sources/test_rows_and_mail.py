"""Rows of a query and messages of a mailbox as a source, on real servers."""

from collections.abc import AsyncIterator, Iterator
from email.message import EmailMessage
from typing import Any

import psycopg
import pytest
from fastapi import FastAPI
from sqlalchemy import text
from sqlalchemy.engine import make_url

from tests.integration.features.knowledge.conftest import API
from tests.integration.features.knowledge_sources.conftest import Sources, report
from tests.support.databases import Postgres
from tests.support.forwarder import forwarded
from tests.support.imap_process import PASSWORD, USER, ImapProcess


@pytest.fixture
def mail_server() -> Iterator[ImapProcess]:
    server = ImapProcess()
    yield server
    server.close()


def message(subject: str, text: str, attachment: str = "") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "ann@example.org", "bo@example.org", subject
    made["Message-ID"] = f"<{subject.replace(' ', '-')}@example.org>"
    made.set_content(text)
    if attachment:
        made.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename=attachment)
    return made


class TestRows:
    @pytest.fixture
    async def url(self, sources: Sources, postgres: Postgres) -> AsyncIterator[str]:
        with postgres.empty() as address:
            parts = make_url(address)
            url = parts.set(drivername="postgresql").render_as_string(hide_password=False)
            with psycopg.connect(url, autocommit=True) as there:
                there.execute("CREATE TABLE faq (id int, question text, answer text)")
                there.execute("INSERT INTO faq VALUES (1, 'Wifi?', 'Quokka'), (2, 'Door?', 'Zephyr')")
            socket = f"{parts.query['host']}/.s.PGSQL.{parts.query.get('port', 5432)}"
            with forwarded(socket) as port:
                fields: dict[str, Any] = {"dialect": "postgresql", "host": "127.0.0.1", "port": port, "tls": "off"}
                fields |= {"database": str(parts.database), "user": str(parts.username)}
                await sources.connect("shop", "sql", fields, password="not checked here")
                yield url

    async def test_each_is_a_document_and_only_changed_ones_are_read(self, sources: Sources, url: str) -> None:
        config = {"kind": "sql", "connection": "shop", "sql": "SELECT * FROM faq", "key_column": "id"}
        source = await sources.source(config, "FAQ")
        assert report(source, "added", "failed") == [2, 0], source
        assert await sources.names() == ["FAQ/1", "FAQ/2"]
        assert "Quokka" in (await sources.search(sources.base_id, "wifi"))[0]["text"]
        with psycopg.connect(url) as there:
            there.execute("UPDATE faq SET answer = 'Walrus' WHERE id = 1")
            there.execute("DELETE FROM faq WHERE id = 2")
        source = await sources.sync(source)
        assert report(source, "changed", "unchanged", "deleted") == [1, 0, 1]
        assert "Walrus" in (await sources.search(sources.base_id, "wifi"))[0]["text"]

    async def test_a_query_that_writes_is_refused_by_the_database(self, sources: Sources, url: str) -> None:
        for number, sql in enumerate(
            ("DELETE FROM faq RETURNING id", "WITH gone AS (DELETE FROM faq RETURNING id) SELECT * FROM gone")
        ):
            config = {"kind": "sql", "connection": "shop", "sql": sql, "key_column": "id"}
            source = await sources.source(config, f"Writing {number}")
            assert source["status"] == "failed", source
        with psycopg.connect(url) as there:
            assert there.execute("SELECT count(*) FROM faq").fetchone() == (2,)

    async def test_rows_without_a_key_of_their_own_are_reported(self, sources: Sources, url: str) -> None:
        sql = "SELECT CASE WHEN id = 2 THEN 1 ELSE id END AS id, answer FROM faq ORDER BY answer"
        source = await sources.source({"kind": "sql", "connection": "shop", "sql": sql, "key_column": "id"}, "Twice")
        assert report(source, "added", "complete") == [1, False]
        assert "its key is missing, used by another row" in source["report"]["notes"][0]
        missing = {"kind": "sql", "connection": "shop", "sql": "SELECT 1 AS a", "key_column": "id"}
        assert "has no column 'id'" in (await sources.source(missing, "Missing"))["problem"]


class TestMail:
    async def test_each_message_is_a_document_and_none_is_marked_as_read(
        self, sources: Sources, mail_server: ImapProcess
    ) -> None:
        fields = {"host": "127.0.0.1", "port": mail_server.port, "user": USER, "security": "none"}
        await sources.connect("inbox", "imap", fields, password=PASSWORD)
        mail_server.add(message("Wifi", "The network is Quokka."), message("Cities", "See the table.", "cities.csv"))
        source = await sources.source({"kind": "mail", "connection": "inbox"}, "Inbox")
        assert report(source, "added", "failed", "complete") == [3, 0, True], source
        assert "Quokka" in (await sources.search(sources.base_id, "network"))[0]["text"]
        assert await sources.problems(source) == {}
        assert not any("Seen" in flags for flags in mail_server.flags())
        mail_server.add(message("Door", "The code is Zephyr."))
        source = await sources.sync(source)
        assert report(source, "added", "unchanged", "deleted") == [1, 3, 0]

    async def test_attachments_are_documents_of_their_own_and_go_with_the_message(
        self, sources: Sources, mail_server: ImapProcess, app: FastAPI
    ) -> None:
        fields = {"host": "127.0.0.1", "port": mail_server.port, "user": USER, "security": "none"}
        await sources.connect("inbox", "imap", fields, password=PASSWORD)
        mail = message("Trip", "See the tables.", "rates.csv")
        mail.add_attachment(b"city,allowance\nOslo,74\n", maintype="text", subtype="csv", filename="rates.csv")
        mail.add_attachment(b"ID3\x03", maintype="audio", subtype="mpeg", filename="note.mp3")
        mail_server.add(mail)
        source = await sources.source({"kind": "mail", "connection": "inbox"}, "Inbox")
        assert report(source, "added", "failed") == [3, 0], source
        documents = {document["name"]: document for document in await sources.documents()}
        parent_name = min(documents, key=len)
        assert sorted(documents) == [parent_name, f"{parent_name}/2 rates.csv", f"{parent_name}/rates.csv"]
        parent = documents.pop(parent_name)
        assert {document["parent_id"] for document in documents.values()} == {parent["id"]}
        assert parent["parent_id"] is None
        assert (await sources.search(sources.base_id, "Oslo"))[0]["document"] == f"{parent_name}/2 rates.csv"
        (reasons,) = (await sources.problems(source)).values()
        assert "'note.mp3' is audio/mpeg" in reasons[0]
        source = await sources.sync(source)
        assert report(source, "added", "changed", "unchanged") == [0, 0, 3]
        # Killed before the attachments were stored, the message is read again, and nothing else is.
        lost = documents[f"{parent_name}/rates.csv"]
        answer = await sources.client.delete(f"{API}/{sources.base_id}/documents/{lost['id']}")
        assert answer.status_code == 204
        source = await sources.sync(source)
        assert report(source, "added", "changed", "unchanged", "deleted") == [1, 0, 2, 0], source
        assert len(await sources.names()) == 3
        mail_server.empty()
        source = await sources.sync(source)
        assert (await sources.names(), report(source, "failed")) == ([], [0]), source
        async with app.state.database.reading() as session:
            assert (await session.execute(text("SELECT count(*) FROM files"))).scalar_one() == 0

    async def test_more_than_the_limit_are_reported_and_older_ones_stay(
        self, sources: Sources, mail_server: ImapProcess
    ) -> None:
        fields = {"host": "127.0.0.1", "port": mail_server.port, "user": USER, "security": "none"}
        await sources.connect("inbox", "imap", fields, password=PASSWORD)
        mail_server.add(message("One", "First."))
        source = await sources.source({"kind": "mail", "connection": "inbox", "most_messages": 1}, "Inbox")
        mail_server.add(message("Two", "Second."))
        source = await sources.sync(source)
        assert report(source, "added", "deleted", "complete") == [1, 0, False]
        assert len(await sources.names()) == 2
