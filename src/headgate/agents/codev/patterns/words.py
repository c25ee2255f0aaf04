"""Index words of a pattern: lower case, stemmed, without stop words."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from headgate.features.catalog.words import word_set, words
from headgate.foundation.errors import Unavailable

LONGEST_WORD = 40
MOST_WORDS = 300
"""Of one pattern."""
MOST_ASKED = 16
"""Of one search."""
_LONGEST_TEXT = 20_000
_NOISE = word_set(
    "a an the of to in on for and or with from by as at is are be it its this that these my your our me i you we us he "
    "can do does will should must how what which when one some any all each every please want need make made build "
    "flow use using then there so not if into en ett att och i på av för med som är det den de jag vi ska vill ett"
)


def stems(text: str) -> list[str]:
    """Return each word once, in order."""
    word_stems = (_stem(word) for word in words(text[:_LONGEST_TEXT]) if word not in _NOISE)
    return list(dict.fromkeys(stem[:LONGEST_WORD] for stem in word_stems if stem))


def weighted(texts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return each word with the highest weight of its texts; the highest weights first."""
    weights: dict[str, int] = {}
    for text, weight in texts:
        for stem in stems(text):
            if stem in weights or len(weights) < MOST_WORDS:
                weights[stem] = max(weight, weights.get(stem, 0))
    return weights


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """Apply Porter's second stemmer for English; words of other languages mostly stay unchanged."""
    return str(_stemmer().stemWord(word.replace("'", "").replace("’", "")))


@lru_cache(maxsize=1)
def _stemmer() -> Any:  # noqa: ANN401 - the library has no types
    """Imported at the first search: it brings the stemmers of thirty languages."""
    try:
        import snowballstemmer  # noqa: PLC0415 - a third of a second
    except ImportError as error:
        raise Unavailable(
            "Patterns cannot be searched: snowballstemmer is not installed.",
            remedy="Install the extra of a model provider, such as headgate[openai].",
        ) from error
    return snowballstemmer.stemmer("english")
