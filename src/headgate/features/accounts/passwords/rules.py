"""Which passwords may be used, as NIST SP 800-63B (3.1.1.2) has it: long ones, of any characters, not the obvious.

`common.txt` holds the passwords of twelve characters and more among the 30,000 most used, from zxcvbn's frequency list
(MIT licence), which was counted in Mark Burnett's ten million leaked passwords.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from headgate.foundation.errors import Invalid

SHORTEST = 12
LONGEST = 1024
"""In characters, so that hashing one takes no longer than another."""
_REPEATED = re.compile(r"(.{1,8})\1+", re.DOTALL)
_EDGES = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_SERIES = ("abcdefghijklmnopqrstuvwxyzåäö", "01234567890123456789", "qwertyuiopasdfghjklzxcvbnm")
_WORST_SHARE = 4
"""A word of the account's own that leaves fewer characters than this around it says the password."""


class PasswordRefused(Invalid):
    """A password that others would guess."""

    code = "password_refused"
    title = "Password refused"


def normalized(password: str) -> str:
    """The same password however a keyboard composes its letters: Unicode's NFKC."""
    return unicodedata.normalize("NFKC", password)


def check_password(password: str, *, own_words: Iterable[str] = ()) -> None:
    """Raise `PasswordRefused` when a password may not be used.

    Args:
        password: What somebody wants to use.
        own_words: What others know of the account: its e-mail address, the person's name.
    """
    chosen = normalized(password)
    if len(chosen) < SHORTEST:
        raise PasswordRefused(
            f"A password has at least {SHORTEST} characters.", remedy="Four words that do not belong together are good."
        )
    if len(chosen) > LONGEST:
        raise PasswordRefused(f"A password has at most {LONGEST} characters.", remedy="Choose a shorter one.")
    if _is_obvious(chosen.casefold(), own_words):
        raise PasswordRefused(
            "Others would guess this password: it is a common one, a repetition, or made of your own name or address.",
            remedy="Choose one that says nothing about you. Four words that do not belong together are good.",
        )


def _is_obvious(chosen: str, own_words: Iterable[str]) -> bool:
    if chosen in _common() or _REPEATED.fullmatch(chosen):
        return True
    if any(chosen in series or chosen in series[::-1] for series in _SERIES):
        return True
    bare = _EDGES.sub("", chosen)
    return any(
        word in {chosen, bare} or (len(word) >= SHORTEST - _WORST_SHARE and _says(chosen, word))
        for word in _words_of(own_words)
    )


def _says(chosen: str, word: str) -> bool:
    return word in chosen and len(chosen) - len(word) < _WORST_SHARE


def _words_of(own_words: Iterable[str]) -> set[str]:
    """The words as they are, the part before an address's @, and without the spaces of a name."""
    known = {normalized(word).casefold() for word in own_words if word} | {"headgate"}
    known |= {word.partition("@")[0] for word in known}
    return {form for word in known for form in (word, re.sub(r"\s+", "", word)) if len(form) > _WORST_SHARE}


@cache
def _common() -> frozenset[str]:
    return frozenset((files(__package__) / "common.txt").read_text(encoding="utf-8").split())
