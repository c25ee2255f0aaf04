"""PDF into text."""

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
    """The text of a PDF, pages separated by an empty line; data holds title, author and each page.

    Raises `Unreadable` when it is encrypted, broken, a scan without text, or past a bound.
    """
    pypdf = _pypdf()
    try:
        reader = pypdf.PdfReader(io.BytesIO(content))
        locked = reader.is_encrypted and not reader.decrypt("")
        count = 0 if locked else len(reader.pages)
        meta = {} if locked else reader.metadata or {}
        about = {key: clean_text(str(meta.get(f"/{key.title()}") or "")) for key in ("title", "author")}
    except Exception as error:  # pypdf says that broken files raise anything
        raise Unreadable(
            f"'{name}' is not a PDF that can be read: {clipped(str(error), 200)}.", remedy="Open it and save it anew."
        ) from error
    if locked:
        raise Unreadable(f"'{name}' is encrypted with a password.", remedy="Save a copy without password first.")
    if count > MOST_PAGES:
        raise Unreadable(f"'{name}' has {count} pages; at most {MOST_PAGES} are read.", remedy="Split the file.")
    pages, notes = _pages(reader, name)
    text = bounded("\n\n".join(page for page in pages if page), name)
    if not text:
        raise Unreadable(
            f"'{name}' has {count} pages and no text; it is probably a scan.",
            remedy="Run text recognition (OCR) on it first.",
        )
    data: JsonValue = {**about, "pages": list[JsonValue](pages)}
    return Document(text, data, notes=notes)


def _pages(reader: Any, name: str) -> tuple[list[str], tuple[str, ...]]:  # noqa: ANN401 - a lazily imported type
    """The text of each page; a page that cannot be read is empty and noted."""
    until = time.monotonic() + SECONDS
    pages: list[str] = []
    notes: list[str] = []
    length = 0
    for number, page in enumerate(reader.pages, start=1):
        if time.monotonic() > until:
            raise Unreadable(
                f"'{name}' took more than {SECONDS:g} seconds; page {number} was reached.", remedy="Split the file."
            )
        try:
            text = clean_text(page.extract_text()).strip()
        except Exception as error:  # noqa: BLE001 - one broken page does not lose the others
            text = ""
            notes.append(f"Page {number} could not be read: {clipped(str(error), 100)}")
        pages.append(text)
        length += len(text)
        if length > LONGEST_TEXT:
            raise Unreadable(f"'{name}' holds more than {LONGEST_TEXT} characters of text.", remedy="Split the file.")
    return pages, tuple(notes)


def _pypdf() -> Any:  # noqa: ANN401 - the module
    """The pypdf module, imported when first used."""
    import pypdf  # noqa: PLC0415

    return pypdf
