"""Decodes bytes of unknown encoding."""

import codecs
import re

from headgate.components.readers.document import Unreadable
from headgate.sdk.coerce import clean_text

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of it
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META = re.compile(
    rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE
)


def decoded(content: bytes, *, name: str, declared: str = "") -> str:
    """Return the text of bytes: byte order mark, else the declared encoding, else UTF-8, else Windows-1252.

    Raises `Unreadable` when the bytes are not text.
    """
    marked = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), "")
    for encoding in (marked, declared, "utf-8"):
        text = _decoded(content, encoding) if encoding else None
        if text is not None:
            return clean_text(text)
    if b"\x00" in content[:8192]:
        raise Unreadable(f"'{name}' is not text.", remedy="Use a text, PDF, DOCX, CSV, JSON, HTML or Markdown file.")
    return clean_text(content.decode("cp1252", errors="replace"))


def declared_in_markup(content: bytes) -> str:
    """Return the charset that an HTML or XML document declares near its beginning; empty when there is none."""
    match = _META.search(content[:2048])
    return match[1].decode("ascii") if match else ""


def _decoded(content: bytes, encoding: str) -> str | None:
    try:
        text = content.decode(encoding)
    except (UnicodeError, LookupError, ValueError):
        return None
    return None if isinstance(text, str) and encoding == "utf-8" and "\x00" in text[:8192] else text
