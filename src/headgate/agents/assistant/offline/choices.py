"""What to offer where a request is refused: the nearest things that can be done."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from headgate.agents.assistant.offline.cookbook import BUILDING
from headgate.agents.assistant.offline.language.languages import Language
from headgate.features.catalog.words import base_forms, words

MOST = 3
_RARE = 4.0
_USUAL: dict[Language, tuple[str, ...]] = {
    "en": (
        "mask email addresses and phone numbers in a text",
        "average price by country in the csv I upload",
        "count the words in my text",
    ),
    "sv": (
        "maskera personnummer och telefonnummer i en text",
        "medelvärdet av pris per land i csv-filen jag laddar upp",
        "räkna orden i min text",
    ),
}


def nearest(request: str, language: Language) -> list[str]:
    """Requests near this one that are built as they stand, best first; none where none is near."""
    requested = _forms(request)
    weights = _weights(language)
    scores = {
        text: sum(weights.get(form, 0.0) for form in requested & forms) / (3 + len(forms))
        for text, forms in _examples(language)
    }
    near = sorted((text for text, score in scores.items() if score > 0.11), key=lambda text: -scores[text])
    return near[:MOST]


def offered(near: Sequence[str], language: Language) -> list[str]:
    """The near requests, and usual ones up to as many as are offered."""
    return list(dict.fromkeys([*near, *_USUAL[language]]))[:MOST]


@lru_cache(maxsize=2)
def _examples(language: Language) -> tuple[tuple[str, frozenset[str]], ...]:
    texts = dict.fromkeys(
        text
        for recipe in BUILDING
        for text in recipe.wordings[language].examples
        if not recipe.key.startswith("model_")
    )
    return tuple((text, _forms(text)) for text in texts)


@lru_cache(maxsize=2)
def _weights(language: Language) -> dict[str, float]:
    counts = Counter(form for _, forms in _examples(language) for form in forms)
    return {form: _RARE / (3 + count) for form, count in counts.items()}


@lru_cache(maxsize=512)
def _forms(text: str) -> frozenset[str]:
    return frozenset(form for word in words(text.lower()) for form in base_forms(word))
