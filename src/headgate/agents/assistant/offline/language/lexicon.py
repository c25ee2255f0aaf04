"""Marks tokens with what they can mean; several senses may stand on the same words, the grammar chooses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from headgate.agents.assistant.offline.language.spelling import Speller
from headgate.agents.assistant.offline.language.tokens import Kind, Token, tokenize
from headgate.agents.assistant.offline.language.vocabulary import phrases
from headgate.agents.assistant.offline.language.vocabulary.measures import SWEDISH_MARKERS, SWEDISH_ONLY
from headgate.features.catalog.words import base_forms

_SWEDISH_ENDINGS = ("arna", "erna", "orna", "na", "ar", "er", "or", "en", "et", "n", "t", "s", "a", "r")
_MARKABLE = {Kind.WORD, Kind.COMPARISON, Kind.SYMBOL, Kind.PATH}
LIGHT_PREFIX = "d."


@dataclass(frozen=True, slots=True)
class Mark:
    """A sense of the tokens from `start` up to `end`."""

    sense: str
    start: int
    end: int


Trie = dict[str, list[tuple[tuple[str, ...], str]]]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Phrases by their first word, and the speller over their words."""

    english: Trie
    swedish: Trie
    words: frozenset[str]
    """Every English word of a phrase; none of them is a slip."""
    speller: Speller

    def mark(self, tokens: Sequence[Token]) -> tuple[list[list[Mark]], dict[int, str]]:
        """For each token every mark that starts there, longest first; and the words that were taken for slips."""
        swedish = _is_swedish(tokens)
        slips: dict[int, str] = {}
        forms = [self._forms(at, token, slips, swedish=swedish) for at, token in enumerate(tokens)]
        tries = (self.english, self.swedish) if swedish else (self.english,)
        return [_marks_at(tries, forms, start) for start in range(len(tokens))], slips

    def _forms(self, at: int, token: Token, slips: dict[int, str], *, swedish: bool) -> tuple[str, ...]:
        if token.kind not in _MARKABLE:
            return ()
        forms = base_forms(token.word)
        if "-" in token.word:
            forms += base_forms(token.word.replace("-", ""))
        if swedish and token.word not in self.swedish:
            cut = [
                token.word[: -len(end)]
                for end in _SWEDISH_ENDINGS
                if token.word.endswith(end) and len(token.word) - len(end) > 2
            ]
            forms += tuple(cut)
        if (
            not any(form in self.words or (swedish and form in self.swedish) for form in forms)
            and token.kind is Kind.WORD
        ):
            meant = self.speller.correct(token.word)
            if meant:
                slips[at] = meant
                forms += base_forms(meant)
        return forms


def _is_swedish(tokens: Sequence[Token]) -> bool:
    words = {token.word for token in tokens}
    foreign = any(char in "åäö" for token in tokens if token.kind is Kind.WORD for char in token.word)
    return foreign or len(words & SWEDISH_ONLY) >= 1 or len(words & SWEDISH_MARKERS) >= 3


def _marks_at(tries: Iterable[Trie], forms: list[tuple[str, ...]], start: int) -> list[Mark]:
    found = {
        Mark(sense, start, start + len(words))
        for trie in tries
        for form in forms[start]
        for words, sense in trie.get(form, ())
        if all(start + n < len(forms) and words[n] in forms[start + n] for n in range(1, len(words)))
    }
    return sorted(found, key=lambda mark: (mark.start - mark.end, mark.sense))


def without_dominated(found: list[list[Mark]]) -> list[list[Mark]]:
    """Drop what lies inside a longer phrase: in `phone number` there is no number."""
    kept: list[list[Mark]] = []
    reach = 0
    for start, marks in enumerate(found):
        if start < reach:
            kept.append([mark for mark in marks if mark.end > reach])
        else:
            best = max((mark.end for mark in marks), default=0)
            kept.append([mark for mark in marks if mark.end == best])
            reach = best if best - start > 1 else reach
    return kept


def build_trie(entries: Iterable[tuple[str, str]]) -> Trie:
    """Index phrases by their first word."""
    trie: Trie = {}
    for phrase, sense in entries:
        words = tuple(token.word for token in tokenize(phrase)) if not phrase.isalpha() else (phrase,)
        if words:
            trie.setdefault(words[0], []).append((words, sense))
    return trie


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The lexicon of the built-in vocabulary, built at first use."""
    english, swedish = build_trie(phrases("en")), build_trie(phrases("sv"))
    words = frozenset(word for entries in english.values() for parts, _ in entries for word in parts)
    telling = {
        word
        for entries in english.values()
        for parts, sense in entries
        for word in parts
        if sense[:2] not in {"d.", "q.", "l."}
    }
    return Lexicon(english, swedish, words, Speller(telling, words))
