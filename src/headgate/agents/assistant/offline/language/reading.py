"""A request as read: its tokens, what they can mean, and which parts have been acted upon."""

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Self

from headgate.agents.assistant.offline.language.corrections import without_second_thoughts
from headgate.agents.assistant.offline.language.lexicon import LIGHT_PREFIX, Mark, lexicon, without_dominated
from headgate.agents.assistant.offline.language.tokens import Kind, Token, tokenize
from headgate.agents.assistant.offline.language.vocabulary import LIGHT_WORDS
from headgate.features.catalog.words import word_set

_ACTIONS = ("v.", "m.", "r.")
_DETERMINERS = word_set(
    "a an the this that these those my our your their its his her every each any some no which what whose "
    "another such den det en ett de min mitt mina varje"
)
_BEFORE_VERB = word_set(
    "and then also or please to can could would you i we must should will just now not it only that which lets "
    "let's first & but och sedan kan du vill jag ska att snälla bara so kindly next finally afterwards always "
    "n't don't whom they be is are gets get being automatically help me us them want need like som"
)
_BEFORE_GERUND = word_set("by before after for without of while then and innan efter genom start begin in on from")
_CLAUSE_LINKS = frozenset({"l.then", "l.join", "l.else", "l.so", "l.also"})
_EMPTY_SIGNS = frozenset("()[]%*~-–—/'\"@&")
_STRONG = word_set(
    "keep save extract remove replace combine merge split sort filter show display print fetch download write "
    "send put take get find pick store join convert calculate wait drop delete group limit spara visa ta "
    "sortera"
)
"""Verbs that are hardly ever nouns: one of them begins a clause even with nothing between."""
_PUNCTUATION = {Kind.STOP, Kind.COMMA, Kind.COLON}


