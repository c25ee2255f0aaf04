"""Values in the text spec: what a plain word means, and how a value is written so that it reads back the same.

A plain value is text, unless it is exactly how JSON prints a number, `true`, `false` or `null`, or is a JSON list or
object. So `0.5` is a number while `1.10`, `007` and `1e5` stay text, and nothing is lost either way. Text that would
read as something else is written in JSON quotes; text of several lines as a block. A `#` inside a value is part of it.
A value that is wholly in single quotes is the text between them, `''` being one quote, as in YAML.
"""

import json
import math
import re

from pydantic import JsonValue

from headgate.graph.interpolate import REFERENCE
from headgate.graph.json_values import LARGEST_INTEGER, SMALLEST_INTEGER, parse_json
from headgate.graph.spec_lines import BLOCK_MARK, KEY, MEMBER

INLINE_WIDTH = 100
"""Maximum length of a list or object on one line, in characters."""
MAX_PRINTED_DEPTH = 8
"""Levels of a value that are written as nested lines; deeper ones stay JSON."""
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?\d{1,20}(?:\.\d{1,20})?(?:e[+-]\d{1,3})?")
_SINGLE_QUOTED = re.compile(r"'(?:[^']|'')*'")
_MEANT_AS_JSON = re.compile(r'\{\s*(?:".*)?\}|\[\s*["\[{].*\]', re.DOTALL)
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
"""Characters valid in JSON that are invisible or that editors treat as line breaks."""
_NOT_IN_A_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
_PLAIN_KEY = re.compile(KEY)


def parse_scalar(raw: str) -> JsonValue:
    """Return the value of a plain or quoted word. Raises `ValueError` with the fault and the correct form."""
    text = raw.strip(" \t")
    if text.startswith('"'):
        return parse_quoted(text)
    if _SINGLE_QUOTED.fullmatch(text):
        return text[1:-1].replace("''", "'")
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text.startswith(("{", "[")) and not text.startswith("{{"):
        return _json_or_text(text)
    if _NUMBER.fullmatch(text):
        return _number_or_text(text)
    return text


def parse_quoted(text: str) -> str:
    """Text in JSON quotes. Raises `ValueError`."""
    try:
        value = parse_json(text)
    except ValueError as error:
        raise ValueError(
            f"the value starts with a quote but is not text in JSON quotes ({_reason(error)}). "
            "Escape inner quotes as \\\", or write the text as a block after '|'"
        ) from error
    return str(value)


def scalar(value: JsonValue) -> str | None:
    """Return the one-line form of a value; None when it needs several lines."""
    if isinstance(value, str):
        return text_scalar(value)
    line = inline(value)
    nested = isinstance(value, (dict, list)) and value
    return None if nested and len(line) > INLINE_WIDTH else line


def text_scalar(text: str) -> str | None:
    """Return the one-line form of a text: plain when that is unambiguous, else quoted; None when a block is better."""
    if block_header(text) is not None:
        return None
    return text if _reads_back(text) else inline(text)


def block_header(text: str) -> str | None:
    """Return the block header `|`, `|+` or `|2` for a text; None when a block is impossible or unnecessary."""
    if "\n" not in text or _NOT_IN_A_BLOCK.search(text):
        return None
    rows = text.split("\n")
    keeps_end = rows[-1] == ""
    if keeps_end:
        rows.pop()
    filled = [row for row in rows if row.strip(" \t")]
    if not filled or (not keeps_end and not rows[-1].strip(" \t")):
        return None
    indented = all(row.startswith(" ") for row in filled)
    return "|" + ("2" if indented else "") + ("+" if keeps_end else "")


def block_rows(text: str, indent: int) -> list[str]:
    """Return the lines of a block; `indent` is that of its header line."""
    rows = (text.removesuffix("\n")).split("\n")
    return [" " * (indent + 2) + row if row else "" for row in rows]


def key(name: str) -> str:
    """Return a member's name, quoted when necessary."""
    plain = _PLAIN_KEY.fullmatch(name) and not _NOT_IN_A_BLOCK.search(name) and not name.startswith('"')
    return name if plain else inline(name)


def parse_key(text: str) -> str:
    """Return the name of a key. Raises `ValueError`."""
    return parse_quoted(text) if text.startswith('"') else text


def looks_like_member(text: str) -> bool:
    """Return whether a list item with this text would be parsed as `name: value` or as a nested item."""
    return MEMBER.fullmatch(text) is not None or text == "-" or text.startswith("- ")


def _reads_back(text: str) -> bool:
    if not text or text != text.strip() or "\n" in text or _NOT_IN_A_BLOCK.search(text):
        return False
    if text[0] == "#" or text in {"{", "["} or BLOCK_MARK.fullmatch(text):
        return False
    try:
        return parse_scalar(text) == text and isinstance(parse_scalar(text), str)
    except ValueError:
        return False


def inline(value: JsonValue) -> str:
    """Return a value as JSON on one line, with invisible characters escaped."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def _json_or_text(text: str) -> JsonValue:
    try:
        return parse_json(text)
    except ValueError as error:
        if _MEANT_AS_JSON.fullmatch(REFERENCE.sub("0", text)):
            raise ValueError(
                f"the value looks like JSON but is not ({_reason(error)}). Correct it, or put text in double quotes"
            ) from error
        return text


def _number_or_text(text: str) -> JsonValue:
    """A number when JSON would print it identically, else the text: `1.10`, `007`, `-0` and `1e5` are preserved."""
    if text.lstrip("-").isdigit() and text.isascii():
        integer = int(text)
        return integer if str(integer) == text and SMALLEST_INTEGER <= integer <= LARGEST_INTEGER else text
    number = float(text) if text.isascii() else math.inf
    return number if math.isfinite(number) and repr(number) == text else text


def _reason(error: ValueError) -> str:
    return str(error).partition(": line")[0]
