"""Every kind of document, and documents that are not what they say."""

import io
import json
import zipfile

import pytest

from headgate.components.readers import document
from headgate.components.readers import mail as mail_reader
from headgate.components.readers import package as package_module
from headgate.components.readers import pdf as pdf_module
from headgate.components.readers.document import Unreadable
from headgate.components.readers.reading import kind_of, read_document
from headgate.sdk import ComponentError, Table
from tests.integration.features.knowledge.test_attachments import message
from tests.unit.components.readers.samples import docx, pdf


class TestPdf:
    def test_gives_text_and_pages(self) -> None:
        found = read_document(pdf("First page", "", "Last page", title="Plan"), name="a.pdf")
        assert found.text == "First page\n\nLast page"
        assert found.data == {"title": "Plan", "author": "", "pages": ["First page", "", "Last page"]}
        assert found.table is None

    def test_says_that_it_is_encrypted(self) -> None:
        with pytest.raises(Unreadable, match=r"'a\.pdf' is encrypted with a password"):
            read_document(pdf("Secret", password="open sesame"), name="a.pdf")

    def test_names_the_pages_without_text(self) -> None:
        assert read_document(pdf("", "b", ""), name="a.pdf").unread == (1, 3)

    @pytest.mark.parametrize("content", [b"%PDF-1.4\n", b"%PDF-1.7\n" + b"\xff" * 5000, pdf("cut")[:200]])
    def test_says_that_it_is_broken(self, content: bytes) -> None:
        with pytest.raises(Unreadable, match=r"not a readable PDF|no text"):
            read_document(content, name="a.pdf")

    def test_bounds_pages_and_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(pdf_module, "SECONDS", -1.0)
        with pytest.raises(Unreadable, match="stopped at page 1"):
            read_document(pdf("a"), name="a.pdf")
        monkeypatch.setattr(pdf_module, "MOST_PAGES", 1)
        with pytest.raises(Unreadable, match="2 pages; the limit is 1"):
            read_document(pdf("a", "b"), name="a.pdf")


