"""The restatement, and the check that nothing of the request is missing in it."""

import re
from collections.abc import Sequence

from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message
from headgate.agents.assistant.offline.reading.patterns import NUMBER_WORDS
from headgate.agents.assistant.offline.reading.tokens import Tokens, number_of
from headgate.features.catalog.words import word_set

_NEGATIONS = word_set(
    "not no without except but never don't doesn't isn't aren't inte ingen inga utan utom förutom aldrig remove drop delete"  # noqa: E501
)
_DENIED = re.compile(
    r"\b(?:not|no|without|except|remove|removes|empty|once|otherwise|under|most|mask|missing|lower|none|bort|inga|inte|utan|utom|tom|en gång|annars|högst|maskera)\b"  # noqa: E501
)


def restated(lines: Sequence[str], language: Language) -> str:
    """What will be built, as a numbered list."""
    title = message("restatement_title", language)
    return "\n".join([title, "", *(f"{number}. {line}." for number, line in enumerate(lines, start=1))])


def left_over(tokens: Tokens, lines: Sequence[str]) -> list[str]:
    """Literals, numbers and negations of the request that the restatement does not have."""
    text = " ".join(lines)
    lower = text.lower()
    missing = []
    numbers = {number_of(each) for each in re.findall(r"-?\d+(?:\.\d+)?", text)}
    for token in tokens.items:
        if (token.kind == "number" and number_of(token.text) not in numbers) or (
            token.kind in {"quoted", "url", "file", "date", "email", "path"} and token.value.lower() not in lower
        ):
            missing.append(token.text)
        elif token.kind == "word" and token.text.lower() in NUMBER_WORDS and NUMBER_WORDS[token.text.lower()] > 1:  # noqa: SIM102
            if NUMBER_WORDS[token.text.lower()] not in numbers and token.text.lower() not in lower.split():
                missing.append(token.text)
    words = {token.text.lower() for token in tokens.items if token.kind == "word"}
    if words & _NEGATIONS and not _DENIED.search(lower):
        missing += sorted(words & _NEGATIONS)
    return missing
