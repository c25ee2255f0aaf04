"""Converts presentations (PPTX, ODP), OpenDocument texts (ODT) and books (EPUB) to Markdown."""

import io
import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from pydantic import JsonValue

from headgate.components.readers.charset import declared_in_markup, decoded
from headgate.components.readers.document import Document, Unreadable, bounded
from headgate.components.readers.markup import read_html
from headgate.components.readers.package import require_package
from headgate.components.readers.xml import etree, parse_xml
from headgate.graph.names import clipped
from headgate.sdk import Table
from headgate.sdk.coerce import clean_text, data_of, markdown_table

MOST_SLIDES = 5_000
MOST_CHAPTERS = 5_000
MOST_COLUMNS = 1_000
"""Of a table; OpenDocument writes empty cells as a number of repetitions."""
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_DRAW, _OFFICE, _TABLE, _TEXT, _PRESENTATION = (
    f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}"
    for name in ("drawing", "office", "table", "text", "presentation")
)
_TITLES = {"title", "ctrTitle"}
_BREAKS = {f"{_A}br": "\n", f"{_TEXT}line-break": "\n", f"{_TEXT}tab": "\t", f"{_TEXT}s": " ", f"{_TEXT}note-body": " "}
_UNSEEN = {
    f"{_TEXT}tracked-changes",
    f"{_TEXT}note-citation",
    f"{_OFFICE}annotation",
    f"{_PRESENTATION}notes",
    f"{_OFFICE}forms",
}
_PICTURES = {f"{_P}pic", f"{_P}graphicFrame", f"{_DRAW}image", f"{_DRAW}object"}