class TestDocx:
    def test_gives_paragraphs_and_tables_in_order(self) -> None:
        found = read_document(docx(), name="a.docx")
        assert found.text == (
            "# Rapport\n\n## Läget\n\nAllt är bra.\n\n- ett\n- två\n\n"
            "| vad | antal |\n| --- | --- |\n| a\\|b | 3 |\n\nSlut."
        )
        assert found.table == Table(columns=["vad", "antal"], rows=[["a|b", "3"]])
        assert found.data == {"tables": [[{"vad": "a|b", "antal": "3"}]]}

    def test_refuses_a_zip_bomb_unopened(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(package_module, "MOST_UNPACKED", 1_000_000)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
            package.writestr("word/document.xml", b"0" * 2_000_000)
        assert len(stream.getvalue()) < 10_000
        with pytest.raises(Unreadable, match="unpacks to more than 1 MB"):
            read_document(stream.getvalue(), name="a.docx")

    @pytest.mark.parametrize("content", [b"PK\x03\x04broken", docx()[:500], b"plain"])
    def test_says_that_it_is_broken(self, content: bytes) -> None:
        with pytest.raises(Unreadable, match="not a Word document"):
            read_document(content, name="a.docx")

    def test_says_that_a_part_is_missing(self) -> None:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as package:
            package.writestr("[Content_Types].xml", "<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>")
        with pytest.raises(Unreadable, match="is not a readable Word document:"):
            read_document(stream.getvalue(), name="a.docx")


class TestText:
    @pytest.mark.parametrize(
        ("content", "text"),
        [
            ("Ärende".encode(), "Ärende"),
            ("Ärende".encode("utf-8-sig"), "Ärende"),
            ("Ärende".encode("utf-16"), "Ärende"),
            ("Ärende".encode("utf-32"), "Ärende"),
            ("Ärende – “x”".encode("cp1252"), "Ärende – “x”"),
            (b"\x81", "\ufffd"),
            (b"", ""),
        ],
    )
    def test_finds_the_encoding(self, content: bytes, text: str) -> None:
        assert read_document(content, name="a.md").text == text

    def test_refuses_what_is_no_text(self) -> None:
        with pytest.raises(Unreadable, match=r"'a\.bin' is not text"):
            read_document(b"\x7fELF\x00\x00\xff\xfe", name="a.bin")

    def test_bounds_the_size(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(document, "MOST_BYTES", 3)
        with pytest.raises(Unreadable, match="4 bytes; the limit is 3"):
            read_document(b"text", name="a.txt")


class TestJson:
    def test_gives_data_and_rows(self) -> None:
        found = read_document(json.dumps([{"a": 1}]).encode("utf-8-sig"), name="a.json")
        assert (found.data, found.table) == ([{"a": 1}], Table(columns=["a"], rows=[[1]]))
        assert read_document(b'{"a":1}\n{"a":2}\n', name="a.jsonl").data == [{"a": 1}, {"a": 2}]

    def test_names_the_file_that_is_not_json(self) -> None:
        with pytest.raises(ComponentError, match=r"'a\.json': the text is not JSON"):
            read_document(b"nope", name="a.json")


class TestHtml:
    def test_gives_markdown_title_and_links(self) -> None:
        content = b"<meta charset=windows-1252><title>T\xe4st</title><h1>Hej</h1><a href='https://a.test/'>l\xe4nk</a>"
        found = read_document(content, name="a.html")
        assert found.text == "# Hej\n\n[länk](https://a.test/)"
        assert found.data == {"title": "Täst", "links": [{"text": "länk", "url": "https://a.test/"}]}


class TestMail:
    def test_gives_header_and_text_and_names_the_attachments(self) -> None:
        mail = message("Trip", "See the table.", rates=b"a", inner=message("Inner", "Secret.", deep=b"b"))
        found = read_document(mail.as_bytes(), name="trip.eml")
        assert found.text.startswith("# Trip\n\nFrom: ann@example.org\nTo: bo@example.org, cy@example.org\n")
        assert found.text.endswith("See the table.\n")
        assert found.notes == ("Attachments that are not read: rates.csv, inner.eml.",)

    @pytest.mark.parametrize(
        "content",
        [
            b'Content-Type: text/plain; charset="\0"\r\n\r\nx',
            b"".join(b'Content-Type: multipart/mixed; boundary="%d"\r\n\r\n--%d\r\n' % (n, n) for n in range(3_000)),
        ],
        ids=["charset", "nested"],
    )
    def test_refuses_what_cannot_be_parsed(self, content: bytes) -> None:
        with pytest.raises(Unreadable, match=r"^a\.eml cannot be parsed: "):
            read_document(content, name="a.eml")

    def test_names_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(mail_reader, "is_installed", lambda _extra: False)
        with pytest.raises(Unreadable, match=r"'a\.eml' requires packages .*headgate\[mail\]"):
            read_document(b"Subject: a\n\nb", name="a.eml")


class TestKindOf:
    @pytest.mark.parametrize(
        ("content", "name", "media_type", "kind"),
        [
            (b"%PDF-1.7", "report", "", "pdf"),
            (b"a,b", "x.CSV", "", "csv"),
            (b"a", "x", "text/csv; charset=utf-8", "csv"),
            (b"<html>", "x", "text/html", "html"),
            (b"# x", "x.md", "text/markdown", "text"),
            (b"<svg/>", "x.svg", "image/svg+xml", "text"),
            (b"\x89PNG", "x.bin", "image/png", "image"),
            (b"II*\x00", "x.TIFF", "", "image"),
            (b"From: a@b", "x.eml", "", "mail"),
            (b"From: a@b", "forwarded", "message/rfc822", "mail"),
            (b"PK\x03\x04", "a.PPTX", "", "slides"),
            (b"PK\x03\x04", "book", "application/epub+zip", "epub"),
        ],
    )
    def test_goes_by_content_name_and_media_type(self, content: bytes, name: str, media_type: str, kind: str) -> None:
        assert kind_of(content, name, media_type) == kind

    @pytest.mark.parametrize(
        ("content", "name", "media_type", "words"),
        [
            (b"\xd0\xcf", "a.ppt", "", "an old presentation, which is not supported. Save it as .pptx."),
            (b"PK\x03\x04", "a.zip", "", "a zip archive"),
            (b"RIFF", "a.wav", "audio/wav", "no text to read"),
            (b"\xd0\xcf", "a.doc", "", "Save it as .docx"),
        ],
    )
    def test_says_what_has_no_reader(self, content: bytes, name: str, media_type: str, words: str) -> None:
        with pytest.raises(Unreadable) as caught:
            kind_of(content, name, media_type)
        assert words in str(caught.value)
