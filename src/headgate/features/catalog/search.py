"""Lexical search: which components or ready-made flows a few words are about. No model, no network."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from rapidfuzz.distance import OSA

from headgate.features.catalog.words import base_forms, word_set, words
from headgate.graph.template import Catalog, Template

_TYPO_FROM = 5
"""Letters a word has at least before a slip of the keyboard is forgiven."""
_TYPO_WEIGHT = 0.6
_PREFIX_WEIGHT = 0.7
_PREFIX_FROM = 4
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
        self._postings: dict[str, dict[str, float]] = defaultdict(dict)
        for key, texts in entries.items():
            for text, weight in texts:
                for word in words(text):
                    if word not in _NOISE:
                        self._add(key, word, weight)
        self._count = max(1, len(entries))
        self._known = tuple(self._postings)

    def search(self, query: str, *, most: int = 8) -> list[Match]:
        """The best entries for a query, best first; empty when no word of it is known."""
        scores: dict[str, float] = defaultdict(float)
        for word in dict.fromkeys(words(query[:2000])):
            if word in _NOISE:
                continue
            for key, weight in self._hits(word).items():
                scores[key] += weight
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return [Match(key, round(score, 4)) for key, score in ranked[:most]]

    def _add(self, key: str, word: str, weight: float) -> None:
        for form in base_forms(word):
            posting = self._postings[form]
            posting[key] = max(weight, posting.get(key, 0.0))

    def _hits(self, word: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for form in base_forms(word):
            for key, weight in self._postings.get(form, {}).items():
                found[key] = max(found.get(key, 0.0), weight * self._rarity(form))
        return found or self._near_hits(word)

    def _near_hits(self, word: str) -> dict[str, float]:
        """Hits of words that start alike, else of words a slip away; only asked for unknown words."""
        found: dict[str, float] = {}
        for known in self._known:
            weight = _likeness(word, known)
            if weight:
                for key, own in self._postings[known].items():
                    found[key] = max(found.get(key, 0.0), own * weight * self._rarity(known))
        return found

    def _rarity(self, form: str) -> float:
        return log(1 + self._count / len(self._postings[form]))


def _likeness(word: str, known: str) -> float:
    shorter, longer = sorted((word, known), key=len)
    if len(shorter) >= _PREFIX_FROM and longer.startswith(shorter):
        return _PREFIX_WEIGHT
    if len(word) >= _TYPO_FROM and abs(len(word) - len(known)) <= 1 and OSA.distance(word, known, score_cutoff=1) <= 1:
        return _TYPO_WEIGHT
    return 0.0


def template_texts(template: Template) -> list[tuple[str, float]]:
    """What describes a component to the search, with weights."""
    texts = [(template.type, 3.0), (template.label, 3.0), (" ".join(template.keywords), 2.5)]
    texts += [(template.description, 1.0), (template.category, 0.5)]
    return texts + [(f"{field.label} {field.help}", 0.4) for field in template.fields]


def component_index(catalog: Catalog) -> WordIndex:
    """An index over every component of a catalog, keyed by type."""
    templates = [found for type_ in catalog.types() if (found := catalog.template(type_)) is not None]
    return WordIndex({template.type: template_texts(template) for template in templates})


def search_components(catalog: Catalog, query: str, *, most: int = 8) -> list[Template]:
    """The components a query is about, best first. Keep a `component_index` to search often."""
    return _templates(catalog, component_index(catalog).search(query, most=most))


def _templates(catalog: Catalog, matches: Iterable[Match]) -> list[Template]:
    return [found for match in matches if (found := catalog.template(match.key)) is not None]
