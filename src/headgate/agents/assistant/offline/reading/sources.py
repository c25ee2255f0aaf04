"""Where a flow's data comes from, as people say it."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

from headgate.agents.assistant.offline.language.files import pairs
from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.reading.data import Sample, forms_of

SourceKind = Literal["table", "file", "text", "json", "form", "packages", "message"]


@dataclass(frozen=True, slots=True)
class Source:
    """What a flow starts from, and the words that said so."""

    kind: SourceKind
    words: str

    def describe(self, language: Language) -> str:
        """The source in words."""
        return message(f"from_{self.kind}", language)


@lru_cache(maxsize=2)
def _compiled(language: Language) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(expression)) for kind, expression in pairs(language, "origins"))


def source_forms(language: Language) -> list[str]:
    """How sources are said, as regular expressions over tokens."""
    return [expression for _, expression in pairs(language, "origins")]


def source_of(words: str, language: Language, sample: Sample | None) -> Source | None:
    """The source that words mean. A file that is there is meant by its name, and by `the text` and `the file`."""
    for kind, expression in _compiled(language):
        if expression.fullmatch(words):
            return Source(_fitting(kind, words, sample), words)
    if sample is not None and sample.text and forms_of(words) & forms_of(sample.stem):
        return Source("table" if sample.columns is not None else "file", words)
    return None


def _fitting(kind: str, words: str, sample: Sample | None) -> SourceKind:
    """What is meant given the file that is there: `the file` is its table when it holds one."""
    if sample is None or not sample.text:
        return cast("SourceKind", kind)
    if kind in {"file", "text"} and not re.search(r"\b(?:type|paste|typed|pasted|skriver|klistrar)\b", words):
        return "table" if sample.columns is not None else "file"
    return cast("SourceKind", kind)
