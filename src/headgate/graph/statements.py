"""Compares what texts state by rule: their numbers, and the stems of their longer words. Pure."""

import re

LEAST_SHARE = 0.5
"""Least part of the words of a statement that must be in what it is compared with."""
UNSUPPORTED = "[not supported]"
"""Mark behind a sentence of an answer that no cited passage supports."""
NO_ANSWER = "No document of the knowledge base supports an answer."
"""Answer of a step when no passage supports one."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]{4,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ANY_WORD = re.compile(r"\w+")
_STEM = 5
"""Characters of a word that are compared: an ending in another form makes no difference."""


def missing_numbers(text: str, source: str) -> list[str]:
    """Return the numbers of a text that are not in a source, sorted."""
    return sorted(_numbers(text) - _numbers(source))


def missing_words(text: str, source: str) -> tuple[int, int]:
    """Return how many words of a text are not in a source, and how many it has."""
    words = _words(text)
    return len(words - _words(source)), len(words)


def difference(text: str, source: str) -> str:
    """Return what of a text is not in a source, to be read after "it lacks"; empty when enough of it is.

    Of a text without numbers and longer words, such as "No", all words count.
    """
    numbers = missing_numbers(text, source)
    if numbers:
        return f"the number {numbers[0]}"
    missing, number = missing_words(text, source)
    if not number and not _numbers(text):
        words = set(_ANY_WORD.findall(text.casefold()))
        missing, number = len(words - set(_ANY_WORD.findall(source.casefold()))), len(words)
    return f"{missing} of {number} words" if number and number - missing < LEAST_SHARE * number else ""


def _numbers(text: str) -> set[str]:
    return {number.replace(",", ".").rstrip(".") for number in _NUMBER.findall(text)}


def _words(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.casefold())}
