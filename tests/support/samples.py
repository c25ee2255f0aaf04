"""Code samples on the pages of `docs/`: fenced blocks, calls of the command line and requests to the API."""

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.source import ROOT

DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "decisions"),
]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>[\w-]*)[^\n]*\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_SHELL = {"sh", "bash", "console"}
_REQUEST = re.compile(r"^(GET|POST|PUT|PATCH|DELETE) (/[^\s?]*)")
_LOCAL = re.compile(r"^(?:https?://)?(?:127\.0\.0\.1:7411|localhost:7411|headgate\.example\.org)(/[^?]*)")
_METHOD, _BODY = {"-X", "-sX", "--request"}, {"--json", "-d", "--data"}


@dataclass(frozen=True)
class Sample:
    """A fenced block of a page."""

    page: Path
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


@dataclass(frozen=True)
class Request:
    """A request to the API that a page shows."""

    page: str
    method: str
    path: str
    body: str | None = None

    def __str__(self) -> str:
        return f"{self.page}: {self.method} {self.path}"


def fences(page: Path) -> Iterator[Sample]:
    """The fenced blocks of a page, those in lists too."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Sample(page, line, match["kind"], textwrap.dedent(match["text"]))


SAMPLES = [sample for page in PAGES for sample in fences(page)]


def spans(page: Path) -> list[str]:
    """Code inside sentences of a page, on one line each."""
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [" ".join(span.split()) for span in _SPAN.findall(prose)]


def shell_lines(text: str, *, console: bool) -> Iterator[list[str]]:
    """The words of each command of a shell sample; pipes and lists are several commands."""
    for line in text.replace("\\\n", " ").splitlines():
        if console and not line.startswith("$ "):
            continue
        try:
            lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="|&;<>")
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:
            continue  # the first line of a text in quotes
        command: list[str] = []
        for word in words:
            if word and set(word) <= set("|&;<>"):
                yield command
                command = []
            else:
                command.append(word)
        yield command


def commands() -> Iterator[tuple[str, list[str], bool]]:
    """Every call of `headgate`: the page, its words, and whether it is complete."""
    for sample in SAMPLES:
        if sample.kind in _SHELL:
            for words in shell_lines(sample.text, console=sample.kind == "console"):
                rest = _call(words)
                if rest is not None:
                    yield str(sample), rest, True
    for page in PAGES:
        for span in spans(page):
            rest = _call(next(shell_lines(span, console=False), [])) if span.startswith("headgate ") else None
            if rest is not None:
                yield page.name, rest, False


def requests() -> Iterator[Request]:
    """Every request to the API: in sentences as `METHOD /path`, in shell samples as calls of curl."""
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        for span in spans(page):
            if (match := _REQUEST.match(span)) and "..." not in span:
                yield Request(name, match[1], match[2])
    for sample in SAMPLES:
        if sample.kind in _SHELL:
            for words in shell_lines(sample.text, console=sample.kind == "console"):
                if words[:1] == ["curl"] and (request := _curl(sample, words[1:])):
                    yield request


def _call(words: list[str]) -> list[str] | None:
    while words and (words[0] in {"uv", "run", "sudo"} or re.match(r"[A-Z_]+=", words[0])):
        words = words[1:]
    return words[1:] if words[:1] == ["headgate"] else None


def _curl(sample: Sample, words: list[str]) -> Request | None:
    method, body, path = "", None, ""
    for before, word in zip(["", *words], words, strict=False):
        address = word.replace("$A", "localhost:7411/api/v1") if word.startswith("$A/") else word
        if before in _METHOD:
            method = word
        elif before in _BODY:
            body = word
        elif match := _LOCAL.match(address):
            path = match[1]
    sends = body is not None or "-F" in words
    return Request(str(sample), method or ("POST" if sends else "GET"), path, body) if path else None
