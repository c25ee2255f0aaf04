"""Markdown code blocks in text that a person or a model wrote."""

import re
from typing import Final

_OPENING: Final = re.compile(r"```[\w+-]*[ \t]*\r?\n")
_CLOSING: Final = re.compile(r"^[ \t]*```", re.MULTILINE)


def first_block(text: str) -> str | None:
    """The content of the first code block that is closed; None when there is none.

    Two linear searches instead of one expression, which takes quadratic time on many blocks that are never closed.
    """
    opening = _OPENING.search(text)
    closing = opening and _CLOSING.search(text, opening.end())
    return text[opening.end() : closing.start()] if opening and closing else None
