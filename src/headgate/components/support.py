"""Checks by rule whether the passages that a sentence cites support it. Pure.

A sentence is supported when it cites a passage that exists, most of its words are in the cited passages, and all of its
numbers are. This finds invented facts and wrong numbers; it does not judge whether a conclusion is right.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.graph.statements import LEAST_SHARE, UNSUPPORTED, missing_numbers, missing_words

_CITATION = re.compile(r"\[(\d{1,3})\]")
_PART = re.compile(r"\S.*?(?:[.!?…](?=[\s\[\"'”’)]|$)[\"'”’)]*|[。！？]|\n|$)(?:\s*\[\d{1,3}\])*", re.DOTALL)
_ABBREVIATIONS = (
    "approx art bl ca cf co dr eg etc ex fig inc jr kap kl ltd mr mrs ms nr osv pp prof resp sec sr st tex vs"
)
_CONTINUES = re.compile(
    rf"(?:^\W*(?:\d{{1,3}}|[^\W\d_])|(?:^|[\s.(])(?:[^\W\d_]|{'|'.join(_ABBREVIATIONS.split())}))\.$|:$", re.IGNORECASE
)
"""The end of a part that is no sentence: a number of a list item, an abbreviation, an initial, what leads to a list."""
_MARKER = re.compile(r"^\s*\(?(?:\d{1,3}|[^\W\d_])[.)]\s", re.MULTILINE)
"""Numbers of list items."""


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """A sentence of an answer, and whether the passages that it cites support it."""

    text: str
    cited: tuple[int, ...]
    supported: bool
    reason: str
    """Why it is not supported; empty when it is."""

    def as_data(self) -> dict[str, JsonValue]:
        """Return the members as JSON."""
        return {"text": self.text, "cited": list(self.cited), "supported": self.supported, "reason": self.reason}


def check_support(answer: str, passages: Sequence[str]) -> tuple[SentenceSupport, ...]:
    """Return the support of each sentence, a part of the answer; passages are numbered from 1."""
    return tuple(_checked(sentence, passages) for sentence in _sentences(answer) if _has_statement(sentence))


def marked_answer(answer: str, sentences: Sequence[SentenceSupport]) -> str:
    """Return the answer with its lines as they are, in which sentences without support are marked."""
    marked, place = "", 0
    for sentence in sentences:
        end = answer.index(sentence.text, place) + len(sentence.text)
        marked += answer[place:end] + ("" if sentence.supported else f" {UNSUPPORTED}")
        place = end
    return (marked + answer[place:]).strip()


def _sentences(answer: str) -> Iterator[str]:
    """Yield sentences: parts up to a full stop or the end of a line, unless the sentence continues."""
    start: int | None = None
    for part in _PART.finditer(answer):
        start = part.start() if start is None else start
        if not _CONTINUES.search(part[0].strip()):
            yield answer[start : part.end()].strip()
            start = None
    if start is not None:
        yield answer[start:].strip()


def _has_statement(sentence: str) -> bool:
    return any(character.isalnum() for character in _CITATION.sub("", sentence))


def _checked(sentence: str, passages: Sequence[str]) -> SentenceSupport:
    cited = tuple(dict.fromkeys(int(number) for number in _CITATION.findall(sentence)))
    reason = _fault(sentence, cited, passages)
    return SentenceSupport(sentence, cited, not reason, reason)


def _fault(sentence: str, cited: Sequence[int], passages: Sequence[str]) -> str:
    missing = [number for number in cited if not 1 <= number <= len(passages)]
    if missing:
        return f"It cites [{missing[0]}], and there are {len(passages)} passages."
    if not cited:
        return "It cites no passage."
    text = _CITATION.sub(" ", _MARKER.sub(" ", sentence))
    source = "\n".join(passages[number - 1] for number in cited)
    invented = missing_numbers(text, source)
    if invented:
        return f"The number {invented[0]} is in none of the cited passages."
    absent, number = missing_words(text, source)
    if number and number - absent < LEAST_SHARE * number:
        return f"{absent} of its {number} words are in none of the cited passages."
    return ""
