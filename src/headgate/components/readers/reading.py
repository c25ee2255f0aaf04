"""Selects a document's reader by content, not only by name."""

from collections.abc import Callable
from pathlib import PurePosixPath

from pydantic import JsonValue

from headgate.components.data.json_text import parse_json
from headgate.components.readers import office
from headgate.components.readers.charset import declared_in_markup, decoded
from headgate.components.readers.code import LANGUAGES
from headgate.components.readers.delimited import read_delimited
from headgate.components.readers.document import Document, Unreadable, bounded, require_size
from headgate.components.readers.docx import read_docx
from headgate.components.readers.image import read_picture
from headgate.components.readers.mail import MESSAGE, read_mail
from headgate.components.readers.markup import read_html
from headgate.components.readers.pdf import read_pdf
from headgate.components.readers.spreadsheet import SHEET_MEDIA_TYPES, read_workbook
from headgate.sdk import Table
from headgate.sdk.coerce import data_of, markdown_table, text_of

_BY_SUFFIX = {
    ".pdf": "pdf", ".docx": "docx", ".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".eml": "mail", ".html": "html", ".htm": "html", ".xhtml": "html",
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"), "image"),
    ".xlsx": "sheet", ".xlsm": "sheet", ".xlsb": "sheet", ".xls": "sheet", ".ods": "sheet",
    **office.SUFFIXES,
}  # fmt: skip
_BY_MEDIA_TYPE = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    "application/json": "json",
    "application/x-ndjson": "json",
    "text/html": "html",
    "application/xhtml+xml": "html",
    MESSAGE: "mail",
    **dict.fromkeys(SHEET_MEDIA_TYPES, "sheet"),
    **office.MEDIA_TYPES,
}
_PACKAGES = {"docx", "sheet", *office.READERS}
_REFUSED = {
    ".msg": ("a message of Outlook", "Save it as .eml."),
    ".doc": ("an old Word document", "Save it as .docx."),
    ".rtf": ("rich text", "Save it as .docx."),
    ".ppt": ("an old presentation", "Save it as .pptx."),
}


def read_document(content: bytes, *, name: str, media_type: str = "", delimiter: str = "") -> Document:
    """Return text, data and table of a document: PDF, Word, PowerPoint, Excel, OpenDocument, EPUB, HTML, text, ...

    Of an image all pages are unread: text recognition is a separate call.

    Raises `Unreadable` (or `ComponentError` for JSON) with the reason.
    """
    require_size(content, name)
    return _READERS[kind_of(content, name, media_type)](content, name, delimiter)


def kind_of(content: bytes, name: str, media_type: str = "") -> str:
    """Return the name of a reader, such as `pdf` or `text`. Raises `Unreadable` when there is none."""
    suffix = PurePosixPath(name.lower()).suffix
    media = media_type.partition(";")[0].strip().lower()
    if suffix in _REFUSED:
        description, remedy = _REFUSED[suffix]
        raise Unreadable(f"'{name}' is {description}, which is not supported.", remedy=remedy)
    if content[:1024].lstrip().startswith(b"%PDF-"):
        return "pdf"
    if media.startswith("image/") and "xml" not in media:
        return "image"
    if media.partition("/")[0] in {"audio", "video"} and suffix not in LANGUAGES:  # .ts is also a kind of video
        raise Unreadable(
            f"'{name}' is {media}; it has no text to read.", remedy=("Pass it to a model that accepts files.")
        )
    kind = _BY_SUFFIX.get(suffix) or _BY_MEDIA_TYPE.get(media, "text")
    if content.startswith(b"PK\x03\x04") and kind not in _PACKAGES:
        raise Unreadable(
            f"'{name}' is a zip archive.", remedy="Extract it with ExtractArchive, or correct the extension."
        )
    return kind


def read_text(content: bytes, name: str) -> str:
    """Return the text of a document of the kind `text`. Raises `Unreadable`."""
    require_size(content, name)
    return bounded(decoded(content, name=name), name)


def _text(content: bytes, name: str, _delimiter: str) -> Document:
    text = read_text(content, name)
    return Document(text, {"name": name, "size": len(content), "characters": len(text)})


def _html(content: bytes, name: str, _delimiter: str) -> Document:
    page = read_html(decoded(content, name=name, declared=declared_in_markup(content)), main_only=False)
    links: list[JsonValue] = [data_of(dict(link)) for link in page.links]
    return Document(page.markdown, {"title": page.title, "links": links})


def _csv(content: bytes, name: str, delimiter: str) -> Document:
    separator = "\t" if name.lower().endswith(".tsv") and not delimiter else delimiter
    table = read_delimited(bounded(decoded(content, name=name), name), name=name, delimiter=separator)
    return Document(markdown_table(table), data_of(table), table)


def _json(content: bytes, name: str, _delimiter: str) -> Document:
    data = parse_json(decoded(content, name=name), subject=f"'{name}'")
    rows = data if isinstance(data, list) else []
    records = [row for row in rows if isinstance(row, dict)]
    table = Table.from_records(records) if records and len(records) == len(rows) else None
    return Document(text_of(data), data, table)


_READERS: dict[str, Callable[[bytes, str, str], Document]] = {
    "pdf": lambda content, name, _: read_pdf(content, name=name),
    "docx": lambda content, name, _: read_docx(content, name=name),
    "sheet": lambda content, name, _: read_workbook(content, name=name),
    "image": lambda content, name, _: read_picture(content, name=name),
    "mail": lambda content, name, _: read_mail(content, name=name),
    "csv": _csv,
    "json": _json,
    "html": _html,
    "text": _text,
    **office.READERS,
}
