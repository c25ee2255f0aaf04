"""Attachments of messages that are uploaded: documents of their own; over the API, on both databases."""

from email.message import EmailMessage
from typing import Any

import pytest
from fastapi import FastAPI
from sqlalchemy import text

from tests.integration.features.knowledge.conftest import API, Knowledge

CSV = b"city,allowance\nOslo,74\n"


def message(subject: str, body: str, **files: bytes | EmailMessage) -> EmailMessage:
    """A message with text files, named by their keywords, or messages."""
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ann <ann@example.org>", "bo@example.org, cy@example.org", subject
    mail.set_content(body)
    for name, content in files.items():
        if isinstance(content, bytes):
            mail.add_attachment(content, maintype="text", subtype="csv", filename=f"{name}.csv")
        else:
            mail.add_attachment(content, filename=f"{name}.eml")
    return mail


async def listed(knowledge: Knowledge, base: str) -> dict[str, dict[str, Any]]:
    """The documents of a base by name, once all are indexed, also those that indexing adds."""
    while True:
        answer = await knowledge.client.get(f"{API}/{base}/documents", params={"limit": 100})
        documents = {document["name"]: document for document in answer.json()["items"]}
        busy = [one["id"] for one in documents.values() if one["status"] not in {"ready", "failed"}]
        if not busy:
            return documents
        for document in busy:
            await knowledge.settled(base, document)


async def files_of(app: FastAPI) -> int:
    async with app.state.database.reading() as session:
        return int((await session.execute(text("SELECT count(*) FROM files"))).scalar_one())


