"""Rules that hold between phrases: what may not be cut in two, and what two filters next to each other mean."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from headgate.agents.assistant.offline.language.files import Language, classes
from headgate.agents.assistant.offline.phrase import Phrase
from headgate.agents.assistant.offline.reading.conditions import Condition
from headgate.agents.assistant.offline.reading.slots import Context
from headgate.agents.assistant.offline.reading.units import DURATIONS
from headgate.features.catalog.words import word_set

_LONGEST_COMPARISON = 8
_AND = word_set("and och samt also plus")


def of_words(language: Language) -> tuple[str, ...]:
    """What leads from a number to the rows that it is of."""
    return ("av", "för", "i", "på") if language == "sv" else ("of", "from", "in", "for")


def uncut(context: Context, phrases: Mapping[int, list[Phrase]]) -> dict[int, list[Phrase]]:
    """The phrases without those that end or begin inside a comparison: `price at most 95` is not 95 rows."""
    stretches = list(_comparisons(context))
    return {
        at: [each for each in of_start if not any(_cuts(each, start, end) for start, end in stretches)]
        for at, of_start in phrases.items()
    }


def _cuts(phrase: Phrase, start: int, end: int) -> bool:
    return phrase.start < end and start < phrase.end and not (phrase.start <= start and end <= phrase.end)


def _comparisons(context: Context) -> Iterable[tuple[int, int]]:
    """Where a column is compared with a number, from its name to the number; not where rows are counted behind it."""
    words = [token.written for token in context.tokens.items]
    for start in range(len(words)):
        for end in range(min(len(words), start + _LONGEST_COMPARISON), start + 1, -1):
            counted = end < len(words) and (
                words[end] in DURATIONS[context.language] or context.read("rows", words[end]) is not None
            )
            if not counted and context.read("comparison", " ".join(words[start:end])) is not None:
                yield start, end
                break


def united(context: Context, phrases: tuple[Phrase, ...]) -> tuple[Phrase, ...]:
    """The phrases, with `open orders and the ones from Norway` as one condition: either of the two."""
    result: list[Phrase] = []
    for phrase in phrases:
        before = result[-1] if result else None
        if before is None or not _is_another_group(context, before, phrase):
            result.append(phrase)
            continue
        conditions = [each.slots["condition"] for each in (before, phrase)]
        if any(len(each.tests) > 1 and each.joined == "and" for each in conditions):
            return ()
        tests = tuple(test for each in conditions for test in each.tests)
        result[-1] = replace(before, slots={**before.slots, "condition": Condition(tests, "or")}, end=phrase.end)
    return tuple(result)


def _is_another_group(context: Context, before: Phrase, phrase: Phrase) -> bool:
    """Whether a filter begins with a noun of its own, without a verb, after `and`."""
    words = [token.written for token in context.tokens.items]
    joints = set(words[before.end : phrase.start])
    if phrase.recipe.key != "keep_rows" or "condition" not in before.slots or not joints & _AND:
        return False
    sets = classes(context.language)
    verbs = {each.split()[0] for name in ("keep", "where", "that", "drop") for each in sets[name]}
    return "rows" in phrase.slots and words[phrase.start] not in verbs - _nouns(context)


def _nouns(context: Context) -> set[str]:
    """The words of the request that mean rows."""
    return {token.written for token in context.tokens.items if context.read("rows", token.written) is not None}
