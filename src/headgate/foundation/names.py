"""The names that people give to things: one type for every named thing."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of controls (NUL, line breaks), marks that are not seen or turn text around, halves of surrogate
pairs, private and unassigned characters, and separators of lines and paragraphs."""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""


def _is_hidden(character: str) -> bool:
    return character in _BLANK or unicodedata.category(character) in _INVISIBLE


def visible_name(name: str) -> str:
    """The name in normal form (NFC). Raises `ValueError` for one that could be taken for another or not be seen."""
    name = unicodedata.normalize("NFC", name)
    for character in name:
        if _is_hidden(character):
            raise ValueError(f"a name has no invisible or control characters (U+{ord(character):04X})")
    return name


def name_from(text: str, *, longest: int, otherwise: str) -> str:
    """A name made of a text that was written for something else: invisible characters are omitted."""
    seen = "".join(" " if sign.isspace() else sign for sign in unicodedata.normalize("NFC", text))
    kept = "".join(sign for sign in seen if not _is_hidden(sign))
    return " ".join(kept.split())[:longest].strip() or otherwise


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(visible_name)]
"""A name in one line of visible characters, without blanks around it. Where it is used its greatest length is added."""
