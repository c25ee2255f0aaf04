"""Slots of requests about other flows, steps, events and limits. None refuses the tokens."""

import re
from dataclasses import dataclass, replace
from typing import Any

from headgate.agents.assistant.offline.language.files import LIGHT
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.reading import units
from headgate.agents.assistant.offline.reading.data import plain
from headgate.agents.assistant.offline.reading.patterns import COSTS
from headgate.agents.assistant.offline.reading.slots import (
    READERS,
    Context,
    is_mark,
    is_reserved,
    read_literal,
    read_number,
    read_text,
)
from headgate.features.catalog.words import word_set


@dataclass(frozen=True, slots=True)
class Named:
    """A name or a value as it was said. `known`: a flow that there is, or a value that was quoted."""

    text: str
    known: bool

    def describe(self, language: Language) -> str:
        """The name, or the question of the form that has the value."""
        return f"'{self.text}'" if self.known else message("form_answer", language, name=self.text)


def _flow(context: Context, words: str) -> Named | None:
    """A published flow by its name; the words that mean nothing do not count."""
    spoken = context.tokens.literal(words) if is_mark(words) else context.plain(words)
    bare_words = _bare(context, spoken)
    name = next((name for name in context.flows or () if _bare(context, name) == bare_words), "")
    if (not name and not bare_words) or (not name and not is_mark(words) and is_reserved(words)):
        return None
    return Named(name or spoken, known=bool(name) or context.flows is None)


def _bare(context: Context, name: str) -> list[str]:
    return [word for word in re.findall(r"\w+", name.lower()) if word not in LIGHT[context.language]]


def _given(context: Context, words: str) -> Named | None:
    text = read_text(context, words) if not is_mark(words) else context.tokens.literal(words)
    return None if text is None else Named(text, known=is_mark(words))


_SAME_STEP = word_set("it step that det steget den")


def _step(context: Context, words: str) -> str | None:
    """The words for a step, which is looked up when the flow has its steps; empty for the one before."""
    if words in _SAME_STEP:
        return ""
    if is_reserved(words) and not is_mark(words):
        return None
    return re.sub(r"^(?:step|steget) |(?<=\S) (?:step|steget)$", "", plain(context.plain(words)))


def _duration(context: Context, words: str) -> units.Duration | None:
    number, unit = words.split()
    value = read_number(context, number)
    seconds = units.DURATIONS[context.language][unit]
    return None if value is None else units.Duration(value, unit, value * seconds)


def _until(context: Context, words: str) -> Any:  # noqa: ANN401 - a condition
    """A condition on the result of a flow, which is not the data at hand."""
    return (
        context.read("condition", words)
        if context.sample is None
        else replace(context, sample=None, cache={}).read("condition", words)
    )


def _literal_or_word(context: Context, words: str) -> str:
    return context.tokens.literal(words) if is_mark(words) else context.plain(words)


def _model(context: Context, words: str) -> str | None:
    name = read_literal(context, words) or context.plain(words).replace(" ", "")
    return name if name.count("/") else None


READERS |= {
    "flow": _flow, "given": _given, "step": _step, "duration": _duration, "until": _until, "model": _model,
    "event": _literal_or_word, "backoff": lambda _context, words: words,
    "cost": lambda context, words: COSTS[context.language][words],
}  # fmt: skip
