"""Texts, documentation and names are plain technical English: banned words, with counts that may only shrink.

`python -m tests.architecture.test_language` lowers the counts in `language.json` to what is left; it never raises one.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT, modules, shown, tracked, tree

pytestmark = pytest.mark.xdist_group("source")

BANNED = re.compile(
    r"\b(told|mend(s|ed|ing)?|whoever|anew|oneself|one's own|courier|lifeguard"
    r"|tak(e|es|en) over|took over|tak(en|es) up|took up|tak(en|es) back|took back"
    r"|look(s|ed)? ahead|look(s|ed)? into|may look at|came of it|comes about|put right"
    r"|carr(y|ies|ied) out|go(es)? on\b(?! the)|went on|said before|what was said|(left|leaves?) out)\b",
    re.IGNORECASE,
)
"""Words and phrases of the former dialect, which no text that a user or an engineer reads has."""
NAMES = {"found", "one", "told", "said", "kept", "wanted", "whole", "beside", "telling", "desk", "courier", "lifeguard"}
"""Names that do not say what a value is."""
WORDS_IN_NAMES = {
    *("told", "tell", "tells", "telling", "said", "say", "says", "mended", "beside", "carried", "stands"),
    *("somebody", "anybody", "whoever"),
}
"""Words that no name of a function, class or module has."""
KINDS = ("strings", "docstrings", "names", "definitions", "docs", "page")
RECORD = ROOT / "tests" / "architecture" / "language.json"
LEXICON = {"features/catalog/words.py", "agents/assistant/offline/matching.py"}
"""Lists of English words that searches and the offline builder read: data, not text."""
HISTORY = {"CHANGELOG.md", "docs/decisions"}
"""Decisions are superseded, not edited; the changelog names what was there."""
TEXTS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`")


def banned(text: str) -> int:
    """How many banned words or phrases a text has."""
    return len(BANNED.findall(text))


def package(path: Path) -> str:
    """The package of a module, as the record names it."""
    return "/".join(path.relative_to(PACKAGE).parts[:2][: 2 if len(path.relative_to(PACKAGE).parts) > 2 else 1])


def docstrings(path: Path) -> Iterator[str]:
    """The first line of each docstring."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield (ast.get_docstring(node) or "").partition("\n")[0]


def strings(path: Path) -> Iterator[str]:
    """The string literals of a module that are sentences: errors, remedies, help, logs, settings; no docstrings."""
    skipped = {
        id(statement.value)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in node.body
        if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value if " " in node.value else ""


def names(path: Path) -> Iterator[str]:
    """The names that a module binds."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def definitions(path: Path) -> Iterator[str]:
    """The names of the functions, methods and classes of a module, and its own, as words joined by `_`."""
    yield path.stem
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield re.sub(r"(?<!^)(?=[A-Z])", "_", node.name).lower()


@cache
def counted() -> dict[str, Counter[str]]:
    """What is left, by kind and package or page."""
    left: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    for path in modules():
        if path.relative_to(PACKAGE).as_posix() not in LEXICON:
            left["strings"][package(path)] += sum(map(banned, strings(path)))
        left["docstrings"][package(path)] += sum(map(banned, docstrings(path)))
        words = (set(name.split("_")) for name in definitions(path))
        left["definitions"][package(path)] += sum(bool(WORDS_IN_NAMES & parts) for parts in words)
        left["names"][package(path)] += sum(name in NAMES for name in names(path))
    for path in tracked():
        name = shown(path)
        if path.suffix == ".md" and not any(name.startswith(past) for past in HISTORY) and "tests/" not in name:
            left["docs"][name] += banned(path.read_text(encoding="utf-8"))
        elif re.search(r"texts/en(\.\w+)?\.ts$", name):
            left["page"][name] += sum(map(banned, TEXTS.findall(path.read_text(encoding="utf-8"))))
    return {kind: Counter({key: number for key, number in counts.items() if number}) for kind, counts in left.items()}


def recorded() -> dict[str, dict[str, int]]:
    """What was left when the counts were last lowered."""
    record: dict[str, dict[str, int]] = json.loads(RECORD.read_text(encoding="utf-8"))
    return record


class TestLanguage:
    @pytest.mark.parametrize("kind", KINDS)
    def test_has_no_more_of_the_dialect_than_was_recorded(self, kind: str) -> None:
        allowed = recorded().get(kind, {})
        more = {key: number for key, number in counted()[kind].items() if number > allowed.get(key, 0)}
        assert not more, f"Plain technical English, please; see BANNED and NAMES in this file: {more}"

    def test_of_page_texts_has_no_exception(self) -> None:
        assert recorded()["page"] == {}

    @pytest.mark.parametrize("text", ["Nobody is told.", "It goes on.", "Whoever asks", "a run taken over", "left out"])
    def test_is_seen_where_it_is_not_plain(self, text: str) -> None:
        assert banned(text) == 1

    def test_of_plain_texts_passes(self) -> None:
        assert banned("The run was recovered and continues; users are notified.") == 0


class TestGlossary:
    def test_defines_each_term_once(self) -> None:
        terms = re.findall(
            r"^\| \*\*(.+?)\*\* \| .+ \|$", (ROOT / "docs/concepts/glossary.md").read_text(), re.MULTILINE
        )
        assert len(terms) > 80
        assert [term for term, number in Counter(terms).items() if number > 1] == []


def lower() -> None:
    """Write the counts that are left; a count that grew stays as recorded."""
    before = recorded() if RECORD.exists() else None
    left = {
        kind: {
            key: number if before is None else min(number, before[kind].get(key, 0))
            for key, number in sorted(counts.items())
        }
        for kind, counts in counted().items()
    }
    RECORD.write_text(json.dumps(left, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    lower()
