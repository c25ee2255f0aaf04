"""Removes keys from user text before it is stored, sent or shown.

What a user writes to a session goes to a model, into checkpoints, events, notices and patterns. A key belongs into a
credential or a variable, whose value none of these ever sees; so what looks like one is replaced on input.
"""

import re
from typing import Annotated

from pydantic import AfterValidator, JsonValue

from headgate.foundation.log import is_prose, redact_text
from headgate.foundation.secret_values import REDACTED
from headgate.graph.cases import TestCase
from headgate.graph.json_values import PlainText

LEFT_OUT = "[left out: it looks like a key; put it in a credential]"
"""Replaces a key: shows the user and the model that it was removed."""
HINT = (
    "Something that looks like a key or a password was removed from the text. Put it in a credential or"
    " a variable, and refer to that instead."
)
_NAMED = re.compile(
    r"(?P<lead>(?:(?:api|access|auth|secret|private)[ _-]?key|token|secret|pass(?:word|wd|phrase)"
    r"|lösenord)[\"'`]?(?:\s*[=:]+>?\s*|\s+(?:is|are|är)\s*:?\s+)[\"'`]?)(?P<value>[^\s\"'`,;&<>{}\[\]]{6,400})",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(?P<lead>(?:bearer|basic)\s+)(?P<value>[A-Za-z0-9+/=_.~-]{12,4000})", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]{1,400}:[^/\s@]{1,400}(?=@)")
_RANDOM = re.compile(r"(?<![\w/.-])[A-Za-z0-9_-]{32,400}(?![\w/-])")
_VARIABLE = re.compile(r"\$?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+[.:!?)]?", re.ASCII)
_WORD = re.compile(r"[^\s\"'`,;<>]+")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def without_keys(text: str) -> str:
    """Return a text without keys, recognised by their form or context."""
    text = _NAMED.sub(_named, _SCHEME.sub(_scheme, _IN_ADDRESS.sub(LEFT_OUT, text)))
    return _RANDOM.sub(_random, _WORD.sub(_shaped, text))


def holds_left_out(value: JsonValue) -> bool:
    """Whether any text in a value has a removed key."""
    if isinstance(value, str):
        return LEFT_OUT in value
    if isinstance(value, dict):
        return any(map(holds_left_out, value.values())) or any(map(holds_left_out, value))
    return isinstance(value, list) and any(map(holds_left_out, value))


def _named(match: re.Match[str]) -> str:
    value = match["value"]
    plain = value.rstrip(".:!?)")
    harmless = plain.isalpha() and plain.islower() and not _is_password(match["lead"])
    if _VARIABLE.fullmatch(value) or harmless:
        return match[0]
    return f"{match['lead']}{LEFT_OUT}"


def _is_password(lead: str) -> bool:
    return re.match(r"pass|lösenord", lead, re.IGNORECASE) is not None


def _scheme(match: re.Match[str]) -> str:
    """Whether a scheme is followed by a credential: encoded ones have digits or inner capitals."""
    value = match["value"]
    plain = _VARIABLE.fullmatch(value) or is_prose(value)
    return match[0] if plain else f"{match['lead']}{LEFT_OUT}"


def _shaped(match: re.Match[str]) -> str:
    """Check word by word, with the context of the previous word."""
    word = match[0]
    return word if _NAMED.search(word) else redact_text(word).replace(REDACTED, LEFT_OUT)


def _random(match: re.Match[str]) -> str:
    """Long, with digits and letters, and no name of anything."""
    value = match[0]
    if _UUID.fullmatch(value) or _VARIABLE.fullmatch(value) or sum(map(str.isdigit, value)) < 4:
        return value
    words = re.split("[_-]", value)
    return value if max(map(len, words)) < 16 or value.isdigit() else LEFT_OUT


def _case(case: TestCase) -> TestCase:
    return TestCase.model_validate(_each(case.model_dump(mode="json")))


def _each(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return without_keys(value)
    if isinstance(value, dict):
        return {without_keys(name): _each(item) for name, item in value.items()}
    return [_each(item) for item in value] if isinstance(value, list) else value


Words = Annotated[PlainText, AfterValidator(without_keys)]
"""User text, without keys."""
Case = Annotated[TestCase, AfterValidator(_case)]
"""A test case edited by a user, without keys."""
