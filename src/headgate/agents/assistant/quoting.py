"""Blocks of quoted text in what the model reads. Nothing quoted can end its own quotation."""

import re

_CLOSING = re.compile(r"\[(\s*end\s+of\s+[^\]\n]{0,60})\]", re.IGNORECASE)
CUT = "\n... [truncated]"


def quoted(opening: str, text: str, closing: str) -> str:
    """A block: opening, text without anything that looks like a closing line, closing."""
    return f"{opening}\n{unclosing(text)}\n{closing}"


def unclosing(text: str) -> str:
    """The text with the brackets of every `[End of ...]` made round."""
    return _CLOSING.sub(r"(\1)", text)


def clipped_to(text: str, most: int) -> str:
    """The text, cut with a mark where it is longer than `most` characters."""
    return text if len(text) <= most else text[:most] + CUT
