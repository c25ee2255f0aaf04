"""Presentations, OpenDocument texts and books, as programs write them and as attackers do."""

import io
import zipfile
from typing import cast

import pytest

from headgate.components.readers.document import Document, Unreadable
from headgate.components.readers.reading import read_document
from headgate.sdk import Table

OPEN = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{long}:1.0"'
    for name, long in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("pr", "presentation"),
    )
)  # fmt: skip
SLIDE = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def package(parts: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in parts.items():
            archive.writestr(path, text)
    return stream.getvalue()


def relations(*pairs: tuple[str, str, str]) -> str:
    inner = "".join(f'<Relationship Id="{id_}" Type="{RELATION}/{kind}" Target="{to}"/>' for id_, kind, to in pairs)
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'
    )


def shape(text: str, kind: str = "") -> str:
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return f'<p:sp><p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr><p:txBody>{paragraphs}</p:txBody></p:sp>'


TABLE = (
    "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>City</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>Rate</a:t></a:r>"
    "</a:p></a:tc></a:tr><a:tr><a:tc><a:p><a:r><a:t>Lisbon</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>61</a:t></a:r>"
    "</a:p></a:tc></a:tr></a:tbl></p:graphicFrame>"
)


def slide(*shapes: str) -> str:
    return f"<p:sld {SLIDE}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def deck() -> dict[str, str]:
    listed = '<p:sldIdLst><p:sldId id="1" r:id="r2"/><p:sldId id="2" r:id="r1"/></p:sldIdLst>'
    group = f"<p:grpSp>{shape('In a group')}</p:grpSp>"
    return {
        "ppt/presentation.xml": f"<p:presentation {SLIDE}>{listed}</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            ("r1", "slide", "slides/slide1.xml"), ("r2", "slide", "/ppt/slides/slide2.xml")
        ),
        "ppt/slides/slide1.xml": slide(shape("Last", "title"), TABLE, "<p:pic/>"),
        "ppt/slides/slide2.xml": slide(
            shape("Travel\nrules", "ctrTitle"), shape("Book early\nFly economy", "body"), group
        ),
        "ppt/slides/_rels/slide2.xml.rels": relations(("n", "notesSlide", "../notesSlides/notesSlide1.xml")),
        "ppt/notesSlides/notesSlide1.xml": slide(shape("7", "sldNum"), shape("Mention the exception.", "body")),
    }


def open_document(body: str) -> bytes:
    content = f"<office:document-content {OPEN}><office:body>{body}</office:body></office:document-content>"
    return package({"mimetype": "", "content.xml": content})


def read(content: bytes, name: str) -> Document:
    return read_document(content, name=name)


class TestPresentations:
    def test_are_read_slide_by_slide_in_the_order_of_the_show(self) -> None:
        document = read(package(deck()), "a.pptx")
        first, last = cast("dict[str, list[str]]", document.data)["pages"]
        assert first == "## Travel rules\n\n- Book early\n- Fly economy\n\nIn a group\n\nNotes: Mention the exception."
        assert last.startswith("## Last\n\n| City | Rate |")
        assert document.table == Table(columns=["City", "Rate"], rows=[["Lisbon", "61"]])
        assert document.notes == ("Pictures and charts that are not read: 1.",)

    def test_of_open_document_too(self) -> None:
        title = '<draw:frame pr:class="title"><draw:text-box><text:p>Plan</text:p></draw:text-box></draw:frame>'
        items = "<text:list><text:list-item><text:p>One</text:p></text:list-item></text:list>"
        more = f"<draw:frame><draw:text-box>{items}</draw:text-box></draw:frame>"
        notes = "<pr:notes><text:p>Unseen</text:p></pr:notes>"
        body = f"<office:presentation><draw:page>{title}{more}{notes}</draw:page><draw:page/></office:presentation>"
        assert read(open_document(body), "a.odp").data == {"pages": ["## Plan\n\n- One", ""]}


