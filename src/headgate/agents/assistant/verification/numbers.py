"""Numbers that an answer reports, compared with the numbers of everything that was read and run. Pure."""

import re
from collections.abc import Iterator

_GROUPED = r"\d{1,3}(?:[ ,.\u00a0\u202f]\d{3})+(?:[.,]\d+)?"
_PLAIN = r"\d+(?:[.,]\d+)?"
_NUMBER = re.compile(rf"(?<![\w.,:#/-])(?:{_GROUPED}|{_PLAIN})(?![\w:/-])")
_IN_EVIDENCE = re.compile(r"\d[\d.,]*")
_SMALLEST = 10
"""Whole numbers up to this are counted and numbered freely; larger ones and decimals are results."""
_SCALES = (1.0, 100.0, 0.01, 0.001, 1000.0)
"""A share can be given in percent, milliseconds in seconds, and vice versa."""


def unknown_number(sentence: str, evidence: frozenset[float]) -> str:
    """The first number of a sentence that is in no evidence, however rounded; empty when there is none."""
    for match in _NUMBER.finditer(sentence):
        readings = list(_readings(match[0]))
        if all(value <= _SMALLEST and places == 0 for value, places in readings):
            continue
        if not any(_is_in(value, places, evidence) for value, places in readings):
            return match[0]
    return ""


def numbers_of(text: str) -> frozenset[float]:
    """Every number in a text, in each way it can be read."""
    return frozenset(value for match in _IN_EVIDENCE.finditer(text) for value, _ in _readings(match[0].strip(".,")))


def _is_in(value: float, places: int, evidence: frozenset[float]) -> bool:
    near = 0.5 * 10**-places * 1.000001
    return any(abs(known * scale - value) <= near for known in evidence for scale in _SCALES)


def _readings(written: str) -> Iterator[tuple[float, int]]:
    """The values that a written number can have, and the places after its decimal sign."""
    plain = re.sub(r"[ \u00a0\u202f]", "", written)
    for grouping, decimal in ((",", "."), (".", ",")):
        candidate = plain.replace(grouping, "").replace(decimal, ".")
        try:
            yield float(candidate), len(candidate.partition(".")[2])
        except ValueError:
            continue
