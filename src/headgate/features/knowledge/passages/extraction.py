"""Reads the text of a document's content, with the offsets at which its pages begin.

It is read in a process of the sandbox, unless it is plain text.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, cast

from pydantic import JsonValue

from headgate.components.isolated import CODE_SECTIONS, MAILS
from headgate.components.isolated.calls import Runners, TenantIsolation, call_isolated, find_marks, read_document
from headgate.components.readers.code import Section, language_of_code
from headgate.components.readers.document import Layout, Unreadable, require_size
from headgate.components.readers.mail import MOST_FILES, message_text
from headgate.components.readers.reading import kind_of, read_text
from headgate.features.knowledge.passages.chunking import Chunk, divide, divide_code
from headgate.features.knowledge.passages.scans import ScannedPage
from headgate.foundation.extras import is_installed
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.sdk import ComponentError
from headgate.sdk.coerce import clean_text

MOST_NOTES = 50
_PAGED = {"pdf", "image", "slides", "odp"}
"""Kinds of documents whose passages have page numbers."""
_BETWEEN = "\n\n"
"""Between the texts of two pages."""


@dataclass(frozen=True, slots=True)
class Attached:
    """An attachment of a message."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Extract:
    """The text of a document."""

    text: str
    pages: tuple[int, ...]
    """Offsets at which its pages begin; empty for a format without pages."""
    page_numbers: tuple[int, ...]
    """Numbers of those pages: pages without text are skipped."""
    page_count: int | None
    notes: tuple[str, ...]
    """What was not understood, one sentence each."""
    attached: tuple[Attached, ...] | None = None
    """Of a message; None: it is no message."""
    sections: tuple[Section, ...] = ()
    """Functions and classes of source code; empty for other texts."""

    def divided(self, *, most_tokens: int, overlap_tokens: int) -> list[Chunk]:
        """Return its passages: of source code by function and class, else along its structure."""
        if self.sections:
            return divide_code(self.text, self.sections, most_tokens=most_tokens)
        return divide(self.text, pages=self.pages, most_tokens=most_tokens, overlap_tokens=overlap_tokens)

    pdf: bytes | None = None
    """The content, if its passages can be marked on pictures of its pages."""
    layouts: Mapping[int, Layout] = field(default_factory=dict)
    """Of its scanned pages, by their number."""

    def page_number(self, counted: int | None) -> int | None:
        """Return the number in the document of the page that is counted from 1 among those with text."""
        return None if counted is None else self.page_numbers[counted - 1]


async def extract(runners: Runners, content: bytes, *, tenant_id: str, name: str, media_type: str) -> Extract:
    """Return the text of a document's content. Raises `Unreadable` and `ComponentError` with the reason."""
    calls, kind = TenantIsolation(runners, tenant_id), kind_of(content, name, media_type)
    if kind == "text":  # decoding parses nothing: no process is needed
        text = await run_in_flow_thread(read_text, content, name)
        return await _code(calls, clean_text(text), name)
    if kind == "mail":
        return await _message(calls, content, name)
    has_pages = kind in _PAGED
    members = ("data",) if has_pages else ("text",)
    read = await read_document(calls, content, name=name, media_type=media_type, members=members)
    if not has_pages:
        return Extract(clean_text(read.text), (), (), None, read.notes[:MOST_NOTES])
    texts = [str(page) for page in cast("dict[str, Any]", read.data)["pages"]]
    numbers = tuple(number for number, page in enumerate(texts, start=1) if page)
    parts = [page for page in texts if page]
    starts = accumulate((len(part) + len(_BETWEEN) for part in parts[:-1]), initial=0)
    pdf = content if kind == "pdf" and is_installed("ocr") else None
    return Extract(
        _BETWEEN.join(parts), tuple(starts), numbers, len(texts), read.notes[:MOST_NOTES], pdf=pdf, layouts=read.layouts
    )


async def mark_passages(runners: Runners, read: Extract, rows: Sequence[dict[str, Any]], *, tenant_id: str) -> Extract:
    """Give passages of a PDF or image their `marks`: where they are on their pages. Returns it without its content.

    Its notes say why there are none, if that failed. Passages have a page, a start and an end, of the document.
    """
    if not rows or (read.pdf is None and not read.layouts):
        return read
    begins = dict(zip(read.page_numbers, read.pages, strict=True))
    ends = (*(start - len(_BETWEEN) for start in read.pages[1:]), len(read.text))
    texts = {page: read.text[start:end] for (page, start), end in zip(begins.items(), ends, strict=True)}
    scans = {page: ScannedPage(texts[page], layout) for page, layout in read.layouts.items() if page in texts}
    for row in rows:
        if row["page"] in scans:
            begin = begins[row["page"]]
            row["marks"] = scans[row["page"]].marks(row["start"] - begin, row["end"] - begin)
    rows = [row for row in rows if row["page"] not in scans]
    read = replace(read, layouts={})
    if read.pdf is None or not rows:
        return replace(read, pdf=None)
    pages = [(page, text) for page, text in texts.items() if page not in scans]
    places = [(row["page"], row["start"] - begins[row["page"]], row["end"] - begins[row["page"]]) for row in rows]
    notes = read.notes
    try:
        marks = await find_marks(TenantIsolation(runners, tenant_id), read.pdf, pages=pages, places=places)
        for row, mark in zip(rows, marks, strict=True):
            row["marks"] = mark
    except ComponentError as error:
        notes = (*notes, f"Its passages are not marked on the pictures of its pages: {error.detail}")
    return replace(read, notes=notes, pdf=None)


async def _code(calls: TenantIsolation, text: str, name: str) -> Extract:
    """Return a text with the functions and classes of source code, by lines when it cannot be parsed."""
    language = language_of_code(name)
    if not language or not text.strip():
        return Extract(text, (), (), None, ())
    if not is_installed("code"):
        missing = "Divided by lines, not by function: install the parsers with: pip install 'headgate[code]'"
        return Extract(text, (), (), None, (missing,), sections=((0, ""),))
    arguments: dict[str, JsonValue] = {"text": text, "language": language}
    try:
        parsed = await call_isolated(calls, CODE_SECTIONS, arguments, f"'{name}'")
    except ComponentError:  # it took too long or too much memory
        parsed = None
    if parsed is None:
        note = f"Divided by lines: it does not parse as {language}."
        return Extract(text, (), (), None, (note,), sections=((0, ""),))
    sections = tuple((start, title) for start, title in cast("list[Section]", parsed))
    return Extract(text, (), (), None, (), sections=sections)


async def _message(calls: TenantIsolation, content: bytes, name: str) -> Extract:
    require_size(content, name)
    given: dict[str, JsonValue] = {"content": base64.b64encode(content).decode(), "complete": True, "name": name}
    (message,) = cast("list[dict[str, Any]]", await call_isolated(calls, MAILS, {"messages": [given]}, f"'{name}'"))
    if "problem" in message:
        raise Unreadable(message["problem"], remedy=message["remedy"])
    attached = (Attached(name, media, base64.b64decode(data)) for name, media, data in message["attachments"])
    notes = (f"{message['omitted']:,} attachments beyond the first {MOST_FILES} are not read.",)
    return Extract(message_text(message), (), (), None, notes if message["omitted"] else (), tuple(attached))
