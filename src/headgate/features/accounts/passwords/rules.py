"""Password rules after NIST SP 800-63B (3.1.1.2): long, any characters, not obvious.

`common.txt` contains the passwords of twelve characters and more among the 30,000 most used, from zxcvbn's frequency
list (MIT licence), which was counted in Mark Burnett's ten million leaked passwords.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from headgate.foundation.errors import Invalid

SHORTEST = 12
LONGEST = 1024
"""In characters, so that the hashing time does not depend on the length."""
_REPEATED = re.compile(r"(.{1,8})\1+", re.DOTALL)
_EDGES = re.compile(r"^[\W\d_]+|[\W\d_]+$")
_SERIES = ("abcdefghijklmnopqrstuvwxyzåäö", "01234567890123456789", "qwertyuiopasdfghjklzxcvbnm")
_WORST_SHARE = 4
"""A word of the account that leaves fewer characters than this around it makes the password obvious."""


class PasswordRefused(Invalid):
    """A password that is easy to guess."""

    code = "password_refused"


def normalized(password: str) -> str:
    """Return the password in Unicode's NFKC, independent of how a keyboard composes letters."""
    return unicodedata.normalize("NFKC", password)


def check_password(password: str, *, own_words: Iterable[str] = ()) -> None:
    """Raise `PasswordRefused` when a password may not be used.

    Args:
        password: The new password.
        own_words: Public data of the account: e-mail address and user name.
    """
    normal = normalized(password)
    if len(normal) < SHORTEST:
        raise PasswordRefused(
            f"A password must have at least {SHORTEST} characters.", remedy="Four unrelated words make a good password."
        )
    if len(normal) > LONGEST:
        raise PasswordRefused(f"A password must have at most {LONGEST} characters.", remedy="Choose a shorter one.")
    if _is_obvious(normal.casefold(), own_words):
        raise PasswordRefused(
            "This password is easy to guess: it is a common one, a repetition, or based on your name or "
            "e-mail address.",
            remedy="Choose one that is unrelated to you. Four unrelated words make a good password.",
        )


def _is_obvious(password: str, own_words: Iterable[str]) -> bool:
    if password in _common() or _REPEATED.fullmatch(password):
        return True
    if any(password in series or password in series[::-1] for series in _SERIES):
        return True
    core = _EDGES.sub("", password)
    return any(
        own_word in {password, core} or (len(own_word) >= SHORTEST - _WORST_SHARE and _is_mostly(password, own_word))
        for own_word in _words_of(own_words)
    )


def _is_mostly(password: str, own_word: str) -> bool:
    return own_word in password and len(password) - len(own_word) < _WORST_SHARE


def _words_of(own_words: Iterable[str]) -> set[str]:
    """Return the words, the local part of an address, and a name without its spaces."""
    terms = {normalized(own_word).casefold() for own_word in own_words if own_word} | {"headgate"}
    terms |= {term.partition("@")[0] for term in terms}
    return {form for term in terms for form in (term, re.sub(r"\s+", "", term)) if len(form) > _WORST_SHARE}


@cache
def _common() -> frozenset[str]:
    return frozenset((files(__package__) / "common.txt").read_text(encoding="utf-8").split())
