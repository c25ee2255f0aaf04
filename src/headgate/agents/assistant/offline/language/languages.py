"""Which language a request is in, and which of its words carry no meaning there.

English and Swedish are kept apart: a request is read with the patterns of one of them. Negations, numbers, directions,
ordinals and nouns are never among the words that may be skipped.
"""

import re
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from headgate.agents.assistant.offline.reading.tokens import Token, Tokens
from headgate.features.catalog.words import word_set

Language = Literal["en", "sv"]

LIGHT: dict[Language, frozenset[str]] = {
    "en": word_set("a an the my our me us your please kindly thanks thank you hey hi hello all those these this also"),
    "sv": word_set(
        "en ett den det de min mitt mina vår vårt våra mig oss snälla tack hej alla dessa detta denna också"
    ),
}
_OPENINGS: dict[Language, tuple[str, ...]] = {
    "en": (
        "could you", "can you", "would you", "will you", "i would like to", "i would like you to", "i'd like to",
        "i would like", "i'd like", "i want you to", "i want to", "i need to", "help me", "let's", "we want to",
        "build flow that", "build flow which", "make flow that", "create flow that", "build flow to", "build me flow that",  # noqa: E501
        "i want flow that", "i need flow that", "make me flow that", "create workflow that", "build something that",
        "build flow", "create flow", "make flow", "so", "ok", "okay", "now", "just",
    ),
    "sv": (
        "kan du", "skulle du kunna", "jag vill", "jag skulle vilja", "bygg flöde som", "skapa flöde som", "gör flöde som",  # noqa: E501
        "jag behöver flöde som", "nu", "okej", "vi vill",
    ),
}  # fmt: skip


def language_of(tokens: Tokens) -> Language:
    """The language whose files know more of the words; English where neither does."""
    words = {token.text.lower() for token in tokens.items if token.kind == "word"}
    swedish = len(words & (_vocabulary("sv") - _vocabulary("en"))) + sum(
        any(c in "åäö" for c in word) for word in words
    )
    return "sv" if swedish > len(words & (_vocabulary("en") - _vocabulary("sv"))) else "en"


@lru_cache(maxsize=2)
def _vocabulary(language: Language) -> frozenset[str]:
    """Every word in the files of a language."""
    folder = files("headgate.agents.assistant.offline.language") / language
    text = " ".join(entry.read_text(encoding="utf-8") for entry in folder.iterdir())
    return frozenset(re.findall(r"[^\W\d_]+(?:'\w+)?", text.lower())) | LIGHT[language]


def meaningful(tokens: Tokens, language: Language) -> Tokens:
    """The tokens without articles, courtesies and the opening of a wish."""
    light = LIGHT[language]
    items = tuple(token for token in tokens.items if not _skips(token, light))
    while opening := _opening(items, language):
        items = items[opening:]
    while items and items[-1].kind in {"stop", "comma"}:
        items = items[:-1]
    return Tokens(tokens.text, items)


def _skips(token: Token, light: frozenset[str]) -> bool:
    return token.kind == "word" and token.text.lower() in light


def _opening(items: tuple[Token, ...], language: Language) -> int:
    """How many tokens an opening of a wish takes; 0 where the request begins with what is wanted."""
    if items and items[0].kind in {"stop", "comma"}:
        return 1
    light = LIGHT[language]
    for opening in _OPENINGS[language]:
        words = [word for word in opening.split() if word not in light]
        if [item.text.lower() for item in items[: len(words)]] == words and len(items) > len(words):
            return len(words)
    return 0
