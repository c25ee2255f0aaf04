"""Index terms of a text: the same for documents and queries, and the same on every database. Pure.

Words in lower case without the ending of an English plural; texts in scripts without spaces as characters and pairs of
characters, so that a query of two characters is answered.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from itertools import pairwise

from headgate.features.catalog.words import word_set
from headgate.features.knowledge.passages.chunking import IDEOGRAPHS

LONGEST_TERM = 40
MOST_QUERY_TERMS = 32
LONGEST_QUERY = 2_000
_RUN = re.compile(rf"(?P<signs>[{IDEOGRAPHS}]+)|[^\W_{IDEOGRAPHS}]+")
_STOP = word_set(
    "a about after all also an and any are as at be been but by can could did do does for from had has have how "
    "i if in into is it its me more most my no not of on or our should so some such than that the their them "
    "then there these they this to us was we were what when where which who why will with would you your att av "
    "de den denna det detta du där eller en er ett finns för från får ha han hade har hon hur i inte jag kan "
    "man med men mig min måste ni nu när någon och om oss på ska skulle som så till under upp ut var vad vem vi "
    "vid vilka vilken vilket vår är"
)
_LANGUAGES = {
    "en": word_set("the and of to in is that for with are this by"),
    "sv": word_set("och att det som en på är av för med den till"),
}
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, with repetitions."""
    result: list[str] = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).casefold()):
        run = match[0]
        if match["signs"]:
            result += run
            result += (first + second for first, second in pairwise(run))
        else:
            result.append(_stem(run[:LONGEST_TERM]))
    return result


def query_terms(text: str) -> list[str]:
    """Return the terms of a query, each once, without stop words unless there is nothing else.

    Of a run of ideographs the pairs are used; a single character only by itself.
    """
    result: list[str] = []
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text[:LONGEST_QUERY]).casefold()):
        run = match[0]
        if match["signs"]:
            result += [first + second for first, second in pairwise(run)] or [run]
        else:
            result.append(_stem(run[:LONGEST_TERM]))
    unique = list(dict.fromkeys(result))
    return ([term for term in unique if term not in _STOP_TERMS] or unique)[:MOST_QUERY_TERMS]


def content_terms(text: str) -> set[str]:
    """Return the terms of a text without stop words."""
    return {term for term in terms(text) if term not in _STOP_TERMS}


def vector_of(text_terms: list[str]) -> str:
    """Return the terms as a PostgreSQL `tsvector` literal; positions beyond its limit are dropped."""
    positions: dict[str, list[int]] = {}
    for position, term in enumerate(text_terms, start=1):
        places = positions.setdefault(term, [])
        if position <= 16_383 and len(places) < 255:
            places.append(position)
    return " ".join(f"'{term}':{','.join(map(str, places))}" if places else f"'{term}'"
                    for term, places in positions.items())  # fmt: skip


def language_of(text: str) -> str:
    """Return the ISO 639-1 code of the likely language of a text; empty when it is not clear."""
    sample = text[:20_000]
    letters = sum(character.isalpha() for character in sample)
    for code, script in _SCRIPTS:
        if len(script.findall(sample)) * 5 > letters > 0:
            return code
    counts = Counter(re.findall(r"[^\W\d_]+", sample.lower()))
    shares = {code: sum(counts[word] for word in words) for code, words in _LANGUAGES.items()}
    best = max(shares, key=lambda code: shares[code])
    other = max(count for code, count in shares.items() if code != best)
    return best if shares[best] * 12 > counts.total() and shares[best] > 2 * other else ""


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    """Remove the ending of an English plural (Harman 1991, the S stemmer)."""
    if len(word) <= 3 or not word.isascii():
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


_STOP_TERMS = frozenset(_stem(word) for word in _STOP)
