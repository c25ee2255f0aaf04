"""Lexical search: which components or ready-made flows a few words are about. No model, no network."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from math import log

from rapidfuzz import process
from rapidfuzz.distance import OSA

from headgate.features.catalog.words import base_forms, word_set, words
from headgate.graph.template import Catalog, Template

_TYPO_FROM = 5
"""Letters a word has at least before a slip of the keyboard is forgiven."""
_TYPO_WEIGHT = 0.6
_PREFIX_WEIGHT = 0.7
_PREFIX_FROM = 4
_TELLING = 1.0
"""Weight of a text from which on its words say what an entry is about; less has the help of a field."""
_NOISE = word_set(
    "a an the of to in on for and or with from by is are be it its this that my your me i you we can do does "
    "how what which one some any all each every please want need flow component components step node use using "
    "there"
)


@dataclass(frozen=True, slots=True)
class Match:
    """One hit: the key of the entry and how well it fits, higher is better."""

    key: str
    score: float


class WordIndex:
    """Entries of weighted words, searched by sum of rarity over shared words.

    Args:
        entries: For each key the texts that describe it with the weight of each text.
    """

    def __init__(self, entries: Mapping[str, Sequence[tuple[str, float]]]) -> None:
        weights: dict[str, dict[str, float]] = defaultdict(dict)
        for key, texts in entries.items():
            for text, weight in texts:
                for word in words(text):
                    if word not in _NOISE:
                        _add(weights, key, word, weight)
        count = max(1, len(entries))
        self._about = frozenset(form for form, posting in weights.items() if max(posting.values()) >= _TELLING)
        self._postings = {form: _by_rarity(posting, count) for form, posting in weights.items()}
        self._sorted = sorted(self._postings)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for form in self._sorted:
            self._by_length[len(form)].append(form)

    def search(self, query: str, *, most: int = 8) -> list[Match]:
        """The best entries for a query, best first; empty when no word of it is known."""
        scores: dict[str, float] = defaultdict(float)
        for word in dict.fromkeys(words(query[:2000])):
            if word in _NOISE:
                continue
            for key, weight in self._hits(word).items():
                scores[key] += weight
        ranked = nsmallest(most, scores.items(), key=lambda item: (-item[1], item[0]))
        return [Match(key, round(score, 4)) for key, score in ranked]

    def strange_words(self, query: str) -> list[str]:
        """The words of a query that no entry is about: none has them in its name, keywords or description."""
        return [word for word in self.sought_words(query) if not any(form in self._about for form in self._forms(word))]

    def sought_words(self, query: str) -> list[str]:
        """The words of a query that are looked for."""
        return [word for word in dict.fromkeys(words(query[:2000])) if word not in _NOISE]

    def _forms(self, word: str) -> Iterator[str]:
        """The forms under which a word is known, those a slip away and those that start alike included."""
        forms = [form for form in base_forms(word) if form in self._postings]
        yield from forms or (*self._slips(word), *self._starts(word))

    def _hits(self, word: str) -> Mapping[str, float]:
        found = [posting for form in base_forms(word) if (posting := self._postings.get(form))]
        return (found[0] if len(found) == 1 else _best(found)) if found else self._near_hits(word)

    def _near_hits(self, word: str) -> Mapping[str, float]:
        """Hits of words that start alike, else of words a slip away; only asked for unknown words."""
        likeness = dict.fromkeys(self._slips(word), _TYPO_WEIGHT) | dict.fromkeys(self._starts(word), _PREFIX_WEIGHT)
        return _best(
            {key: own * weight for key, own in self._postings[known].items()} for known, weight in likeness.items()
        )

    def _starts(self, word: str) -> Iterator[str]:
        """Known words that begin with the word, and those that it begins with."""
        if len(word) < _PREFIX_FROM:
            return
        for at in range(bisect_left(self._sorted, word), len(self._sorted)):
            if not self._sorted[at].startswith(word):
                break
            yield self._sorted[at]
        for end in range(_PREFIX_FROM, len(word)):
            if word[:end] in self._postings:
                yield word[:end]

    def _slips(self, word: str) -> Iterator[str]:
        """Known words that one letter more, fewer, other or swapped makes of the word."""
        if len(word) < _TYPO_FROM:
            return
        for length in range(len(word) - 1, len(word) + 2):
            known = self._by_length.get(length, ())
            for form, _, _ in process.extract(word, known, scorer=OSA.distance, score_cutoff=1, limit=None):
                yield form


def _add(weights: dict[str, dict[str, float]], key: str, word: str, weight: float) -> None:
    for form in base_forms(word):
        posting = weights[form]
        posting[key] = max(weight, posting.get(key, 0.0))


def _by_rarity(posting: Mapping[str, float], count: int) -> dict[str, float]:
    """The weights of a word, more for a word that few entries have."""
    rarity = log(1 + count / len(posting))
    return {key: weight * rarity for key, weight in posting.items()}


def _best(postings: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Each key with the highest weight that any of the postings gives it."""
    found: dict[str, float] = {}
    for posting in postings:
        for key, weight in posting.items():
            if weight > found.get(key, 0.0):
                found[key] = weight
    return found


def template_texts(template: Template) -> list[tuple[str, float]]:
    """What describes a component to the search, with weights."""
    texts = [(template.type, 3.0), (template.label, 3.0), (" ".join(template.keywords), 2.5)]
    texts += [(template.description, 1.0), (template.category, 0.5)]
    return texts + [(f"{field.label} {field.help}", 0.4) for field in template.fields]


def component_index(catalog: Catalog) -> WordIndex:
    """An index over every component of a catalog, keyed by type; one for all catalogs that say the same."""
    templates = [found for type_ in catalog.types() if (found := catalog.template(type_)) is not None]
    return _index_of(tuple((template.type, tuple(template_texts(template))) for template in templates))


@lru_cache(maxsize=4)
def _index_of(entries: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]) -> WordIndex:
    return WordIndex(dict(entries))
