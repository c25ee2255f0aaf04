"""Which language a request is in, and which of its words carry no meaning there.

English and Swedish are kept apart: a request is read with the patterns of one of them. Negations, numbers, directions,
ordinals and nouns are never among the words that may be skipped.
"""

import re
from functools import lru_cache
from importlib.resources import files

from headgate.agents.assistant.offline.language.files import LIGHT, Language, pairs, values
from headgate.agents.assistant.offline.reading.tokens import Token, Tokens
from headgate.features.catalog.words import word_set

_OPENINGS = values("openings")
_ROWS = values("rows")
_PRONOUNS = word_set("those these de dem dessa")
_JOINTS = word_set("and or but except also och eller samt utom förutom men")
_BEHIND_DE = word_set(
    "från i med som vars där över under av för på utan efter före äldre yngre större mindre högre lägre dyrare"
)
"""Swedish `de` before these words stands for rows; before others it is an article."""
_NOT_SAID = re.compile(r"^(?:[#\[].*|[\w ]+:)|\{\w+(?::\w+)?\}", re.MULTILINE)


def language_of(tokens: Tokens) -> Language:
    """The language whose files know more of the words; English where neither does."""
    words = {token.text.lower() for token in tokens.items if token.kind == "word"}
    swedish = len(words & (_vocabulary("sv") - _vocabulary("en"))) + sum(
        any(c in "åäö" for c in word) for word in words
    )
    return "sv" if swedish > len(words & (_vocabulary("en") - _vocabulary("sv"))) else "en"


@lru_cache(maxsize=2)
def _vocabulary(language: Language) -> frozenset[str]:
    """Every word in the files of a language, but those of comments, names of recipes and keys, which are English."""
    folder = files("headgate.agents.assistant.offline.language") / language
    text = "\n".join(entry.read_text(encoding="utf-8") for entry in folder.iterdir())
    shared = " ".join(words for key, words in pairs("both", "values") if key.endswith(f".{language}"))
    spoken = _NOT_SAID.sub("", text) + shared
    return frozenset(re.findall(r"[^\W\d_]+(?:'\w+)?", spoken.lower())) | LIGHT[language]


def meaningful(tokens: Tokens, language: Language) -> Tokens:
    """The tokens without articles, courtesies and the opening of a wish."""
    light = LIGHT[language]
    around = zip((None, *tokens.items), tokens.items, (*tokens.items[1:], None), strict=False)
    items = tuple(
        token for before, token, after in around if _refers_to_rows(before, token, after) or not _skips(token, light)
    )
    while opening := _opening(items, language):
        items = items[opening:]
    while items and items[-1].kind in {"stop", "comma"}:
        items = items[:-1]
    return Tokens(tokens.text, items)


def _refers_to_rows(before: Token | None, token: Token, after: Token | None) -> bool:
    """Whether a word such as `those` stands for rows that are not named again: `and those from Norway`."""
    if before is None or after is None or token.text.lower() not in _PRONOUNS:
        return False
    if token.text.lower() in {"those", "these"}:
        return before.text.lower() in _JOINTS and after.text.lower() not in _ROWS["en"]
    return before.text.lower() in _JOINTS and after.text.lower() in _BEHIND_DE


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


__all__ = ["LIGHT", "Language", "language_of", "meaningful"]
