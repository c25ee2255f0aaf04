"""Names in messages: the nearest valid one, and short lists."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from rapidfuzz import fuzz, process

else:
    fuzz = lazy_module("rapidfuzz.fuzz")
    process = lazy_module("rapidfuzz.process")


SIMILAR_ENOUGH = 60.0
"""Minimum similarity, of 100, of a suggested name."""
_LONGEST = 64
_NOT_A_WORD = re.compile(r"[\W_]+")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def nearest(name: str, candidates: Iterable[str], *, at_least: float = SIMILAR_ENOUGH) -> str | None:
    """Return the most likely candidate for `name`, ignoring case and separators; None when none is similar.

    Nothing is similar to a UUID: any two share half of their characters by chance.
    """
    choices = list(dict.fromkeys(candidates))
    if not choices or not name or _ID.fullmatch(name):
        return None
    plain_name = _plain(name[:_LONGEST])
    match = process.extractOne(plain_name, choices, scorer=fuzz.ratio, processor=_plain, score_cutoff=at_least)
    if match is not None:
        return str(match[0])
    if at_least > SIMILAR_ENOUGH:
        return None
    return next((choice for choice in choices if _contains(plain_name, _plain(choice))), None)


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """Return `; did you mean 'input'?`, or an empty text when no candidate is similar."""
    candidate = nearest(name, candidates)
    return f"; did you mean '{candidate}'?" if candidate else ""


def sentence(text: str) -> str:
    """Return the text with a full stop, unless it already ends with a question mark."""
    return text if text.endswith(("?", ".")) else text + "."


def listed(names: Iterable[str], *, most: int = 8, none: str = "none") -> str:
    """`input, prompt, model and 4 more`."""
    all_names = list(names)
    if not all_names:
        return none
    excess = len(all_names) - most
    return ", ".join(all_names[:most]) + (f" and {excess} more" if excess > 0 else "")


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return `name`, or `name_2`, `name_3`... when taken. At most 64 characters."""
    used = taken if isinstance(taken, (set, frozenset, dict)) else set(taken)
    if name not in used:
        return name
    number = 2
    while True:
        ending = f"_{number}"
        candidate = name[: _LONGEST - len(ending)] + ending
        if candidate not in used:
            return candidate
        number += 1


def clipped(text: str, width: int = 60) -> str:
    """Return one line of at most `width` characters, with an ellipsis when it was cut."""
    line = " ".join(text[: width * 4].split())
    return line if len(line) <= width and len(text) <= width * 4 else line[: width - 1] + "…"


def _plain(name: str) -> str:
    return _NOT_A_WORD.sub("", name).lower()


def _contains(name: str, choice: str) -> bool:
    shorter, longer = sorted((name, choice), key=len)
    return len(shorter) >= 3 and (longer.startswith(shorter) or longer.endswith(shorter))
