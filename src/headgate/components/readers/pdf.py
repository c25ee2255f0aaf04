"""Converts PDF to text."""

import io
import time
from typing import Any

from pydantic import JsonValue

from headgate.components.readers.document import LONGEST_TEXT, Document, Unreadable, bounded
from headgate.graph.names import clipped
from headgate.sdk.coerce import clean_text

MOST_PAGES = 3_000
SECONDS = 60.0


def read_pdf(content: bytes, *, name: str) -> Document:
    """Return the text of a PDF, pages separated by an empty line; data contains title, author and each page.

    Raises `Unreadable` when it is encrypted, damaged, or over a limit. Pages without text are `unread`.
    """
    pypdf = _pypdf()
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        locked = reader.is_encrypted and not reader.decrypt("")
        count = 0 if locked else len(reader.pages)
        meta = {} if locked else reader.metadata or {}
        metadata = {key: clean_text(str(meta.get(f"/{key.title()}") or "")) for key in ("title", "author")}
    except Exception as error:  # according to pypdf, damaged files may raise anything
        raise Unreadable(
            f"'{name}' is not a readable PDF: {clipped(str(error), 200)}.", remedy="Open it and save it again."
        ) from error
    if locked:
        raise Unreadable(f"'{name}' is encrypted with a password.", remedy="Save a copy without a password first.")
    if count > MOST_PAGES:
        raise Unreadable(f"'{name}' has {count} pages; the limit is {MOST_PAGES}.", remedy="Split the file.")
    pages, notes = _pages(reader, name)
    text = bounded("\n\n".join(page for page in pages if page), name)
    data: JsonValue = {**metadata, "pages": list[JsonValue](pages)}
    unread = tuple(number for number, page in enumerate(pages, start=1) if not page)
    return Document(text, data, notes=notes, unread=unread, pages=tuple(pages))


def _pages(reader: Any, name: str) -> tuple[list[str], tuple[str, ...]]:  # noqa: ANN401 - a lazily imported type
    """Return the text of each page; an unreadable page is empty and noted."""
    until = time.monotonic() + SECONDS
    pages: list[str] = []
    notes: list[str] = []
    length = 0
    for number, page in enumerate(reader.pages, start=1):
        if time.monotonic() > until:
            raise Unreadable(
                f"'{name}' took more than {SECONDS:g} seconds; reading stopped at page {number}.",
                remedy="Split the file.",
            )
        try:
            text = clean_text(page.extract_text()).strip()
        except Exception as error:  # noqa: BLE001 - one broken page does not lose the others
            text = ""
            notes.append(f"The text layer of page {number} could not be read: {clipped(str(error), 100)}")
        pages.append(text)
        length += len(text)
        if length > LONGEST_TEXT:
            raise Unreadable(f"'{name}' has more than {LONGEST_TEXT} characters of text.", remedy="Split the file.")
    return pages, tuple(notes)


def _pypdf() -> Any:  # noqa: ANN401 - the module
    """Return the pypdf module, imported when first used."""
    import pypdf  # noqa: PLC0415

    return pypdf
