"""The names that people give to things: one type for every named thing."""

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of controls (NUL, line breaks), marks that are not seen or turn text around, halves of surrogate
pairs, private and unassigned characters, and separators of lines and paragraphs."""
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""


_JOINER = "\u200d"
_BEHIND_EMOJI = frozenset("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
"""The mark of a picture's coloured form, and tones of skin."""


def _is_hidden(name: str, place: int) -> bool:
    character = name[place]
    if character == _JOINER:
        return not _joins_emoji(name, place)
    return character in _BLANK or unicodedata.category(character) in _INVISIBLE


def _joins_emoji(name: str, place: int) -> bool:
    """Whether a joiner makes one picture of two (Unicode Technical Standard 51): then it is seen."""
    before = name[:place].rstrip("".join(_BEHIND_EMOJI))[-1:]
    return _is_picture(before) and _is_picture(name[place + 1 : place + 2])


def _is_picture(character: str) -> bool:
    drawn = "\u2190" <= character < "\u2c00" or character >= "\U0001f000"
    return drawn and unicodedata.category(character) in {"So", "Sm"}


def visible_name(name: str) -> str:
    """The name in normal form (NFC). Raises `ValueError` for one that could be taken for another or not be seen."""
    name = unicodedata.normalize("NFC", name)
    for place, character in enumerate(name):
        if _is_hidden(name, place):
            raise ValueError(f"a name has no invisible or control characters (U+{ord(character):04X})")
    return name


def name_from(text: str, *, longest: int, otherwise: str) -> str:
    """A name made of a text that was written for something else: invisible characters are omitted."""
    seen = "".join(" " if sign.isspace() else sign for sign in unicodedata.normalize("NFC", text))
    kept = "".join(sign for place, sign in enumerate(seen) if not _is_hidden(seen, place))
    return _cut(" ".join(kept.split()), longest) or otherwise


def _cut(name: str, longest: int) -> str:
    """The beginning of a name, which does not end in half a picture."""
    return name[:longest].rstrip(f" {_JOINER}")


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), AfterValidator(visible_name)]
"""A name in one line of visible characters, without blanks around it. Where it is used its greatest length is added."""
