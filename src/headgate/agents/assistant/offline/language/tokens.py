"""From characters to tokens: words, numbers, addresses, file names, quoted text, formulas, paths and punctuation."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

LONGEST_REQUEST = 4000
"""Characters of a request that are read; a flow is not described in more."""


class Kind(StrEnum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    QUOTED = "quoted"
    URL = "url"
    EMAIL = "email"
    FILE = "file"
    FORMULA = "formula"
    PATH = "path"
    PATTERN = "pattern"
    COMPARISON = "comparison"
    SYMBOL = "symbol"
    STOP = "stop"  # ends a sentence: . ; ! ? a new line, an arrow
    COMMA = "comma"
    COLON = "colon"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the request; `text` is as written, `word` in lower case, `value` what it stands for."""

    kind: Kind
    text: str
    word: str
    start: int
    end: int
    value: str | float | None = None


_FILE_TYPES = "txt|md|markdown|csv|tsv|json|html|htm|pdf|docx|xml|log|yaml|yml|xlsx"
_DOMAINS = "com|org|net|io|dev|se|no|dk|fi|eu|gov|edu|uk|de|fr|ai|app|info"
_QUOTES = "|".join(
    (
        r"\"([^\"\n]{0,2000})\"",
        r"“([^”\n]{0,2000})”",
        r"”([^”\n]{0,2000})”",
        r"`([^`\n]{1,500})`",
        # single quotes may hold apostrophes: 'don't stop'
        r"(?<!\w)[‘'’]([^'\n‘’]{1,2000}?(?:(?<=\w)['’](?=\w)[^'\n‘’]{0,2000}?){0,8})['’](?!\w)",
    )
)
_NUMBER = r"[-−]?\d{1,3}(?:[ \u00a0,]\d{3})+(?:\.\d+)?(?![\d,]*\d)|[-−]?\d+(?:[.,]\d+)?"

_PATTERNS = (
    ("url", r"https?://[^\s<>\"'“”]+"),
    ("quoted", _QUOTES),
    ("braces", r"\{\{[^{}\n]{1,200}\}\}|\{[^\W\d]\w{0,63}\}"),
    ("email", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
    ("file", rf"(?<![\w/.])[\w-]{{1,80}}(?:\.[\w-]{{1,40}}){{0,3}}\.(?:{_FILE_TYPES})(?![\w/])"),
    ("domain", rf"(?<![\w@.])(?:[\w-]{{1,63}}\.){{1,4}}(?:{_DOMAINS})(?![\w.]\w)(?:/[^\s<>\"',;]*)?"),
    ("day", r"\d{4}-\d{2}-\d{2}|(?:Europe|America|Asia|Africa|Australia|Pacific|Atlantic)/[A-Z][A-Za-z_]{1,30}"),
    ("formula", r"[-(]{0,8}\d[\d\s().,*/+^×÷−-]{0,200}[\d)]"),
    ("pattern", r"(?<![\w/])/(?=\S)[^/\n]{1,120}(?<=\S)/(?!\w)"),
    ("path", r"[^\W\d]\w*(?:\[[^\]\s]{0,40}\](?:\.[^\W\d]\w*)?|\.[^\W\d]\w*|(?<=\w)_\w+)+"),
    ("number", _NUMBER),
    ("arrow", r"-{1,2}>|=>|→|⇒|\s\|\s|\s>\s(?=\S+\.\w)"),
    ("angle", r"<[A-Za-z][\w -]{0,30}>"),
    ("comparison", r">=|<=|!=|==|≥|≤|=|>|<"),
    ("word", r"[^\W\d_](?:[\w]|['’-](?=\w))*"),
    ("ending", r"(?<![\w.])\.[a-z]\w{0,7}(?!\w)"),
    ("stop", r"[.;!?\n•]|…|(?<=\s)[-–—](?=\s)"),
    ("comma", r","),
    ("colon", r":"),
    ("symbol", r"\S"),
)


Reader = Callable[[str, int], list[Token]]
"""Makes tokens of a matched text and the place where it starts."""


def _scanner(*, formulas: bool) -> re.Pattern[str]:
    named = [f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS if formulas or name != "formula"]
    return re.compile("|".join(named), re.IGNORECASE)


_SCANNER = _scanner(formulas=True)
_PLAIN_SCANNER = _scanner(formulas=False)
_JOINED = re.compile(r"(?i)^(?:e|de|re|non|un|co|pre|post|sub|auto|semi|x|well|follow|sign|log|white|to)$")
_DATE = re.compile(r"\d{1,4}[/-]\d{1,2}[/-]\d{2,4}")
_TRAILING = ".,;:!?)]}'"


def tokenize(text: str) -> list[Token]:
    """The tokens of a request, in order; only its first 4,000 characters are read."""
    return _scan(_SCANNER, text[:LONGEST_REQUEST], 0)


def _scan(scanner: re.Pattern[str], text: str, start: int) -> list[Token]:
    found: list[Token] = []
    for match in scanner.finditer(text):
        kind = match.lastgroup or "symbol"
        found.extend(_READERS[kind](match.group(), start + match.start()))
    return found


def _token(kind: Kind, text: str, start: int, value: str | float | None = None) -> Token:
    return Token(kind, text, text.lower().replace("’", "'"), start, start + len(text), value)


def _url(text: str, start: int) -> list[Token]:
    kept = text.rstrip(_TRAILING if "(" not in text else _TRAILING.replace(")", ""))
    tail = tokenize_tail(text[len(kept) :], start + len(kept))
    return [_token(Kind.URL, kept, start, kept), *tail]


def tokenize_tail(text: str, start: int) -> list[Token]:
    """The punctuation that ended an address."""
    kinds = {",": Kind.COMMA, ":": Kind.COLON}
    return [_token(kinds.get(char, Kind.STOP), char, start + n) for n, char in enumerate(text) if char in ".,;:!?"]


def _domain(text: str, start: int) -> list[Token]:
    kept = text.rstrip(_TRAILING)
    return [_token(Kind.URL, kept, start, f"https://{kept}"), *tokenize_tail(text[len(kept) :], start + len(kept))]


def _number(text: str, start: int) -> list[Token]:
    return [_token(Kind.NUMBER, text, start, as_number(text))]


def as_number(text: str) -> float:
    """The value of a written number: `10 000`, `10,000`, `2.5` and `2,5` are read as people mean them."""
    plain = text.replace("\u00a0", " ").replace("−", "-").replace(" ", "")
    grouped = re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain)
    value = float(plain.replace(",", "") if grouped else plain.replace(",", "."))
    return int(value) if value.is_integer() else value


