"""A recipe: one thing that the offline builder can do, how it is asked for, how it is restated, and how it is built.

The words are in `language/en` and `language/sv`, one file for each module of `recipes`; what is built is in that module.
A recipe in a file: its key in brackets, `say:` the restatement, `try:` examples that are tests, and then its patterns.
"""  # noqa: E501

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headgate.agents.assistant.offline.build.work import Work
from headgate.agents.assistant.offline.language.files import entries
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message

Slots = Mapping[str, Any]
Build = Callable[[Work, Slots], Any]
STAGES = ("source", "filter", "dedupe", "compute", "group", "sort", "limit", "columns", "text", "combine", "output")
"""The order of the steps of one clause; steps of the same stage keep the order in which they were said."""
_PART = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Step:
    """How a recipe is built."""

    stage: str
    """One of `STAGES`, or `edit` or `run` for what changes or runs the flow at hand."""
    takes: str
    """What it works on: `table`, `text`, `any`, `form` or `none`; the source of a flow follows from it."""
    build: Build


@dataclass(frozen=True, slots=True)
class Wording:
    """How a recipe is worded in a language."""

    say: str
    """The restatement of every slot; `[...]` is omitted where a slot in it has no value, or one that is there."""
    patterns: tuple[str, ...]
    examples: tuple[str, ...]
    """Whole requests, each of which is a test."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One thing that can be done."""

    key: str
    step: Step
    wordings: Mapping[Language, Wording]

    def describe(self, slots: Slots, language: Language) -> str:
        """What this step does, in words."""
        text = self.wordings[language].say
        fixed_words = set(_PART.sub("", text).lower().split())

        def adds(name: str) -> bool:
            return bool(slots.get(name)) and shown(slots[name], language).lower() not in fixed_words

        text = _PART.sub(lambda part: part[1] if all(map(adds, _SLOT.findall(part[1]))) else "", text)
        return " ".join(_SLOT.sub(lambda slot: shown(slots.get(slot[1], ""), language), text).split())


def recipes_of(name: str, steps: Mapping[str, Step]) -> tuple[Recipe, ...]:
    """The recipes of a module with their words. Raises `KeyError` where a language lacks one."""
    english, swedish = _wordings("en", name), _wordings("sv", name)
    return tuple(Recipe(key, step, {"en": english[key], "sv": swedish[key]}) for key, step in steps.items())


@lru_cache(maxsize=16)
def _wordings(language: Language, name: str) -> dict[str, Wording]:
    wordings = {}
    for key, lines in entries(language, name):
        sentences = [line[5:] for line in lines if line.startswith("say: ")]
        examples = tuple(line[5:] for line in lines if line.startswith("try: "))
        patterns = tuple(line for line in lines if not line.startswith(("say: ", "try: ")))
        wordings[key] = Wording(" ".join(sentences), patterns, examples)
    return wordings


def shown(value: Any, language: Language) -> str:  # noqa: ANN401 - the value of any slot
    """A slot's value in words."""
    if isinstance(value, tuple):
        glue = f" {message('and', language)} "
        parts = [shown(each, language) for each in value]
        return glue.join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
    if hasattr(value, "describe"):
        return str(value.describe(language))
    if hasattr(value, "name"):
        return str(value.name(language))
    return f"{value:g}" if isinstance(value, float) else str(value)