class Package:
    """The parts of a zip package within the limits, which are read by name."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name

    def read(self, path: str) -> bytes:
        """Return a part. Raises `Unreadable` when it is missing, damaged or encrypted."""
        try:
            return self._archive.read(path)
        except KeyError as error:
            raise Unreadable(
                f"'{self._name}' lacks the part '{clipped(path, 100)}'.", remedy="Save it again."
            ) from error
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError) as error:
            raise Unreadable(
                f"'{self._name}' is damaged or encrypted: {clipped(str(error), 200)}.", remedy="Save it again."
            ) from error

    def xml(self, path: str) -> Any:  # noqa: ANN401 - lxml has no types
        """Return the root element of a part. Raises `Unreadable`."""
        return parse_xml(self.read(path), name=f"{self._name}: {clipped(path, 100)}")

    def has(self, path: str) -> bool:
        """Return whether there is such a part."""
        return path in self._archive.NameToInfo

    def related(self, path: str) -> dict[str, tuple[str, str]]:
        """Return what a part of an Office document refers to: kind and path, by id."""
        folder, file = posixpath.split(path)
        rels = f"{folder}/_rels/{file}.rels"
        if not self.has(rels):
            return {}
        return {
            str(item.get("Id")): (
                str(item.get("Type")).rpartition("/")[2],
                posixpath.normpath(posixpath.join("/", folder, str(item.get("Target")))).lstrip("/"),
            )
            for item in self.xml(rels)
        }


def read_presentation(content: bytes, *, name: str) -> Document:
    """Return the slides of a PPTX as Markdown, with their notes; in `data` the text of each slide as a page.

    Raises `Unreadable` when it is not a PPTX, is protected, or exceeds a limit.
    """
    with _opened(content, name, kind="a presentation", remedy="Save it as .pptx.") as package:
        related = package.related("ppt/presentation.xml")
        listed = [
            related.get(str(item.get(_R)), ("", ""))[1]
            for item in package.xml("ppt/presentation.xml").iter(f"{_P}sldId")
        ]
        slides = [_slide(package, path) for path in _few(listed, MOST_SLIDES, name, "slides") if path]
    return _paged(slides, name)


def read_open_document(content: bytes, *, name: str) -> Document:
    """Return an ODT, or the slides of an ODP as pages, as Markdown; without comments and deleted text.

    Raises `Unreadable` when it is no OpenDocument, is protected, or exceeds a limit.
    """
    with _opened(content, name, kind="an OpenDocument", remedy="Save it as .odt or .odp.") as package:
        root = package.xml("content.xml")
    body = root.find(f"{_OFFICE}body")
    presentation = None if body is None else body.find(f"{_OFFICE}presentation")
    if presentation is not None:
        pages = _few(presentation.findall(f"{_DRAW}page"), MOST_SLIDES, name, "slides")
        return _paged([_Blocks().read(page) for page in pages], name)
    text = None if body is None else body.find(f"{_OFFICE}text")
    if text is None:
        raise Unreadable(f"'{name}' is neither an OpenDocument text nor a presentation.", remedy="Save it as .odt.")
    blocks = _Blocks().read(text)
    data: JsonValue = {"tables": [data_of(table) for table in blocks.tables]}
    return Document(bounded(blocks.text, name), data, next(iter(blocks.tables), None), blocks.notes())


def read_book(content: bytes, *, name: str) -> Document:
    """Return the chapters of an EPUB in their order, as Markdown.

    Raises `Unreadable` when it is no EPUB, is protected, or exceeds a limit.
    """
    with _opened(content, name, kind="an EPUB", remedy="Check the file.") as package:
        root = next(package.xml("META-INF/container.xml").iter("{*}rootfile"), None)
        path = "" if root is None else str(root.get("full-path"))
        listing = package.xml(path)
        files = {str(item.get("id")): item for manifest in listing.iter("{*}manifest") for item in manifest}
        spine = [files[key] for item in listing.iter("{*}itemref") if (key := str(item.get("idref"))) in files]
        chapters = [
            posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(str(item.get("href")))))
            for item in _few(spine, MOST_CHAPTERS, name, "chapters")
            if "html" in str(item.get("media-type")) and item.get("properties") != "nav"
        ]
        locked = _locked(package) & set(chapters)
        if locked:
            raise Unreadable(f"'{name}' is protected: its chapters are encrypted.", remedy="Use a copy without DRM.")
        texts = [_chapter(package.read(chapter), chapter) for chapter in chapters if package.has(chapter)]
    missing = len(chapters) - len(texts)
    title = next((" ".join("".join(item.itertext()).split()) for item in listing.iter("{*}title")), "")
    notes = (f"{missing} chapters are listed and missing.",) if missing else ()
    return Document(bounded("\n\n".join(filter(None, texts)), name), {"title": clean_text(title)}, None, notes)


def _chapter(content: bytes, path: str) -> str:
    return read_html(decoded(content, name=path, declared=declared_in_markup(content)), main_only=False).markdown


def _locked(package: Package) -> set[str]:
    path = "META-INF/encryption.xml"
    if not package.has(path):
        return set()
    return {unquote(str(item.get("URI"))) for item in package.xml(path).iter("{*}CipherReference")}


def unread(pictures: int) -> tuple[str, ...]:
    """Return what is said of pictures and charts."""
    return (f"Pictures and charts that are not read: {pictures:,}.",) if pictures else ()


class _Blocks:
    """The blocks of a document or slide in their order, as Markdown."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.pictures = 0
        self._blocks: list[str] = []

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, self._blocks))

    def notes(self) -> tuple[str, ...]:
        """Return what was not read."""
        return unread(self.pictures)

    def add(self, text: str, *, level: int = 0, item: bool = False) -> None:
        """Add a paragraph, the heading of a level, or the item of a list."""
        line = clean_text(text).strip()
        if level and line:
            line = f"{'#' * min(level, 6)} {' '.join(line.split())}"
        elif item and line:
            line = f"- {line}"
            if self._blocks and self._blocks[-1].startswith("- "):
                self._blocks[-1] += f"\n{line}"
                return
        self._blocks.append(line)

    def read(self, root: Any) -> "_Blocks":  # noqa: ANN401 - lxml has no types
        """Add everything below an element of an OpenDocument."""
        title = root.tag == f"{_DRAW}page"
        for element in _outermost(root, {f"{_TEXT}h", f"{_TEXT}p", f"{_TABLE}table", *_UNSEEN, *_PICTURES}):
            if element.tag == f"{_TEXT}h":
                level = str(element.get(f"{_TEXT}outline-level", "1"))
                self.add(_spoken(element), level=int(level) if level.isdecimal() else 1)
            elif element.tag == f"{_TEXT}p":
                frame = next(element.iterancestors(f"{_DRAW}frame"), None)
                named = title and frame is not None and frame.get(f"{_PRESENTATION}class") == "title"
                listed = next(element.iterancestors(f"{_TEXT}list-item"), None) is not None
                self.add(_spoken(element), level=2 if named else 0, item=listed)
                self.pictures += sum(1 for _ in element.iter(*_PICTURES))
            elif element.tag == f"{_TABLE}table":
                self.add_table([_cells(row) for row in element.iter(f"{_TABLE}table-row")])
            elif element.tag in _PICTURES:
                self.pictures += 1
        return self

    def add_table(self, rows: list[list[str]]) -> None:
        """Add a table: the first row names the columns."""
        rows = [row for row in rows if any(row)]
        if not rows:
            return
        width = max(map(len, rows))
        filled = [[clean_text(cell).strip() for cell in row] + [""] * (width - len(row)) for row in rows]
        self.tables.append(Table(columns=filled[0], rows=[list[JsonValue](row) for row in filled[1:]]))
        self._blocks.append(markdown_table(self.tables[-1]))