class TestMessage:
    async def test_is_read_with_its_header_and_its_attachments_are_documents(
        self, knowledge: Knowledge, app: FastAPI
    ) -> None:
        base = await knowledge.base()
        mail = message("Trip", "See the Quokka table.", rates=CSV)
        mail.add_attachment(b"city\nRome\n", maintype="text", subtype="csv", filename="rates.csv")
        mail.add_attachment(b"ID3\x03", maintype="audio", subtype="mpeg", filename="note.mp3")
        rights = {"readers": {"role": "editor"}, "classification": 2}
        parent = await knowledge.add(base, "trip.eml", mail.as_bytes(), **rights)
        assert parent["notes"] == ["'note.mp3' is audio/mpeg; it has no text to read."]
        documents = await listed(knowledge, base)
        assert sorted(documents) == ["trip.eml", "trip.eml/2 rates.csv", "trip.eml/rates.csv"]
        for name in ("trip.eml/2 rates.csv", "trip.eml/rates.csv"):
            document = documents[name]
            assert (document["parent_id"], document["classification"]) == (parent["id"], 2)
            assert document["readers"] == parent["readers"]
        assert [hit["document"] for hit in await knowledge.search(base, "Oslo")] == ["trip.eml/rates.csv"]
        (passage,) = await knowledge.passages(base, parent["id"])
        assert "To: bo@example.org, cy@example.org" in passage["text"]
        assert "Oslo" not in passage["text"]
        assert (await knowledge.client.delete(f"{API}/{base}/documents/{parent['id']}")).status_code == 204
        assert await listed(knowledge, base) == {}
        assert await files_of(app) == 0

    async def test_in_its_next_version_has_other_attachments(self, knowledge: Knowledge, app: FastAPI) -> None:
        base = await knowledge.base()
        first = message("Trip", "First.", same=CSV, changed=b"a\n1\n", gone=b"b\n2\n")
        await knowledge.add(base, "trip.eml", first.as_bytes())
        before = await listed(knowledge, base)
        next_ = message("Trip", "Second.", same=CSV, changed=b"a\n3\n", new=b"c\n4\n")
        await knowledge.add(base, "trip.eml", next_.as_bytes())
        after = await listed(knowledge, base)
        versions = {name.rpartition("/")[2]: document["version"] for name, document in after.items()}
        assert versions == {"trip.eml": 2, "same.csv": 1, "changed.csv": 2, "new.csv": 1}
        assert after["trip.eml/changed.csv"]["id"] == before["trip.eml/changed.csv"]["id"]
        count = await files_of(app)
        assert count == 6
        again = await knowledge.client.post(f"{API}/{base}/documents/{after['trip.eml']['id']}/reindex")
        assert again.status_code < 300, again.text
        await listed(knowledge, base)
        assert await files_of(app) == count, "indexed again, nothing is stored twice"

    async def test_attached_to_a_message_has_its_own_attachments_down_to_a_depth(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        mail = message("Four", "Bottom.", data=CSV)
        for number in ("Three", "Two", "One"):
            mail = message(number, f"Level {number}.", inner=mail)
        await knowledge.add(base, "one.eml", mail.as_bytes())
        documents = await listed(knowledge, base)
        inner = "/inner.eml"
        assert sorted(documents) == ["one.eml", f"one.eml{inner}", f"one.eml{inner * 2}"]
        assert documents[f"one.eml{inner * 2}"]["notes"] == [
            "'inner.eml' is not read: it is attached to a message in a message in a message."
        ]
        (passage,) = await knowledge.passages(base, documents["one.eml"]["id"])
        assert "Level One." in passage["text"]
        assert "Level Two." not in passage["text"], "the text of an attached message is its own"

    async def test_with_many_attachments_has_the_first_ones(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        mail = message("Many", "Text.", **{f"part{number}": b"" for number in range(60)})
        document = await knowledge.add(base, "many.eml", mail.as_bytes())
        assert document["notes"][0] == "10 attachments beyond the first 50 are not read."
        assert "'part0.csv' is empty." in document["notes"]

    async def test_leaves_documents_of_others_alone(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        body = {"file_id": await knowledge.upload("mine.csv", "x\n1\n"), "name": "trip.eml/rates.csv"}
        added = await knowledge.client.post(f"{API}/{base}/documents", json=body)
        mine = await knowledge.settled(base, added.json()["id"])
        document = await knowledge.add(base, "trip.eml", message("Trip", "Text.", rates=CSV).as_bytes())
        assert "that is not of this message" in document["notes"][0]
        documents = await listed(knowledge, base)
        assert documents["trip.eml/rates.csv"] == mine

    @pytest.mark.parametrize("content", [b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * 50_000, b"\0"])
    async def test_that_is_damaged_fails_or_is_read_and_the_server_lives(
        self, knowledge: Knowledge, content: bytes
    ) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, "odd.eml", content)
        assert document["status"] in {"ready", "failed"}
        assert (await knowledge.add(base, "fine.txt", "All is well."))["status"] == "ready"

    async def test_of_outlook_is_refused_with_a_remedy(self, knowledge: Knowledge) -> None:
        document = await knowledge.add(await knowledge.base(), "trip.msg", b"\xd0\xcf\x11\xe0")
        assert document["status"] == "failed"
        assert "Save it as .eml." in document["problem"]


class TestRights:
    async def test_of_a_message_are_those_of_its_attachments_until_they_have_others(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        mail = message("Trip", "Text.", same=CSV, other=b"b\n2\n", inner=message("In", "Text.", deep=CSV))
        parent = await knowledge.add(base, "trip.eml", mail.as_bytes())
        documents = await listed(knowledge, base)

        async def change(name: str, **body: Any) -> None:
            answer = await knowledge.client.patch(f"{API}/{base}/documents/{documents[name]['id']}", json=body)
            assert answer.status_code == 200, answer.text

        await change("trip.eml/other.csv", classification=3)
        await change("trip.eml", readers={"role": "owner"}, classification=1, retention_days=5)
        documents = await listed(knowledge, base)
        levels = {name.rpartition("/")[2]: document["classification"] for name, document in documents.items()}
        assert levels == {"trip.eml": 1, "same.csv": 1, "inner.eml": 1, "deep.csv": 1, "other.csv": 3}
        assert documents["trip.eml/inner.eml/deep.csv"]["readers"]["role"] == "owner"
        assert documents["trip.eml/other.csv"]["readers"] == parent["readers"]
        assert documents["trip.eml/same.csv"]["retention_days"] is None
