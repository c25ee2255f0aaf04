"""Names of users' objects: one type for every named object."""

import hashlib
import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of controls (NUL, line breaks), invisible and direction marks, halves of surrogate pairs, private
and unassigned characters, and separators of lines and paragraphs.
"""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks without a visible glyph."""


HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters of longer texts that users do not see and models and terminals read: controls, direction changes, tags."""
_JOINER = "\u200d"
_BEHIND_EMOJI = frozenset("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
"""The emoji variation selector, and skin tones."""


def _is_hidden(name: str, index: int) -> bool:
    character = name[index]
    if character == _JOINER:
        return not _joins_emoji(name, index)
    return character in _BLANK or unicodedata.category(character) in _INVISIBLE


def _joins_emoji(name: str, index: int) -> bool:
    """Return whether a joiner combines two emoji (Unicode Technical Standard 51), which makes it visible."""
    preceding = name[:index].rstrip("".join(_BEHIND_EMOJI))[-1:]
    return _is_picture(preceding) and _is_picture(name[index + 1 : index + 2])


def _is_picture(character: str) -> bool:
    is_symbol = "\u2190" <= character < "\u2c00" or character >= "\U0001f000"
    return is_symbol and unicodedata.category(character) in {"So", "Sm"}


def visible_name(name: str) -> str:
    """The name in normal form (NFC). Raises `ValueError` when it is invisible or could be mistaken for another."""
    name = unicodedata.normalize("NFC", name)
    for index, character in enumerate(name):
        if _is_hidden(name, index):
            raise ValueError(f"a name has no invisible or control characters (U+{ord(character):04X})")
    return name


def name_from(text: str, *, longest: int, otherwise: str) -> str:
    """Return a name made from other text, without invisible characters."""
    seen = "".join(" " if sign.isspace() else sign for sign in unicodedata.normalize("NFC", text))
    visible = "".join(sign for index, sign in enumerate(seen) if not _is_hidden(seen, index))
    return _cut(" ".join(visible.split()), longest) or otherwise


def _cut(name: str, longest: int) -> str:
    """Return the beginning of a name without splitting an emoji."""
    return name[:longest].rstrip(f" {_JOINER}")


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(visible_name)]
"""A name in one line of visible characters, without surrounding whitespace. Users of the type add a maximum length."""


def distinct_name(text: str, key: str, *, longest: int, otherwise: str) -> str:
    """Return a text as a name; one that is changed for that ends with a mark of the key, which differs by key."""
    name = name_from(text, longest=longest, otherwise=otherwise)
    if name == text:
        return name
    mark = hashlib.sha256(key.encode()).hexdigest()[:12]
    return f"{name_from(text, longest=longest - len(mark) - 1, otherwise=otherwise)} {mark}"