class TestOpenDocumentTexts:
    def test_have_headings_lists_and_tables(self) -> None:
        cell = "<table:table-cell><text:p>{}</text:p></table:table-cell>"
        row = (
            f"<table:table-row>{cell}{cell}<table:table-cell table:number-columns-repeated='16000'/></table:table-row>"
        )
        body = (
            '<text:h text:outline-level="2">Leave</text:h>'
            '<text:p>Five<text:s text:c="2"/>weeks<text:line-break/>a <text:span>year</text:span>.</text:p>'
            "<text:list><text:list-item><text:p>One</text:p></text:list-item>"
            "<text:list-item><text:p>Two</text:p></text:list-item></text:list>"
            f"<table:table>{row.format('City', 'Rate')}{row.format('Oslo', '70')}</table:table>"
        )
        document = read(open_document(f"<office:text>{body}</office:text>"), "a.odt")
        assert document.text.startswith("## Leave\n\nFive  weeks\na year.\n\n- One\n- Two\n\n| City | Rate |")
        assert document.table == Table(columns=["City", "Rate"], rows=[["Oslo", "70"]])

    def test_lack_deleted_text_and_comments(self) -> None:
        body = (
            "<text:tracked-changes><text:changed-region><text:deletion><text:p>SECRET</text:p></text:deletion>"
            "</text:changed-region></text:tracked-changes>"
            "<text:p>Kept<office:annotation><text:p>SECRET</text:p></office:annotation> text"
            "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p>"
            "</text:note-body></text:note></text:p>"
        )
        assert read(open_document(f"<office:text>{body}</office:text>"), "a.odt").text == "Kept text A note."

    def test_say_which_pictures_are_not_read(self) -> None:
        body = "<office:text><text:p>A<draw:frame><draw:image/></draw:frame></text:p></office:text>"
        assert read(open_document(body), "a.odt").notes == ("Pictures and charts that are not read: 1.",)


def book(**more: str) -> bytes:
    item = '<item id="{0}" href="{1}" media-type="application/xhtml+xml"/>'
    listing = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>Rules</dc:title></metadata><manifest>{item.format('a', 'b.xhtml')}{item.format('b', 'a%20a.xhtml')}"
        f"{item.format('c', 'gone.xhtml')}</manifest>"
        '<spine><itemref idref="b"/><itemref idref="a"/><itemref idref="c"/></spine></package>'
    )
    start = "<?xml version='1.0' encoding='utf-8'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>"
    page = f"{start}<body><h1>{{0}}</h1><p>Å {{0}}.</p></body></html>"
    return package(
        {
            "META-INF/container.xml": '<c><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></c>',
            "OPS/book.opf": listing,
            "OPS/a a.xhtml": page.format("First"),
            "OPS/b.xhtml": page.format("Second"),
        }
        | more
    )


class TestBooks:
    def test_are_read_in_the_order_of_their_spine(self) -> None:
        document = read(book(), "a.epub")
        assert document.text == "# First\n\nÅ First.\n\n# Second\n\nÅ Second."
        assert document.data == {"title": "Rules"}
        assert document.notes == ("1 chapters are listed and missing.",)

    def test_that_are_protected_are_refused(self) -> None:
        locked = "<e xmlns='http://www.w3.org/2001/04/xmlenc#'><CipherReference URI='OPS/b.xhtml'/></e>"
        with pytest.raises(Unreadable, match="protected"):
            read(book(**{"META-INF/encryption.xml": locked}), "a.epub")


ENTITY = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
HOSTILE = {
    "no package": (b"PK\x03\x04 no", "a.pptx"),
    "no parts": (package({"x": ""}), "a.pptx"),
    "another kind": (package({"content.xml": "<a/>"}), "a.odt"),
    "no content": (package({"content.xml": ""}), "a.odp"),
    "an entity": (package({"content.xml": f"{ENTITY}<x>&a;</x>"}), "a.odt"),
    "a slide that is missing": (package({k: v for k, v in deck().items() if "slide1" not in k}), "a.pptx"),
    "a path out of the book": (
        package({"META-INF/container.xml": '<c><rootfile full-path="../../etc/passwd"/></c>'}),
        "a.epub",
    ),
    "a bomb": (package({"content.xml": "0" * 201_000_000}), "a.odt"),
    "deep nesting": (package({"content.xml": "<a>" * 5_000}), "a.odt"),
    "a damaged part": (book(), "a.epub"),
}


class TestHostileFiles:
    @pytest.mark.parametrize("attack", HOSTILE)
    def test_are_refused_with_the_reason(self, attack: str) -> None:
        content, name = HOSTILE[attack]
        if attack == "a damaged part":
            at = content.index(b"OPS/b.xhtml") + 30
            content = content[:at] + bytes(20) + content[at + 20 :]
        with pytest.raises(Unreadable) as caught:
            read(content, name)
        assert name in str(caught.value)

    def test_repetitions_are_bounded(self) -> None:
        cell = '<table:table-cell table:number-columns-repeated="999999999999"><text:p>x</text:p></table:table-cell>'
        many = '<table:table-cell table:number-columns-repeated="9999999"><text:p>x</text:p></table:table-cell>'
        body = f"<office:text><table:table><table:table-row>{cell}{many}</table:table-row></table:table></office:text>"
        table = read(open_document(body), "a.odt").table
        assert table is not None
        assert len(table.columns) == 1_000
