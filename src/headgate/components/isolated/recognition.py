"""Text recognition (OCR) of the pages of a document that have no text, one call for each page.

A page that cannot be read, or takes too long, does not lose the others. What was recognised, how reliably, and what
was not read is in the notes of the document.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, Final, cast

from pydantic import JsonValue

from headgate.components.isolated import RECOGNISED
from headgate.components.readers.document import Document, Layout, Unreadable, bounded
from headgate.foundation.extras import is_installed
from headgate.graph.names import clipped
from headgate.sandbox.libraries import LANGUAGE_DATA_SUFFIX, LANGUAGE_DATA_VARIABLE, language_data
from headgate.sdk import ComponentError

MOST_PAGES: Final = 200
"""Pages of a document that are recognised: one takes a processor for some seconds."""
LEAST_CONFIDENCE: Final = 30
"""Below it the characters of a page are noise, such as those of a photo."""
DEFAULT_LANGUAGES: Final = ("swe", "eng")
"""In this order: with English first, Tesseract prefers letters without rings and dots, and English loses nothing."""
_LANGUAGES = re.compile(r"[A-Za-z0-9_]+(\+[A-Za-z0-9_]+)*")
_INSTALL: Final = "pip install 'headgate[ocr]'"
MOST_LISTED: Final = 20
Call = Callable[[str, dict[str, JsonValue], str], Awaitable[JsonValue]]


def recognition_settings(languages: str = "") -> dict[str, JsonValue]:
    """Return the folder and the languages for `recognise`. Raises `Unreadable` that says what to install.

    Args:
        languages: As Tesseract names them, such as `swe+eng`; empty for Swedish and English, as far as installed.
    """
    if not is_installed("ocr"):
        raise Unreadable("Text recognition (OCR) is not installed.", remedy=f"Install it with: {_INSTALL}")
    folder = language_data()
    if folder is None:
        raise Unreadable(
            "Text recognition (OCR) has no language data.",
            remedy="Install it, on Debian: apt install tesseract-ocr-eng tesseract-ocr-swe; or name its folder in "
            f"{LANGUAGE_DATA_VARIABLE}; then restart the server.",
        )
    installed = sorted(path.name.removesuffix(LANGUAGE_DATA_SUFFIX) for path in folder.glob(f"*{LANGUAGE_DATA_SUFFIX}"))
    if not languages:
        known = [name for name in DEFAULT_LANGUAGES if name in installed]
        return {"folder": str(folder), "languages": "+".join(known) or installed[0]}
    missing = [name for name in languages.split("+") if name not in installed]
    if missing or not _LANGUAGES.fullmatch(languages):
        raise Unreadable(
            f"Text recognition (OCR) has no data of the language '{clipped(', '.join(missing) or languages, 80)}'.",
            remedy=f"Choose among the installed ones, joined with '+': {', '.join(installed)}.",
        )
    return {"folder": str(folder), "languages": languages}


async def recognised_document(read: Document, call: Call, *, name: str, content: str, languages: str) -> Document:
    """Return a document with the text of its unread pages, as far as it can be recognised.

    Args:
        read: The document; its pages without text are unread.
        call: Calls a function in a process that can be killed; see `call_isolated`.
        name: Its name.
        content: The content as base64.
        languages: As of `recognition_settings`.

    Raises:
        Unreadable: No page has text, or the languages are not installed.
    """
    try:
        settings = recognition_settings(languages)
    except Unreadable as error:
        if languages or not any(read.pages):
            raise Unreadable(f"'{name}' has no text to read. {error.detail}", remedy=error.remedy) from error
        note = f"{listed(read.unread)} without text, probably scanned, not read. {error.detail} {error.remedy}"
        return replace(read, notes=(*read.notes, note))
    arguments: dict[str, JsonValue] = {**settings, "content": content, "name": name}
    pages, confidences, unreliable, failures = list(read.pages), dict[int, int](), list[int](), list[str]()
    layouts: dict[int, Layout] = {}
    for number in read.unread[:MOST_PAGES]:
        subject = f"Text recognition of page {number} of '{clipped(name, 80)}'"
        try:
            page = cast("dict[str, Any]", await call(RECOGNISED, {**arguments, "page": number}, subject))
        except ComponentError as error:
            failures.append(error.detail)
            continue
        if page["text"] and page["confidence"] >= LEAST_CONFIDENCE:
            pages[number - 1], confidences[number] = page["text"], page["confidence"]
            layouts[number] = Layout(**page["layout"])
        elif not page["blank"]:
            unreliable.append(number)
    notes = [*_notes(confidences, unreliable, read.unread[MOST_PAGES:]), *failures]
    text = bounded("\n\n".join(page for page in pages if page), name)
    if not text:
        reason = " ".join(notes) or "Text recognition (OCR) found none: all are blank."
        raise Unreadable(
            f"'{name}' has no text on {len(pages)} {'page' if len(pages) == 1 else 'pages'}. {clipped(reason, 500)}",
            remedy="Give a sharper picture, or name the language of the text.",
        )
    marks: list[JsonValue] = [{"page": page, "confidence": value} for page, value in confidences.items()]
    data = read.data
    if isinstance(data, dict):
        data = data | {"pages": list[JsonValue](pages), "recognised": marks}
    return Document(text, data, read.table, (*read.notes, *notes), pages=tuple(pages), layouts=layouts)


def _notes(confidences: Mapping[int, int], unreliable: Sequence[int], beyond: Sequence[int]) -> Iterator[str]:
    if confidences:
        mean, least = round(fmean(confidences.values())), min(confidences, key=confidences.__getitem__)
        lowest = f", lowest {confidences[least]} % (page {least})" if len(confidences) > 1 else ""
        yield f"{listed(tuple(confidences))} read by text recognition (OCR): confidence {mean} %{lowest}."
    if unreliable:
        yield f"{listed(unreliable)} without text that text recognition (OCR) can read reliably."
    if beyond:
        yield f"{listed(beyond)} not read: text recognition (OCR) ends after {MOST_PAGES} pages of a document."


def listed(numbers: Sequence[int]) -> str:
    """Return `Page 3` or `Pages 3, 4`, of many the first."""
    shown = ", ".join(map(str, numbers[:MOST_LISTED])) + (" and more" if len(numbers) > MOST_LISTED else "")
    return f"{'Page' if len(numbers) == 1 else 'Pages'} {shown}"