def _slide(package: Package, path: str) -> _Blocks:
    blocks = _Blocks()
    for shape in _outermost(package.xml(path), {f"{_P}sp", f"{_P}graphicFrame", f"{_P}pic"}):
        rows = [[_paragraphs(cell) for cell in row.iter(f"{_A}tc")] for row in shape.iter(f"{_A}tr")]
        if rows:
            blocks.add_table(rows)
        elif shape.tag in _PICTURES:
            blocks.pictures += 1
        else:
            kind = next((str(item.get("type", "body")) for item in shape.iter(f"{_P}ph")), "")
            if kind in _TITLES:
                blocks.add(_paragraphs(shape), level=2)
                continue
            for paragraph in shape.iter(f"{_A}p"):
                blocks.add(_spoken(paragraph), item=kind == "body")
    for kind, target in package.related(path).values():
        if kind == "notesSlide" and package.has(target):
            spoken = "\n".join(filter(None, _notes(package.xml(target))))
            if spoken:
                blocks.add(f"Notes: {spoken}")
    return blocks


def _notes(root: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield what a speaker notes; not the picture and number of the slide."""
    for shape in root.iter(f"{_P}sp"):
        if any(item.get("type") == "body" for item in shape.iter(f"{_P}ph")):
            yield _paragraphs(shape)


def _paragraphs(element: Any) -> str:  # noqa: ANN401
    return "\n".join(filter(None, (_spoken(item).strip() for item in element.iter(f"{_A}p"))))


def _cells(row: Any) -> list[str]:  # noqa: ANN401
    """Return the cells of a row of an OpenDocument, with repeated ones, without empty ones at its end."""
    cells: list[str] = []
    for cell in row:
        times = str(cell.get(f"{_TABLE}number-columns-repeated", "1"))
        text = " ".join(_spoken(item).strip() for item in cell.iter(f"{_TEXT}p", f"{_TEXT}h"))
        count = min(int(times), MOST_COLUMNS - len(cells)) if times.isdecimal() and len(times) < 8 else 1
        cells += [text] * count
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _spoken(element: Any) -> str:  # noqa: ANN401
    """Return the text of a paragraph, with its line breaks, tabs and runs of spaces; not what is in `_UNSEEN`."""
    parts: list[str] = []
    skipped: Any = None
    for event, node in _walk(element):
        if skipped is None and event == "start":
            if node.tag in _UNSEEN:
                skipped = node
                continue
            count = str(node.get(f"{_TEXT}c", "1"))
            if node.tag in _BREAKS:
                parts.append(_BREAKS[node.tag] * (min(int(count), 100) if count.isdecimal() else 1))
            parts.append(node.text or "")
        elif event == "end":
            skipped = None if node is skipped else skipped
            if skipped is None and node is not element:
                parts.append(node.tail or "")
    return "".join(parts)


def _walk(element: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    return iter(etree().iterwalk(element, events=("start", "end")))


def _outermost(root: Any, tags: set[str]) -> Iterator[Any]:  # noqa: ANN401
    """Yield the elements with one of the tags in the order of the document, none that is inside of another one."""
    inside: Any = None
    for event, element in _walk(root):
        if event == "start" and inside is None and element is not root and element.tag in tags:
            inside = element
            yield element
        elif event == "end" and element is inside:
            inside = None


def _paged(slides: list[_Blocks], name: str) -> Document:
    """Return slides as pages."""
    tables = [table for slide in slides for table in slide.tables]
    pages = [slide.text for slide in slides]
    pictures = sum(slide.pictures for slide in slides)
    notes = unread(pictures)
    data: JsonValue = {"pages": list[JsonValue](pages)}
    return Document(bounded("\n\n".join(filter(None, pages)), name), data, next(iter(tables), None), notes)


def _few(items: list[Any], most: int, name: str, what: str) -> list[Any]:
    if len(items) > most:
        raise Unreadable(f"'{name}' has more than {most:,} {what}.", remedy="Split the file.")
    return items


@contextmanager
def _opened(content: bytes, name: str, *, kind: str, remedy: str) -> Iterator[Package]:
    require_package(content, name, kind=kind, remedy=remedy)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        yield Package(archive, name)


READERS: dict[str, Callable[[bytes, str, str], Document]] = {
    "slides": lambda content, name, _: read_presentation(content, name=name),
    "odt": lambda content, name, _: read_open_document(content, name=name),
    "odp": lambda content, name, _: read_open_document(content, name=name),
    "epub": lambda content, name, _: read_book(content, name=name),
}
SUFFIXES = {".pptx": "slides", ".pptm": "slides", ".ppsx": "slides", ".odt": "odt", ".odp": "odp", ".epub": "epub"}
MEDIA_TYPES = {
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "slides",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/epub+zip": "epub",
}
