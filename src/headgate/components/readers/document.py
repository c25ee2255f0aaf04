"""Result and error of all readers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.sdk import ComponentError, Table

MOST_BYTES = 100_000_000
"""Maximum size of a document."""
LONGEST_TEXT = 20_000_000
"""Maximum characters of a document's text."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The words of a page that text recognition read, in pixels of the picture that it read."""

    width: int
    height: int
    words: tuple[tuple[str, int, int, int, int], ...]
    """Text, left, top, right and bottom of each word, in the order of the text."""


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed document."""

    text: str
    """Its text, as Markdown when the format has structure."""
    data: JsonValue
    table: Table | None = None
    notes: tuple[str, ...] = field(default=())
    """Omitted or guessed content, one sentence each."""
    unread: tuple[int, ...] = field(default=())
    """Numbers of the pages without text, which text recognition may read; the texts of all pages are in `pages`."""
    pages: tuple[str, ...] = field(default=())
    """The text of each page, of a format with pages."""
    layouts: Mapping[int, Layout] = field(default_factory=dict)
    """Of the pages that text recognition read, by their number."""


class Unreadable(ComponentError):
    """A document cannot be read; contains the reason and a remedy."""

    code = "unreadable_document"
    title = "Document cannot be read"


def require_size(content: bytes, name: str) -> None:
    """Raise `Unreadable` for a document over the size limit."""
    if len(content) > MOST_BYTES:
        raise Unreadable(
            f"'{name}' has {len(content)} bytes; the limit is {MOST_BYTES}.", remedy="Split or shrink the file."
        )


def bounded(text: str, name: str) -> str:
    """Return the text. Raises `Unreadable` when it exceeds the length limit."""
    if len(text) > LONGEST_TEXT:
        raise Unreadable(
            f"'{name}' has {len(text)} characters of text; the limit is {LONGEST_TEXT}.",
            remedy="Split the document.",
        )
    return text
