"""Lexical search for components or template flows. No model, no network."""

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
"""Minimum length of a word for tolerance of typing errors."""
_TYPO_WEIGHT = 0.6
_PREFIX_WEIGHT = 0.7
_PREFIX_FROM = 4
_TELLING = 1.0
"""Minimum weight of a text whose words define an entry's topic; less has the help of a field."""
_NOISE = word_set(
    "a an the of to in on for and or with from by is are be it its this that my your me i you we can do does "
    "how what which one some any all each every please want need flow component components step node use using "
    "there"
)


@dataclass(frozen=True, slots=True)
class Match:
    """A search result: the key of the entry and its score, higher is better."""

    key: str
    score: float


class WordIndex:
    """Entries of weighted words, scored by the sum of rarity over matching words.

    Args:
        entries: For each key the describing texts with their weights.
        background: An index whose results are ranked together with these; a word is as rare as it is in both.
    """

    def __init__(
        self, entries: Mapping[str, Sequence[tuple[str, float]]], *, background: "WordIndex | None" = None
    ) -> None:
        weights: dict[str, dict[str, float]] = defaultdict(dict)
        for key, texts in entries.items():
            for text, weight in texts:
                for term in words(text):
                    if term not in _NOISE:
                        _add(weights, key, term, weight)
        others: Mapping[str, Mapping[str, float]] = background.postings if background is not None else {}
        self.count: int = max(1, len(entries)) + (background.count if background is not None else 0)
        self._about = frozenset(form for form, posting in weights.items() if max(posting.values()) >= _TELLING)
        self.postings: dict[str, dict[str, float]] = {
            form: _by_rarity(posting, self.count / (len(posting) + len(others.get(form, ()))))
            for form, posting in weights.items()
        }
        self._sorted = sorted(self.postings)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for form in self._sorted:
            self._by_length[len(form)].append(form)

    def search(self, query: str, *, most: int = 8) -> list[Match]:
        """Return the best entries for a query, best first; empty when no word matches."""
        scores: dict[str, float] = defaultdict(float)
        for term in dict.fromkeys(words(query[:2000])):
            if term in _NOISE:
                continue
            for key, weight in self._hits(term).items():
                scores[key] += weight
        ranked = nsmallest(most, scores.items(), key=lambda item: (-item[1], item[0]))
        return [Match(key, round(score, 4)) for key, score in ranked]

    def strange_words(self, query: str) -> list[str]:
        """Return the words of a query that occur in no entry's name, keywords or description."""
        return [term for term in self.sought_words(query) if not any(form in self._about for form in self._forms(term))]

    def sought_words(self, query: str) -> list[str]:
        """Return the words of a query that are searched."""
        return [term for term in dict.fromkeys(words(query[:2000])) if term not in _NOISE]

    def _forms(self, term: str) -> Iterator[str]:
        """Yield the known forms of a word, including similar spellings and shared prefixes."""
        forms = [form for form in base_forms(term) if form in self.postings]
        yield from forms or (*self._slips(term), *self._starts(term))

    def _hits(self, term: str) -> Mapping[str, float]:
        postings = [posting for form in base_forms(term) if (posting := self.postings.get(form))]
        return (postings[0] if len(postings) == 1 else _best(postings)) if postings else self._near_hits(term)

    def _near_hits(self, term: str) -> Mapping[str, float]:
        """Return matches of shared prefixes, else of similar spellings; only used for unknown words."""
        likeness = dict.fromkeys(self._slips(term), _TYPO_WEIGHT) | dict.fromkeys(self._starts(term), _PREFIX_WEIGHT)
        return _best(
            {key: base_weight * weight for key, base_weight in self.postings[similar].items()}
            for similar, weight in likeness.items()
        )

    def _starts(self, term: str) -> Iterator[str]:
        """Yield known words with the word as prefix, and prefixes of it."""
        if len(term) < _PREFIX_FROM:
            return
        for at in range(bisect_left(self._sorted, term), len(self._sorted)):
            if not self._sorted[at].startswith(term):
                break
            yield self._sorted[at]
        for end in range(_PREFIX_FROM, len(term)):
            if term[:end] in self.postings:
                yield term[:end]

    def _slips(self, term: str) -> Iterator[str]:
        """Yield known words that differ by one added, missing, changed or swapped letter."""
        if len(term) < _TYPO_FROM:
            return
        for length in range(len(term) - 1, len(term) + 2):
            candidates = self._by_length.get(length, ())
            for form, _, _ in process.extract(term, candidates, scorer=OSA.distance, score_cutoff=1, limit=None):
                yield form


def _add(weights: dict[str, dict[str, float]], key: str, term: str, weight: float) -> None:
    for form in base_forms(term):
        posting = weights[form]
        posting[key] = max(weight, posting.get(key, 0.0))


def _by_rarity(posting: Mapping[str, float], entries_per_hit: float) -> dict[str, float]:
    """Return the weights of a word, higher for rare words."""
    rarity = log(1 + entries_per_hit)
    return {key: weight * rarity for key, weight in posting.items()}


def _best(postings: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return each key with its highest weight in any of the postings."""
    weights: dict[str, float] = {}
    for posting in postings:
        for key, weight in posting.items():
            if weight > weights.get(key, 0.0):
                weights[key] = weight
    return weights


def template_texts(template: Template) -> list[tuple[str, float]]:
    """Return the describing texts of a component, with weights."""
    texts = [(template.type, 3.0), (template.label, 3.0), (" ".join(template.keywords), 2.5)]
    texts += [(template.description, 1.0), (template.category, 0.5)]
    return texts + [(f"{field.label} {field.help}", 0.4) for field in template.fields]


def component_index(catalog: Catalog) -> WordIndex:
    """Return an index over every component of a catalog, by type; shared by catalogs with equal content."""
    templates = [template for type_ in catalog.types() if (template := catalog.template(type_)) is not None]
    return _index_of(tuple((template.type, tuple(template_texts(template))) for template in templates))


@lru_cache(maxsize=4)
def _index_of(entries: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]) -> WordIndex:
    return WordIndex(dict(entries))
