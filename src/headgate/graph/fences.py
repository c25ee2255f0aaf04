"""Markdown code blocks in text by users and models."""

import re
from typing import Final

_OPENING: Final = re.compile(r"```[\w+-]*[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"^[ \t]*```", re.MULTILINE)


def first_block(text: str) -> str | None:
    """Return the content of the first closed code block; None when there is none.

    Two linear searches instead of one expression, which takes quadratic time on many unclosed blocks.
    """
    opening = _OPENING.search(text)
    closing = opening and _CLOSING.search(text, opening.end())
    return text[opening.end() : closing.start()] if opening and closing else None
