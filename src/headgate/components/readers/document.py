"""What every reader gives, and refuses with."""

from dataclasses import dataclass, field

from pydantic import JsonValue

from headgate.sdk import ComponentError, Table

MOST_BYTES = 100_000_000
"""Largest document that is read."""
LONGEST_TEXT = 20_000_000
"""Most characters that a document may give."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read."""

    text: str
    """Its text, Markdown where the format has structure."""
    data: JsonValue
    table: Table | None = None
    notes: tuple[str, ...] = field(default=())
    """What the reader had to leave out or guess, one sentence each."""


class Unreadable(ComponentError):
    """A document cannot be read; says why and what to do."""

    code = "unreadable_document"
    title = "Document cannot be read"


def require_size(content: bytes, name: str) -> None:
    """Raise `Unreadable` for a document that is larger than those that are read."""
    if len(content) > MOST_BYTES:
        raise Unreadable(
            f"'{name}' has {len(content)} bytes; at most {MOST_BYTES} are read.", remedy="Split or shrink the file."
        )


def bounded(text: str, name: str) -> str:
    """The text. Raises `Unreadable` when it is longer than documents may be."""
    if len(text) > LONGEST_TEXT:
        raise Unreadable(
            f"'{name}' holds {len(text)} characters of text; at most {LONGEST_TEXT} are read.",
            remedy="Split the document.",
        )
    return text