def _formula(text: str, start: int) -> list[Token]:
    """A calculation when it is one, else the numbers and signs it was mistaken for."""
    plain = text
    for sign, meant in (("×", "*"), ("÷", "/"), ("^", "**"), ("−", "-")):
        plain = plain.replace(sign, meant)
    calculates = re.search(r"[*/+]|[\d)]\s+-\s+[\d(]|\)-|-\(", plain) and not _DATE.fullmatch(text)
    if not calculates or not _balanced(plain) or re.search(r",\s|\d\s+\(|\n", plain):
        return _scan(_PLAIN_SCANNER, text, start)
    plain = re.sub(r"(?<=\d)[ ,\u00a0](?=\d{3}(?!\d))", "", plain)
    return [_token(Kind.FORMULA, text, start, plain)]


def _balanced(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return False
    return depth == 0


def _word(text: str, start: int) -> list[Token]:
    """A word; `top-10` and `csv-filen` are two, `e-mail` and `de-duplicate` one."""
    head, dash, rest = text.partition("-")
    if not dash or _JOINED.match(head) or not rest:
        return [_token(Kind.WORD, text, start)]
    after = start + len(head) + 1
    return [_token(Kind.WORD, head, start), *(token for token in _shifted(rest, after))]


def _shifted(text: str, start: int) -> list[Token]:
    if text[0].isdigit():
        return (
            [_token(Kind.NUMBER, text, start, as_number(text))] if text.isdigit() else [_token(Kind.WORD, text, start)]
        )
    return _word(text, start)


def _quoted(text: str, start: int) -> list[Token]:
    return [_token(Kind.QUOTED, text, start, text[1:-1])]


def _angle(text: str, start: int) -> list[Token]:
    """A mark in angle brackets stands for itself: `swap every email for <email>`."""
    return [_token(Kind.QUOTED, text, start, text)]


def _simple(kind: Kind) -> Reader:
    return lambda text, start: [_token(kind, text, start, text)]


def _pattern(text: str, start: int) -> list[Token]:
    return [_token(Kind.PATTERN, text, start, text[1:-1])]


_READERS = {
    "url": _url,
    "quoted": _quoted,
    "braces": _simple(Kind.PATH),
    "email": _simple(Kind.EMAIL),
    "file": _simple(Kind.FILE),
    "domain": _domain,
    "day": _simple(Kind.WORD),
    "formula": _formula,
    "pattern": _pattern,
    "path": _simple(Kind.PATH),
    "number": _number,
    "arrow": _simple(Kind.STOP),
    "angle": _angle,
    "comparison": _simple(Kind.COMPARISON),
    "word": _word,
    "ending": _simple(Kind.WORD),
    "stop": _simple(Kind.STOP),
    "comma": _simple(Kind.COMMA),
    "colon": _simple(Kind.COLON),
    "symbol": _simple(Kind.SYMBOL),
}
