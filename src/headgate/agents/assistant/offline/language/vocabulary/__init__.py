"""The words the offline builder knows, as data: sense to phrases."""

from collections.abc import Iterator

from headgate.agents.assistant.offline.language.vocabulary import light, links, nouns, verbs

_TABLES: tuple[dict[str, tuple[str, str]], ...] = (
    verbs.VERBS,
    verbs.MODEL_VERBS,
    verbs.EDIT_VERBS,
    verbs.RUN_VERBS,
    nouns.SOURCES,
    nouns.UNITS,
    nouns.TARGETS,
    nouns.FORMATS,
    nouns.REFERENCES,
    links.LINKS,
    links.PREPOSITIONS,
    links.COMPARISONS,
    links.AGGREGATES,
    links.ORDERS,
    links.UNSUPPORTED,
    light.LIGHT,
    light.QUESTION_WORDS,
)


LIGHT_WORDS = frozenset(
    phrase.strip()
    for texts in light.LIGHT.values()
    for text in texts
    for phrase in text.split(",")
    if " " not in phrase.strip()
)
"""Single words without meaning of their own, also where they stand inside a longer phrase."""


def phrases(language: int) -> Iterator[tuple[str, str]]:
    """Every (phrase, sense) of a language: 0 is English, 1 Swedish."""
    for table in _TABLES:
        for sense, texts in table.items():
            for phrase in texts[language].split(","):
                if phrase.strip():
                    yield phrase.strip(), sense
    if language == 0:
        for phrase in nouns.COLUMN_NOUNS.split(","):
            yield phrase.strip(), "n.column"
    for word in light.NUMBER_WORDS:
        yield word, "number"
    for word in light.TIME_UNITS:
        yield word, "time"
    for word in light.SEPARATORS:
        yield word, "separator"
