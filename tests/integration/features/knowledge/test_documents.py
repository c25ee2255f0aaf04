"""Documents of a knowledge base over the API: read in the sandbox, indexed, searched, replaced and deleted."""

import asyncio
import hashlib
import io
from pathlib import Path
from typing import Any

import docx
import pypandoc  # type: ignore[import-untyped]
import pytest
from fastapi import FastAPI
from PIL import Image

from headgate.components.isolated import recognition
from headgate.features.knowledge.documents import page_pictures
from headgate.features.knowledge.passages import extraction
from headgate.foundation import extras
from tests.integration.features.knowledge.conftest import API, HANDBOOK, Knowledge
from tests.support.pdfs import pdf_of
from tests.support.pictures_of_text import ENGLISH, SWEDISH, picture, require_recognition, scan


class TestReading:
    async def test_makes_passages_with_headings_offsets_and_hashes(self, knowledge: Knowledge) -> None:
        base = await knowledge.base(passage_tokens=50, overlap_tokens=0)
        document = await knowledge.add(base, "handbook.md", HANDBOOK)
        assert (document["status"], document["version"], document["language"]) == ("ready", 1, "en")
        assert document["sha256"] == hashlib.sha256(HANDBOOK.encode()).hexdigest()
        passages = await knowledge.passages(base, document["id"])
        assert "".join(HANDBOOK[one["core"] : one["end"]] for one in passages) == HANDBOOK
        assert all(one["text"] == HANDBOOK[one["start"] : one["end"]] for one in passages)
        assert all(one["sha256"] == hashlib.sha256(one["text"].encode()).hexdigest() for one in passages)
        assert any("Handbook › Travel" in one["context"] for one in passages)

    async def test_keeps_the_page_numbers_of_a_pdf(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        document = await knowledge.add(
            base, "rules.pdf", pdf_of(["Opening hours are 8 to 17.", "", "Parking costs 5 EUR."])
        )
        assert (document["status"], document["pages"]) == ("ready", 3)
        assert [hit["page"] for hit in await knowledge.search(base, "parking")] == [3]

    async def test_keeps_where_passages_of_a_pdf_are_and_draws_its_pages(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        hours = pdf_of(["Opening hours are 8 to 17.", "Parking costs 5 EUR."])
        document = await knowledge.add(base, "rules.pdf", hours)
        address = f"{API}/{base}/documents/{document['id']}"
        passages = await knowledge.passages(base, document["id"])
        assert [(one["page"], one["marks"]["width"], len(one["marks"]["boxes"])) for one in passages] == [
            (1, 612, 1), (2, 612, 1),
        ]  # fmt: skip
        of_page = await knowledge.client.get(f"{address}/passages", params={"page": 2})
        assert [one["text"] for one in of_page.json()] == ["Parking costs 5 EUR."]
        drawn = await knowledge.client.get(f"{address}/pages/2", params={"version": 1})
        assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/webp")
        assert Image.open(io.BytesIO(drawn.content)).size == (1224, 1584)
        known = {"if-none-match": drawn.headers["etag"]}
        assert (await knowledge.client.get(f"{address}/pages/2", headers=known)).status_code == 304
        # the same passages at other places
        lower = hours.replace(b"72 720 Td", b"72 700 Td")
        await knowledge.add(base, "rules.pdf", lower)
        moved = await knowledge.passages(base, document["id"])
        tops = [one["marks"]["boxes"][0]["top"] for one in (*passages, *moved)]
        assert tops[2:] == pytest.approx([top + 20 for top in tops[:2]])
        assert drawn.content == (await knowledge.client.get(f"{address}/pages/2?version=1")).content
        assert drawn.content != (await knowledge.client.get(f"{address}/pages/2")).content

    @pytest.mark.parametrize("name", ["letter.pdf", "letter.png"])
    async def test_keeps_where_passages_of_a_scan_are(self, knowledge: Knowledge, name: str) -> None:
        require_recognition()
        base = await knowledge.base()
        content = scan(ENGLISH) if name.endswith(".pdf") else picture(*ENGLISH)
        document = await knowledge.add(base, name, content)
        (passage,) = await knowledge.passages(base, document["id"])
        drawn = await knowledge.client.get(f"{API}/{base}/documents/{document['id']}/pages/1")
        assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/webp")
        page = Image.open(io.BytesIO(drawn.content)).convert("L")
        marks = passage["marks"]
        share = page.width / marks["width"]
        assert marks["height"] * share == pytest.approx(page.height, abs=2)
        assert len(marks["boxes"]) == len(ENGLISH), "one for each line"
        for box in marks["boxes"]:
            sides = tuple(round(box[side] * share) for side in ("left", "top", "right", "bottom"))
            assert sum(page.crop(sides).histogram()[:100]), "there is ink"
            page.paste(255, (sides[0] - 4, sides[1] - 4, sides[2] + 4, sides[3] + 4))
        assert not sum(page.histogram()[:150]), "there is none anywhere else"

    async def test_says_why_a_page_has_no_picture(self, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
        base = await knowledge.base()
        text = await knowledge.add(base, "rules.md", HANDBOOK)
        document = await knowledge.add(base, "rules.pdf", pdf_of(["Opening hours are 8 to 17."]))
        pages = f"{API}/{base}/documents/{document['id']}/pages"
        refused = await knowledge.client.get(pages.replace(document["id"], text["id"]) + "/1")
        assert (refused.status_code, refused.json()["code"]) == (422, "no_knowledge_picture")
        absent = await knowledge.client.get(f"{pages}/2")
        assert (absent.status_code, absent.json()["code"]) == (422, "unreadable_document")
        assert "Page 2 of 'rules.pdf' cannot be drawn" in absent.json()["detail"]
        for module in (extras, extraction):
            monkeypatch.setattr(module, "is_installed", lambda _extra: False)
        plain = await knowledge.add(base, "plain.pdf", pdf_of(["Opening hours are 8 to 17."]))
        assert [one["marks"] for one in await knowledge.passages(base, plain["id"])] == [None]
        missing = await knowledge.client.get(f"{pages}/1")
        assert (missing.status_code, missing.json()["code"]) == (422, "extra_not_installed")

    async def test_keeps_the_latest_pictures_up_to_a_size(
        self, knowledge: Knowledge, app: FastAPI, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, "rules.pdf", pdf_of(["First.", "Second.", "Third."]))
        pages = f"{API}/{base}/documents/{document['id']}/pages"
        first = await knowledge.client.get(f"{pages}/1")
        monkeypatch.setattr(page_pictures, "MOST_CACHED_BYTES", 2.5 * len(first.content))
        for page in (2, 1, 3):
            assert (await knowledge.client.get(f"{pages}/{page}")).status_code == 200
        assert [page for _, page in app.state.pictures.recent] == [1, 3]

    async def test_reads_scans_and_pictures_and_says_how_reliably(self, knowledge: Knowledge) -> None:
        require_recognition()
        base = await knowledge.base()
        document = await knowledge.add(base, "scan.pdf", scan(ENGLISH, SWEDISH))
        assert (document["status"], document["pages"]) == ("ready", 2)
        assert document["notes"][0].startswith("Pages 1, 2 read by text recognition (OCR): confidence ")
        assert [hit["page"] for hit in await knowledge.search(base, "köparen")] == [2]
        letter = await knowledge.add(base, "letter.jpg", picture("The vault opens at noon.", kind="JPEG"))
        assert letter["status"] == "ready"
        assert [hit["document"] for hit in await knowledge.search(base, "vault")] == ["letter.jpg"]

    async def test_names_the_pages_that_it_cannot_read_and_what_to_install(
        self, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(recognition, "is_installed", lambda _extra: False)
        base = await knowledge.base()
        document = await knowledge.add(base, "rules.pdf", pdf_of(["Opening hours are 8 to 17.", ""]))
        assert document["status"] == "ready"
        assert " ".join(document["notes"]) == (
            "Page 2 without text, probably scanned, not read. Text recognition (OCR) is not installed. "
            "Install it with: pip install 'headgate[ocr]'"
        )
        failed = await knowledge.add(base, "letter.png", picture(*ENGLISH))
        assert failed["status"] == "failed"
        assert "pip install 'headgate[ocr]'" in failed["problem"]

    async def test_reads_word_html_csv_and_text(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        word = docx.Document()
        word.add_heading("Pension", 1)
        word.add_paragraph("The pension plan is called Zephyr.")
        stream = io.BytesIO()
        word.save(stream)
        await knowledge.add(base, "plan.docx", stream.getvalue())
        await knowledge.add(base, "page.html", "<html><body><h1>Wifi</h1><p>The network is Quokka.</p></body></html>")
        await knowledge.add(base, "cities.csv", "city,allowance\nLisbon,68\nOslo,74\n")
        await knowledge.add(base, "note.txt", "The door code is in the safe.")
        for query, name in (
            ("zephyr", "plan.docx"), ("quokka", "page.html"), ("oslo", "cities.csv"), ("door", "note.txt"),
        ):  # fmt: skip
            assert [hit["document"] for hit in await knowledge.search(base, query)] == [name]

    @pytest.mark.parametrize(("form", "page"), [("pptx", 2), ("odt", None), ("epub", None)])
    async def test_reads_presentations_open_documents_and_books(
        self, knowledge: Knowledge, tmp_path: Path, form: str, page: int | None
    ) -> None:
        text = "# Travel\n\nBook early.\n\n# Leave\n\nThere are five weeks of leave.\n"
        made = tmp_path / f"a.{form}"
        await asyncio.to_thread(pypandoc.convert_text, text, form, format="markdown", outputfile=str(made))
        base = await knowledge.base(passage_tokens=50, overlap_tokens=0)
        document = await knowledge.add(base, made.name, made.read_bytes())
        assert (document["status"], document["notes"]) == ("ready", []), document["problem"]
        (hit, *_) = await knowledge.search(base, "weeks of leave")
        assert "five weeks" in hit["text"]
        assert hit["page"] == page

    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("broken.pdf", b"%PDF-1.7 nothing", "is not a readable PDF"),
            ("bomb.docx", b"PK\x03\x04 nothing", "is not a Word document"),
            ("sheet.xlsx", b"PK\x03\x04", "is not a spreadsheet"),
            ("picture.bin", b"\x00\x01\x02\x00" * 50, "is not text"),
        ],
    )
    async def test_says_why_a_file_cannot_be_read(
        self, knowledge: Knowledge, name: str, content: bytes, reason: str
    ) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, name, content)
        assert document["status"] == "failed"
        assert reason in document["problem"]
        assert (await knowledge.client.get(f"{API}/{base}")).json()["failed"] == 1

    async def test_says_that_a_document_has_no_text(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        assert (await knowledge.add(base, "empty.txt", " \n "))["notes"] == ["The document has no text."]


class TestDownload:
    async def test_sends_the_file_as_an_attachment_that_runs_nothing(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, "page.html", "<p>one</p>")
        await knowledge.add(base, "page.html", "<p>two</p>")
        address = f"{API}/{base}/documents/{document['id']}/content"
        sent = await knowledge.client.get(address)
        assert (sent.status_code, sent.text) == (200, "<p>two</p>")
        assert sent.headers["content-disposition"].startswith("attachment")
        assert "sandbox" in sent.headers["content-security-policy"]
        assert (await knowledge.client.get(address, params={"version": 1})).text == "<p>one</p>"
        assert (await knowledge.client.get(address, params={"version": 9})).status_code == 404


class TestSearch:
    async def test_ranks_the_passage_with_the_rare_terms_first_and_explains(self, knowledge: Knowledge) -> None:
        base = await knowledge.base(passage_tokens=50, overlap_tokens=0)
        await knowledge.add(base, "handbook.md", HANDBOOK)
        await knowledge.add(base, "noise.txt", "The year of the travel allowance is each year the same. " * 30)
        hits = await knowledge.search(base, "What is the daily allowance in Lisbon?")
        assert hits[0]["document"] == "handbook.md"
        assert (hits[0]["lexical_rank"], hits[0]["score"], hits[0]["vector_rank"]) == (1, 1.0, None)
        assert {"allowance", "lisbon"} <= set(hits[0]["matched"])
        assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)

    async def test_answers_queries_in_scripts_without_spaces(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        await knowledge.add(base, "請求書.txt", "請求書の支払い期限は三十日です。")
        await knowledge.add(base, "休暇.txt", "有給休暇は年に二十日です。")
        assert [hit["document"] for hit in await knowledge.search(base, "支払")] == ["請求書.txt"]
        assert [hit["document"] for hit in await knowledge.search(base, "休暇")] == ["休暇.txt"]

    async def test_keeps_within_the_budget(self, knowledge: Knowledge) -> None:
        base = await knowledge.base(passage_tokens=50, overlap_tokens=0)
        text = "\n\n".join(
            f"Rule {number} says that parking place {number} is reserved for guests." * 4 for number in range(40)
        )
        await knowledge.add(base, "rules.txt", text)
        hits = await knowledge.search(base, "parking guests", limit=20, max_tokens=150)
        assert 1 < len(hits) < 5
        assert sum(hit["tokens"] for hit in hits) <= 150
        assert len(await knowledge.search(base, "parking guests", limit=3, max_tokens=5000)) == 3

    @pytest.mark.parametrize(
        "query",
        [
            '"',
            "' OR 1=1 --",
            "terms : x",
            "NEAR(a b)",
            "*",
            "a AND NOT b",
            "^x",
            "{base_id} : y",
            "\\",
            "!!",
            "&|():*<->'",
        ],
    )
    async def test_takes_any_text_as_words(self, knowledge: Knowledge, query: str) -> None:
        base = await knowledge.base()
        await knowledge.add(base, "handbook.md", HANDBOOK)
        assert isinstance(await knowledge.search(base, query), list)

    async def test_of_one_base_gives_nothing_of_another(self, knowledge: Knowledge) -> None:
        first, second = await knowledge.base("First"), await knowledge.base("Second")
        await knowledge.add(first, "handbook.md", HANDBOOK)
        assert await knowledge.search(second, "holiday") == []
        assert len(await knowledge.search(first, "holiday")) == 1


class TestVersions:
    async def test_of_a_name_index_only_changed_passages(self, knowledge: Knowledge) -> None:
        base = await knowledge.base(passage_tokens=60, overlap_tokens=0)
        parts = [f"# Part {number}\n\n" + f"Sentence about topic{number} and its rules. " * 8 for number in range(20)]
        first = await knowledge.add(base, "doc.md", "\n\n".join(parts))
        assert first["passages_added"] == first["passages"] >= 20
        parts[7] = "# Part 7\n\n" + "Sentence about the walrus and its rules. " * 8
        second = await knowledge.add(base, "doc.md", "\n\n".join(parts))
        assert (second["id"], second["version"]) == (first["id"], 2)
        assert 0 < second["passages_added"] <= 4
        assert await knowledge.search(base, "topic7") == []
        hits = await knowledge.search(base, "walrus")
        assert {(hit["version"], hit["document_sha256"]) for hit in hits} == {(2, second["sha256"])}
        assert all(one["version"] == 2 for one in await knowledge.passages(base, first["id"]))

    async def test_are_not_made_of_a_content_that_the_document_has(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        first = await knowledge.add(base, "handbook.md", HANDBOOK)
        upload = await knowledge.upload("handbook.md", HANDBOOK)
        for _ in range(2):  # with another upload, and with the one that the document has
            again = await knowledge.client.post(f"{API}/{base}/documents", json={"file_id": upload})
            assert (again.status_code, again.json()) == (201, first)
            assert (await knowledge.client.get(f"/api/v1/files/{upload}")).status_code == (
                200 if upload == first["file_id"] else 404
            )
            upload = first["file_id"]
        other = await knowledge.add(base, "handbook.md", HANDBOOK, language="sv")
        assert (other["version"], other["language"], other["status"]) == (1, "sv", "ready")

    async def test_that_failed_are_indexed_again_when_they_are_added_again(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        first = await knowledge.add(base, "broken.pdf", b"%PDF-1.7 nothing")
        again = await knowledge.client.post(
            f"{API}/{base}/documents", json={"file_id": await knowledge.upload("broken.pdf", b"%PDF-1.7 nothing")}
        )
        assert (again.json()["id"], again.json()["version"], again.json()["status"]) == (first["id"], 1, "pending")

    async def test_are_indexed_again_with_another_passage_size(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, "handbook.md", HANDBOOK * 30)
        await knowledge.client.patch(f"{API}/{base}", json={"passage_tokens": 50})
        again = await knowledge.client.post(f"{API}/{base}/documents/{document['id']}/reindex")
        assert again.json()["status"] in {"pending", "indexing"}
        assert (await knowledge.settled(base, document["id"]))["passages"] > document["passages"]


class TestDeletion:
    async def test_of_a_document_deletes_passages_versions_and_files(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, "handbook.md", HANDBOOK)
        gone = await knowledge.client.delete(f"{API}/{base}/documents/{document['id']}")
        assert gone.status_code == 204
        assert await knowledge.search(base, "holiday") == []
        assert (await knowledge.client.get(f"/api/v1/files/{document['file_id']}")).status_code == 404
        assert (await knowledge.client.get(f"{API}/{base}/documents/{document['id']}")).status_code == 404

    async def test_of_a_base_deletes_its_documents(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        document = await knowledge.add(base, "handbook.md", HANDBOOK)
        assert (await knowledge.client.delete(f"{API}/{base}")).status_code == 204
        assert (await knowledge.client.get(f"/api/v1/files/{document['file_id']}")).status_code == 404
        assert (await knowledge.client.get(API)).json()["items"] == []


class TestVerifying:
    async def test_shows_that_the_cited_text_is_in_the_document_of_that_checksum(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        await knowledge.add(base, "rules.pdf", pdf_of(["Opening hours are 8 to 17.", "Parking costs 5 EUR."]))
        hits = await knowledge.search(base, "parking")
        assert (await verified(knowledge, hits))["verified"] is True
        for change in ({"sha256": "0" * 64}, {"document_sha256": "0" * 64}, {"start": hits[0]["start"] + 1}):
            answer = await verified(knowledge, [hits[0] | change])
            assert answer["verified"] is False
            assert answer["citations"][0]["reason"]

    async def test_still_works_for_an_older_version(self, knowledge: Knowledge) -> None:
        base = await knowledge.base()
        await knowledge.add(base, "a.txt", "The code is blue.")
        hits = await knowledge.search(base, "code")
        await knowledge.add(base, "a.txt", "The code is red.")
        assert (await verified(knowledge, hits))["verified"] is True

    async def test_a_passage_with_its_neighbours_is_one_citation(self, knowledge: Knowledge) -> None:
        base = await knowledge.base(passage_tokens=50, overlap_tokens=10)
        text = "\n\n".join(
            f"Rule {number}: subject{number} is decided by the board of part {number}." for number in range(40)
        )
        await knowledge.add(base, "rules.txt", text)
        (alone,) = await knowledge.search(base, "subject20")
        answer = await knowledge.client.post(
            f"{API}/{base}/search", json={"query": "subject20", "neighbours": 1, "diversity": 0.3}
        )
        (wide,) = answer.json()["hits"]
        assert wide["start"] < alone["start"]
        assert alone["end"] < wide["end"]
        assert wide["text"] == text[wide["start"] : wide["end"]]
        assert (await verified(knowledge, [wide]))["verified"] is True

    async def test_reads_the_file_of_each_version_once_and_of_few_documents(
        self, knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        base, reads = await knowledge.base(), list[str]()

        async def extract(*arguments: Any, name: str, **more: Any) -> Any:
            reads.append(name)
            return await extraction.extract(*arguments, name=name, **more)

        for name in ("a.txt", "b.txt"):
            await knowledge.add(base, name, f"The code of {name} is blue.")
        hits = await knowledge.search(base, "code")
        monkeypatch.setattr("headgate.features.knowledge.documents.verifying.extract", extract)
        answer = await verified(knowledge, [*hits, hits[0] | {"sha256": "0" * 64}, hits[1], hits[0]])
        assert [one["verified"] for one in answer["citations"]] == [True, True, False, True, True]
        assert [one["document_id"] for one in answer["citations"]][:2] == [hit["document_id"] for hit in hits]
        assert sorted(reads) == ["a.txt", "b.txt"]
        many = [hits[0] | {"version": number} for number in range(1, 22)]
        refused = await knowledge.client.post(f"{API}/verify", json={"citations": many})
        assert refused.status_code == 422
        assert "more than 20 documents" in refused.text
        assert (await verified(knowledge, many[:20]))["verified"] is False


async def verified(knowledge: Knowledge, hits: list[dict[str, Any]]) -> dict[str, Any]:
    answer = await knowledge.client.post(f"{API}/verify", json={"citations": hits})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result
