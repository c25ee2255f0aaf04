"""Cuts a request into tokens, and writes them as one line that patterns are matched against.

A word is written as it is, in lower case; a literal as a mark with its position: `‹q3›` is a quoted text, `‹n3›` a number,
`‹u3›` an address, `‹f3›` a file name, `‹d3›` a date, `‹e3›` an email address, `‹p3›` a path, `‹m3›` a calculation. A
comma is `,` and the end of a sentence `;`. Every token ends with a space.
"""  # noqa: E501

import re
from dataclasses import dataclass
from functools import cached_property

LONGEST_REQUEST = 4000
_FILE_TYPES = "csv|tsv|json|jsonl|txt|md|html|htm|pdf|docx|doc|xlsx|log|xml|yaml|yml"
_PATTERNS = (
    ("quoted", r"\"[^\"]*\"|“[^”]*”|”[^”]*”|«[^»]*»|»[^«]*«|`[^`]*`|(?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)"  # noqa: ISC004
               r"|(?<!\w)[‘’](?:[^’]|(?<=\w)’(?=\w))*’(?!\w)"),
    ("url", r"[a-z]+://[^\s\"'<>]+"),
    ("email", r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    ("file", rf"[\w/-]+(?:[.][\w-]+)*\.(?:{_FILE_TYPES})\b(?!\.\w)"),
    ("date", r"\d{4}-\d{2}-\d{2}\b"),
    ("math", r"\(*-?\d+(?:[.,]\d+)?\)*(?:\s*(?:\*\*|//|[*/+×÷^]|(?<=\s)-(?=\s)|(?<=\d)-(?=\d))\s*\(*-?\d+(?:[.,]\d+)?\)*)+"),  # noqa: E501
    ("initials", r"(?<!\w)(?:[^\W\d_]\.){2,}"),
    ("path", r"[^\W\d]\w*(?:\[\d*\*?\])*(?:\.[^\W\d]\w*(?:\[\d*\*?\])*)+|[^\W\d]\w*(?:\[\d*\*?\])+"),
    ("number", r"-?\d{1,3}(?:[ \u00a0]\d{3})+(?!\d)|-?\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|-?\d+(?:[.,]\d+)?"),
    ("word", r"[^\W\d_][\w]*(?:['’-]\w+)*"),
    ("comma", r","),
    ("stop", r"[.;!?\n]|:(?=\s|$)|\s[–—-]\s"),
    ("symbol", r">=|<=|!=|==|\S"),
)  # fmt: skip
_SCANNER = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS), re.IGNORECASE)
_MARKS = {"quoted": "q", "url": "u", "email": "e", "file": "f", "date": "d", "math": "m", "path": "p", "number": "n"}
_SWEDISH_TAIL = re.compile(r"^(csv|json|pdf|html|word|e|excel)-(?=\w)")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the request: what it is, and the text it was written as."""

    kind: str
    text: str
    at: int

    @property
    def written(self) -> str:
        """The token as patterns see it."""
        if self.kind in _MARKS:
            return f"‹{_MARKS[self.kind]}{self.at}›"
        return {"comma": ",", "stop": ";"}.get(self.kind, self.text.lower().replace("’", "'"))

    @property
    def value(self) -> str:
        """What the token stands for: the text between quotation marks, an address without its last full stop."""
        if self.kind == "quoted":
            return self.text[1:-1]
        return self.text.rstrip(".,;:!?)") if self.kind == "url" else self.text


@dataclass(frozen=True)
class Tokens:
    """The tokens of a request, or those of them that carry meaning."""

    text: str
    items: tuple[Token, ...]

    @cached_property
    def line(self) -> str:
        """The tokens as one line, each with a space behind it."""
        return "".join(f"{token.written} " for token in self.items)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each token starts in the line, and where the line ends."""
        places = [0]
        for token in self.items:
            places.append(places[-1] + len(token.written) + 1)
        return tuple(places)

    @cached_property
    def by_mark(self) -> dict[str, Token]:
        """The literal tokens by their marks."""
        return {token.written: token for token in self.items if token.kind in _MARKS}

    def literal(self, mark: str) -> str:
        """What a written token stands for."""
        token = self.by_mark.get(mark.strip())
        return token.value if token is not None else mark.strip()


def tokenize(text: str) -> Tokens:
    """The tokens of a request, in order; only its first 4,000 characters are read."""
    text = text[:LONGEST_REQUEST]
    tokens: list[Token] = []
    for match in _SCANNER.finditer(text):
        kind = match.lastgroup or "symbol"
        tokens += _pieces(kind, match.group(), match.start())
    return Tokens(text, tuple(tokens))


def _pieces(kind: str, text: str, at: int) -> list[Token]:
    """A matched text as tokens: `csv-filen` is two words, and the full stop after an address ends a sentence."""
    if kind == "word" and (split := _SWEDISH_TAIL.match(text.lower())) and split[1] != "e":
        return [Token("word", text[: split.end(1)], at), Token("word", text[split.end() :], at + split.end())]
    if kind == "url" and text[-1] in ".,;:!?":
        end = Token("comma" if text[-1] == "," else "stop", text[-1], at + len(text) - 1)
        return [Token("url", text[:-1], at), end]
    return [Token("word" if kind == "initials" else kind, text, at)]


def number_of(text: str) -> float:
    """The value of a written number: `10 000`, `10,000`, `2.5` and `2,5` are read as they are meant."""
    plain = text.replace("\u00a0", " ").replace(" ", "")
    grouped = re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", plain)
    value = float(plain.replace(",", "") if grouped else plain.replace(",", "."))
    return int(value) if value.is_integer() else value
