"""The words the offline builder knows, as data: sense to phrases, in text files beside this one."""

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from headgate.agents.assistant.offline.language.vocabulary.measures import NUMBER_WORDS, SEPARATORS, TIME_UNITS

_FILES = ("actions", "things", "relations", "unsupported", "light")
LANGUAGES = ("en", "sv")


@lru_cache(maxsize=1)
def _entries() -> tuple[tuple[str, str, str], ...]:
    """Every (language, sense, phrase) of the files. Raises `ValueError` naming the line of a malformed file."""
    folder = files("headgate.agents.assistant.offline.language.vocabulary")
    found: list[tuple[str, str, str]] = []
    for name in _FILES:
        sense = ""
        for number, line in enumerate((folder / f"{name}.txt").read_text(encoding="utf-8").splitlines(), start=1):
            language, colon, phrases_ = line.strip().partition(": ")
            if not line or line.startswith("#"):
                continue
            if not line.startswith(" "):
                sense = line.strip()
            elif colon and language in LANGUAGES and sense:
                found += [(language, sense, phrase) for phrase in phrases_.split(", ") if phrase]
            else:
                raise ValueError(f"{name}.txt, line {number}: neither a sense nor phrases of a language")
    return tuple(found)


def phrases(language: str) -> Iterator[tuple[str, str]]:
    """Every (phrase, sense) of a language; names of numbers, times and signs belong to all."""
    for known, sense, phrase in _entries():
        if known == language:
            yield phrase, sense
    for sense, table in (("number", NUMBER_WORDS), ("time", TIME_UNITS), ("separator", SEPARATORS)):
        for word in table:
            yield word, sense


def words_of(sense: str) -> frozenset[str]:
    """The single words of a sense, in every language."""
    return frozenset(phrase for _, known, phrase in _entries() if known.startswith(sense) and " " not in phrase)


LIGHT_WORDS = words_of("d.")
"""Single words without meaning of their own, also where they stand inside a longer phrase."""
