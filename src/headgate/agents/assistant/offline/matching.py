"""Reads a request as a line of phrases, each of which is a recipe. Every meaningful word is in one of them.

Each recipe is tried on each stretch of the request; then the stretches are chosen that together cover every word. A
reading that leaves a word over is none. The best few are returned, best first.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from headgate.agents.assistant.offline.language.files import classes
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.phrase import Phrase
from headgate.agents.assistant.offline.reading import branches as _branches  # noqa: F401 - teaches the slots to read decisions
from headgate.agents.assistant.offline.reading import naming as _naming  # noqa: F401 - as above, names of flows and steps
from headgate.agents.assistant.offline.reading.conditions import Condition
from headgate.agents.assistant.offline.reading.data import forms_of
from headgate.agents.assistant.offline.reading.patterns import Pattern, can_match, compile_pattern
from headgate.agents.assistant.offline.reading.slots import Context, bound
from headgate.agents.assistant.offline.reading.sources import Source, source_forms
from headgate.agents.assistant.offline.reading.tokens import Tokens
from headgate.agents.assistant.offline.reading.units import DURATIONS
from headgate.agents.assistant.offline.recipe import Recipe
from headgate.features.catalog.words import word_set

_JOINTS: Mapping[Language, frozenset[str]] = {
    "en": word_set(", ; and then afterwards finally next also so"),
    "sv": word_set(", ; och sedan därefter sen slutligen också så samt"),
}
THEN = word_set("then afterwards finally next sedan därefter sen slutligen ;")
"""Joints after which something new begins: the order of the steps is that of the words."""
_PHRASE = -1.5
_WORD = 2.0
_SLOT: Mapping[str, float] = {
    "free": 0.1,
    "text": 0.8,
    "word": 0.8,
    "columns": 1.1,
    "known": 1.2,
    "condition": 1.4,
    "component": 1.8,
}
_MISSING = -6.0
_SOURCE = 1.0
_READINGS = 6


@dataclass(frozen=True, slots=True)
class Reading:
    """A way to read the whole request."""

    phrases: tuple[Phrase, ...]
    score: float
    breaks: tuple[int, ...] = ()
    """Tokens at which something new begins."""
    source: Source | None = None
    """Where the data comes from, where that was said in the middle of a phrase: `the lines of my text that ...`."""


_FROM: Mapping[Language, str] = {"en": "(?:from|of|in|on|out of|inside|within) ", "sv": "(?:från|ur|i|på|av) "}


def readings(context: Context, recipes: Sequence[Recipe]) -> list[Reading]:
    """The ways to read a request, best first; none when a word is left over.

    A source that is named between the words of a phrase is taken out of them first.
    """
    candidates = _readings(context, recipes)
    starts = context.tokens.starts
    forms = [*source_forms(context.language), *_names_of_file(context)]
    lifted = re.compile(_FROM[context.language] + "(?P<source>" + "|".join(f"{form} " for form in forms) + ")")
    for start in range(len(starts) - 1):
        ends = range(len(starts) - 1, start, -1)  # the longest first
        matches = (lifted.fullmatch(context.tokens.line, starts[start], starts[end]) for end in ends)
        match = next((each for each in matches if each is not None), None)
        source = context.read("source", match["source"]) if match is not None else None
        if match is None or source is None:
            continue
        end = starts.index(match.end())
        items = context.tokens.items
        rest = replace(context, tokens=Tokens(context.tokens.text, (*items[:start], *items[end:])), cache={})
        bonus = _SOURCE * (end - start)
        candidates += [replace(each, score=each.score + bonus, source=source) for each in _readings(rest, recipes)]
    candidates += _filtered_first(context, recipes)
    return sorted((each for each in candidates if each.phrases), key=lambda each: -each.score)


def _filtered_first(context: Context, recipes: Sequence[Recipe]) -> Iterable[Reading]:
    """Readings with a filter taken from between the words of a sum or a count: `price of closed orders per country`."""
    items = context.tokens.items
    filters = [recipe for recipe in recipes if recipe.key == "keep_rows"]
    for start, stretch in find_phrases(context, filters).items():
        longest = max(stretch, key=lambda phrase: phrase.end)
        if items[start].written not in of_words(context.language) or not 0 < start < longest.end < len(items):
            continue
        rest = replace(context, tokens=Tokens(context.tokens.text, (*items[:start], *items[longest.end :])), cache={})
        for each in _readings(rest, recipes):
            if not each.breaks and [phrase.recipe.step.stage for phrase in each.phrases][:1] == ["group"]:
                phrases = (replace(longest, start=0, end=0), *each.phrases)
                yield replace(each, phrases=phrases, score=each.score + longest.score)


def _names_of_file(context: Context) -> list[str]:
    """The words of the request that mean the file at hand: `the minutes` for `minutes.txt`."""
    stem = forms_of(context.sample.stem) if context.sample is not None and context.sample.text else set()
    return [re.escape(token.written) for token in context.tokens.items if stem & forms_of(token.written)]


def _readings(context: Context, recipes: Sequence[Recipe]) -> list[Reading]:
    phrases = uncut(context, find_phrases(context, recipes))
    items = context.tokens.items
    joints = _JOINTS[context.language]
    best: list[list[Reading]] = [[Reading((), 0.0)], *[[] for _ in items]]
    for at in range(len(items)):
        if not best[at]:
            continue
        word = items[at].written
        if word in joints:
            breaks = (at,) if word in THEN else ()
            _add(best[at + 1], [Reading(each.phrases, each.score, each.breaks + breaks) for each in best[at]])
        for phrase in phrases.get(at, ()):
            _add(
                best[phrase.end],
                [Reading((*each.phrases, phrase), each.score + phrase.score, each.breaks) for each in best[at]],
            )
    joined = (replace(each, phrases=united(context, each.phrases)) for each in best[-1])
    return [each for each in joined if each.phrases]


def _add(place: list[Reading], more: Iterable[Reading]) -> None:
    """Keep the best few of different meaning."""
    place += more
    place.sort(key=lambda each: -each.score)
    known: dict[object, Reading] = {}
    for each in place:
        known.setdefault(_meaning(each), each)
    place[:] = list(known.values())[:_READINGS]


def _meaning(reading: Reading) -> object:
    return tuple(
        (phrase.recipe.key, repr(sorted(phrase.slots.items(), key=lambda pair: pair[0]))) for phrase in reading.phrases
    ), reading.breaks


def find_phrases(context: Context, recipes: Sequence[Recipe]) -> Mapping[int, list[Phrase]]:
    """Every stretch that is a recipe, by the token that it starts with."""
    phrases: dict[int, list[Phrase]] = defaultdict(list)
    line, starts = context.tokens.line, context.tokens.starts
    for recipe in recipes:
        for text in recipe.wordings[context.language].patterns:
            if not can_match(text, context.language, line):
                continue
            pattern = compile_pattern(text, context.language)
            for start in range(len(starts) - 1):
                if pattern.expression.match(line, starts[start]):
                    for end in range(start + 1, len(starts)):
                        phrase = _phrase(context, recipe, pattern, start, end)
                        if phrase is not None:
                            phrases[start].append(phrase)
    return phrases


def _phrase(context: Context, recipe: Recipe, pattern: Pattern, start: int, end: int) -> Phrase | None:
    starts = context.tokens.starts
    match = pattern.expression.fullmatch(context.tokens.line, starts[start], starts[end])
    slots = bound(context, pattern, match) if match is not None else None
    if match is None or slots is None:
        return None
    inside = {name: len(match[name].split()) for name in slots}
    score = _PHRASE + _WORD * (end - start - sum(inside.values()))
    score += sum(count * _SLOT.get(pattern.slots[name], 1.0) for name, count in inside.items())
    phrase = Phrase(recipe, slots, start, end, score)
    return Phrase(recipe, slots, start, end, score + _MISSING * len(phrase.missing))


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
    """Whether a filter without a verb begins with another noun after `and`."""
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
