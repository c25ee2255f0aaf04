"""Second thoughts: what a request takes back (`top 10, sorry, top 20`; `count the words... no, just the lines`)."""

from collections.abc import Sequence

from headgate.agents.assistant.offline.language.tokens import Kind, Token
from headgate.features.catalog.words import word_set

_MARKERS = (
    "no wait actually", "no wait", "wait no", "actually no", "no sorry", "scratch that", "forget that", "strike that",
    "never mind that", "never mind", "nevermind", "on second thought", "on second thoughts", "no actually", "no",
    "nope", "nej", "nej förresten",
)  # fmt: skip
"""Phrases that take back what was said before them."""
_REPLACING = ("sorry i mean", "sorry i meant", "i mean", "i meant", "or rather", "sorry", "correction", "make that",
    "actually make that", "jag menar", "eller snarare", "rättelse",
)  # fmt: skip
"""Phrases that put something in the place of what stands right before them."""
_AFTER_NO = word_set("just wait actually rather sorry make better do let's only instead bara hellre")
_LITERAL = frozenset({Kind.NUMBER, Kind.FILE, Kind.QUOTED, Kind.URL, Kind.EMAIL})
_NAMED = _LITERAL - {Kind.NUMBER}
_FARTHEST = 10
"""Tokens before a second thought among which the place that it replaces is looked for."""


def without_second_thoughts(tokens: Sequence[Token]) -> tuple[list[Token], list[tuple[int, int]]]:
    """The tokens that stand, and the characters (start, end) of the parts that were taken back."""
    kept: list[Token] = []
    dropped: list[tuple[int, int]] = []
    at = 0
    while at < len(tokens):
        end, taking_back = _marker(tokens, at, kept)
        place = _replaced(kept, tokens, end, whole=taking_back) if end else None
        if place is None:
            kept.append(tokens[at])
            at += 1
            continue
        dropped.append((kept[place].start, kept[-1].end))
        del kept[place:]
        at = end
    return kept, dropped


def _marker(tokens: Sequence[Token], at: int, kept: Sequence[Token]) -> tuple[int, bool]:
    """Where a second thought that begins here starts its new words, 0 when there is none; whether it takes back."""
    if not kept or kept[-1].kind not in {Kind.STOP, Kind.COMMA, Kind.COLON}:
        return 0, False
    for phrases, taking_back in ((_MARKERS, True), (_REPLACING, False)):
        for phrase in phrases:
            words = phrase.split()
            end = _past(tokens, at, words)
            if end and _is_meant(tokens, words, end, kept):
                return _past_punctuation(tokens, end), taking_back
    return 0, False


def _past(tokens: Sequence[Token], at: int, words: Sequence[str]) -> int:
    """Past these words, commas between them or not; 0 when they are not there."""
    for word in words:
        while at < len(tokens) and tokens[at].kind is Kind.COMMA and word != words[0]:
            at += 1
        if at >= len(tokens) or tokens[at].word != word:
            return 0
        at += 1
    return at


def _is_meant(tokens: Sequence[Token], words: Sequence[str], end: int, kept: Sequence[Token]) -> bool:
    """Whether the phrase is a second thought: `no, just ...`, not `no empty lines` or `yes: ... no: ...`."""
    if end >= len(tokens):
        return False
    if words[-1] not in {"no", "nope", "nej"} or len(words) > 1:
        return True
    if any(token.word in {"yes", "ja"} for token in kept):
        return False
    following = tokens[end]
    return following.kind in _NAMED | {Kind.COMMA, Kind.COLON, Kind.STOP} or following.word in _AFTER_NO


def _past_punctuation(tokens: Sequence[Token], at: int) -> int:
    while at < len(tokens) and tokens[at].kind in {Kind.COMMA, Kind.COLON, Kind.STOP}:
        at += 1
    return at


def _replaced(kept: Sequence[Token], tokens: Sequence[Token], after: int, *, whole: bool) -> int | None:
    """The first kept token that is taken back: the like of what follows, else the clause when all of it is meant."""
    if after >= len(tokens):
        return None
    last = len(kept)
    while last and kept[last - 1].kind in {Kind.STOP, Kind.COMMA, Kind.COLON}:
        last -= 1
    ending = kept[last].kind
    start = last
    while start and kept[start - 1].kind is not Kind.STOP:
        start -= 1
    first = tokens[after]
    for place in range(last - 1, max(start, last - _FARTHEST) - 1, -1):
        if _is_like(kept[place], first):
            return place
    if not whole:
        return None
    while ending is Kind.COMMA and any(token.kind is Kind.COMMA for token in kept[start:last]):
        start = next(n for n in range(start, last) if kept[n].kind is Kind.COMMA) + 1
    return start


def _is_like(token: Token, other: Token) -> bool:
    return token.word == other.word or (token.kind in _LITERAL and token.kind is other.kind)