class Reading:
    """Tokens with their marks. Grammar rules claim tokens as used; what stays unclaimed is reported to the user."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens, taken_back = without_second_thoughts(tokenize(text))
        self.taken_back = tuple(text[start:end] for start, end in taken_back)
        self._every_mark, self.corrected = lexicon().mark(self.tokens)
        self.marks: list[list[Mark]] = without_dominated(self._every_mark)
        self.used: set[int] = set()
        self._inside_light = _inside_light(self.marks)

    def again(self) -> Self:
        """The same request with nothing claimed yet, for another way to understand it."""
        other = copy(self)
        other.marks = without_dominated(self._every_mark)
        other.used = set()
        return other

    def __len__(self) -> int:
        return len(self.tokens)

    def mark(self, at: int, *senses: str) -> Mark | None:
        """The longest mark at a token whose sense is, or begins with, one of these."""
        if not 0 <= at < len(self.tokens):
            return None
        return next((mark for mark in self.marks[at] if mark.sense.startswith(senses)), None)

    def meant(self, at: int) -> str:
        """The word as written, or as it was meant when it is a slip of a known one."""
        return self.corrected.get(at, self.tokens[at].text)

    def senses(self, start: int, end: int) -> set[str]:
        """Every sense in a range, and its first part with a dot: `u.line` and `u.`."""
        found = {mark.sense for at in range(start, end) for mark in self.marks[at]}
        return found | {sense.partition(".")[0] + "." for sense in found}

    def find(self, start: int, end: int, *senses: str) -> Mark | None:
        """The first such mark that begins in a range."""
        return next(self.find_all(start, end, *senses), None)

    def find_all(self, start: int, end: int, *senses: str) -> Iterator[Mark]:
        """Every such mark that begins in a range, one a place."""
        for at in range(start, min(end, len(self.tokens))):
            mark = self.mark(at, *senses)
            if mark is not None:
                yield mark

    def open_phrase(self, start: int, end: int) -> None:
        """Read the words of a phrase one by one: `if it is` before `Norway` is no phrase after all."""
        for at in range(start, end):
            self.marks[at] = [
                mark for mark in self._every_mark[at] if mark.end <= end and (at > start or mark.end < end)
            ]

    def within(self, at: int, *senses: str) -> bool:
        """Whether a token lies in a phrase of one of these senses."""
        return any(
            mark.sense.startswith(senses) and mark.end > at
            for start in range(max(0, at - 5), at + 1)
            for mark in self.marks[start]
        )

    def is_noun(self, at: int, sense: str) -> bool:
        """Whether a single word has a sense, also where it begins a longer phrase: `total` in `the column total of`."""
        return any(mark.sense == sense and mark.end == at + 1 for mark in self._every_mark[at])

    def is_light(self, at: int) -> bool:
        """Whether a token carries no meaning of its own: articles, helpers, courtesies."""
        token = self.tokens[at]
        if token.kind is Kind.SYMBOL:
            return token.text in _EMPTY_SIGNS
        if token.kind is not Kind.WORD:
            return False
        return (
            self.mark(at, LIGHT_PREFIX) is not None
            or at in self._inside_light
            or (not self.marks[at] and token.word in LIGHT_WORDS)
        )

    def is_punctuation(self, at: int) -> bool:
        """Whether a token only divides."""
        return self.tokens[at].kind in _PUNCTUATION

    def claim(self, start: int, end: int) -> None:
        """Note that the tokens of a range have been acted upon."""
        self.used.update(range(start, end))

    def source(self, start: int, end: int) -> str:
        """The words of a range as the user wrote them."""
        if start >= end:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def is_action(self, at: int) -> bool:
        """Whether a verb of the vocabulary stands here as a verb: `count the lines`, not `the count`."""
        mark = self.mark(at, *_ACTIONS)
        if mark is None:
            return False
        before = self._before(at)
        word = self.tokens[at].word
        if before is None or before.kind in _PUNCTUATION or self._ends_link(at):
            return True
        if before.word in _DETERMINERS and not (before.word in {"that", "which"} and word.endswith("s")):
            return False
        if self.mark(at - 1, "d.det") is not None and self.mark(at - 1, "ref.", "d.pronoun", "d.connector") is None:
            return False
        if word.endswith("ing") and before.word in _BEFORE_GERUND:
            return True
        if before.word in _BEFORE_VERB:
            return True
        if word in _STRONG and not self._is_preposition(at - 1) and self.mark(at - 1, "d.det", "p.") is None:
            return True
        if self._is_passive(at, mark.end):
            return True
        return self._starts_object(mark.end) and not word.endswith(("ed", "ing")) and not self._is_preposition(at - 1)

    def _ends_link(self, at: int) -> bool:
        """Whether a linking phrase such as `otherwise` stands right before."""
        return any(
            mark.end == at and mark.sense in _CLAUSE_LINKS
            for start in range(max(0, at - 6), at)
            for mark in self.marks[start]
        )

    def _is_passive(self, at: int, end: int) -> bool:
        """`the product shown`, `the result saved as ...`: a participle that ends a clause or leads to where it goes."""
        participle = (
            self.tokens[at].word.endswith(("ed", "en", "wn", "nt"))
            and self.mark(at, "v.save", "v.show", "v.send") is not None
        )
        return participle and (
            end >= len(self.tokens) or self.is_punctuation(end) or self.mark(end, "p.into", "p.to") is not None
        )

    def _before(self, at: int) -> Token | None:
        return self.tokens[at - 1] if at > 0 else None

    def _is_preposition(self, at: int) -> bool:
        return self.mark(at, "d.preposition", "p.") is not None

    def _starts_object(self, at: int) -> bool:
        """Whether what follows a verb is its object: an article, a pronoun, a number, something quoted."""
        if at >= len(self.tokens):
            return False
        token = self.tokens[at]
        literal = token.kind in {Kind.NUMBER, Kind.QUOTED, Kind.URL, Kind.FILE, Kind.FORMULA, Kind.PATH}
        return literal or token.word in _DETERMINERS or self.mark(at, "ref.") is not None

    def left_out(self) -> list[str]:
        """The parts nobody acted upon, as the user wrote them."""
        loose = [at for at in range(len(self.tokens)) if self.is_content(at) and at not in self.used]
        return [self.source(group[0], group[-1] + 1) for group in _runs(loose, self)]

    def is_content(self, at: int) -> bool:
        """Whether a token says something a flow could act on."""
        plain = self.is_light(at) or self.tokens[at].word in LIGHT_WORDS or self.within(at, "ref.")
        return not self.is_punctuation(at) and not plain and self.tokens[at].kind is not Kind.SYMBOL

    def coverage(self, start: int = 0, end: int | None = None) -> float:
        """The share of content tokens acted upon, 0 to 1; 1 when there is no content."""
        content = [at for at in range(start, len(self.tokens) if end is None else end) if self.is_content(at)]
        return sum(at in self.used for at in content) / len(content) if content else 1.0


def _inside_light(marks: list[list[Mark]]) -> set[int]:
    """The tokens inside a longer phrase that only links or carries no meaning: `of` in `out of`."""
    prefixes = (LIGHT_PREFIX, "p.", "l.", "q.")
    return {
        at
        for found in marks
        for mark in found
        if mark.sense.startswith(prefixes)
        for at in range(mark.start, mark.end)
        if mark.end - mark.start > 1
    }


def _runs(places: Iterable[int], reading: Reading) -> list[list[int]]:
    """Places grouped where only light words stand between them."""
    runs: list[list[int]] = []
    for at in places:
        near = runs and all(reading.is_light(between) for between in range(runs[-1][-1] + 1, at))
        if near and at - runs[-1][-1] <= 3:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs
