"""Reads what models write: scores, credentials, plans with their tests, verdicts. Never raises."""

import json
import re
from dataclasses import dataclass, field
from typing import cast, get_args

from pydantic import JsonValue, TypeAdapter, ValidationError

from headgate.agents.codev.state import Category, Verdict
from headgate.foundation.quoting import shortened
from headgate.graph.cases import MOST_CASES, TestCase

MOST_QUESTIONS = 3
MOST_TYPES = 20
LONGEST_READ = 200_000
"""Characters of an answer that are looked at."""
_LONGEST_LINE = 1_000
_LEAD = r"^[ \t>*_#`-]{0,12}"
_FLAGS = re.IGNORECASE | re.MULTILINE
_SCORE = re.compile(
    _LEAD + r"(?:AMBIGUITY[ _]?)?SCORE(?: ?\([^)\n]{0,40}\))?[ *_`]{0,4}[:=][ *_`]{0,4}(-?\d{1,3})", _FLAGS
)
_QUESTION = re.compile(r"^[ \t>*_]{0,8}\d{1,2}[.):][ \t*_]{0,8}(\S.{0,999})$", re.MULTILINE)
_STATUS = re.compile(_LEAD + r"CREDENTIALS_STATUS[*_`]{0,3}[ \t]{0,4}:[ \t*_`]{0,8}(?:OK|MISSING)\b.*$", _FLAGS)
_TYPES = re.compile(
    _LEAD + r"MISSING_TYPES[*_`]{0,3}[ \t]{0,4}:[ \t*_`]{0,8}((?:\n[ \t]{0,4}[-*+][ \t].{1,200}){1,20}|.{0,4000})$",
    _FLAGS,
)
_BETWEEN = re.compile(r"[,;\n|]|\s/\s|\band\b|\([^)\n]*\)")
_EMPTY_BLOCK = re.compile(r"^[ \t]{0,3}(`{3,9}|~{3,9})[ \t]{0,4}\w[^\n`~]{0,40}\n[ \t\n]{0,200}\1[ \t]*$", re.MULTILINE)
_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_.:/-]{0,99}")
_LIKE_A_NAME = re.compile(r"[_\d]|[a-z][A-Z]")
_NO_TYPE = frozenset({"none", "n/a", "na", "nothing", "null", "ok", "type"})
_OPENING = re.compile(r"^[ \t]{0,3}(`{3,9}|~{3,9})[ \t]{0,4}tests\b[^\n]*$", _FLAGS)
_DECISION = re.compile(
    _LEAD + r"(?:VERDICT[*_`]{0,3}[ \t]{0,4}:[ \t*_`]{0,8})?(DONE|ITERATE)\b[*_`.!: \t]{0,8}$", _FLAGS
)
_MEMBER = re.compile(_LEAD + r"(Category|Reason|Fix)[*_`]{0,3}[ \t]{0,4}:[ \t*_`]{0,8}(.{0,1000})", _FLAGS)
_CATEGORIES: tuple[Category, ...] = get_args(Category)
_CASES = TypeAdapter(list[TestCase])


@dataclass(frozen=True, slots=True)
class Clarity:
    """How clear a requirement is to the model."""

    score: int | None
    """0 to 10, the most unclear; None when it said none."""
    questions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and the tests that came with it."""

    plan: str
    """Without the block of tests."""
    cases: list[TestCase] = field(default_factory=list)
    fault: str = ""
    """Why there are no cases."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What an evaluator said; `category` is None where it named none of the four."""

    done: bool
    category: Category | None = None
    reason: str = ""
    fix: str = ""

    def verdict(self, otherwise: Verdict) -> Verdict:
        """The verdict of an iteration that is not done, filled up from what the trials show."""
        return Verdict(
            category=self.category or otherwise["category"],
            reason=self.reason or otherwise["reason"],
            fix=self.fix or otherwise["fix"],
        )


def read_clarity(text: str) -> Clarity:
    """`SCORE: n` and numbered questions (DD-033)."""
    text = text[:LONGEST_READ]
    score = _SCORE.search(text)
    questions = [match.strip(" *_\t") for match in _QUESTION.findall(text)]
    value = None if score is None else min(10, max(0, int(score[1])))
    return Clarity(value, [question for question in questions if question][:MOST_QUESTIONS])


def read_credentials(text: str) -> tuple[str, list[str]]:
    """The text without its `CREDENTIALS_STATUS` block, and the types it says are missing (DD-017)."""
    head, rest = text[:LONGEST_READ], text[LONGEST_READ:]
    named = [_named(words) for line in _TYPES.findall(head) for words in _BETWEEN.split(line)]
    types = dict.fromkeys(word for word in named if word and word.casefold() not in _NO_TYPE)
    without = _EMPTY_BLOCK.sub("", _TYPES.sub("", _STATUS.sub("", head)))
    return (without + rest).strip(), list(types)[:MOST_TYPES]


def _named(written: str) -> str:
    """The type in a few words: the one that is spelled like a name, else the first."""
    words = [word.rstrip(".:/-") for word in _TYPE.findall(written)]
    return next((word for word in words if _LIKE_A_NAME.search(word)), words[0] if words else "")


def states_credentials(text: str) -> bool:
    """Whether a discovery ends as it should: with how it stands with credentials."""
    return _STATUS.search(text[:LONGEST_READ]) is not None


def read_plan(text: str) -> Planned:
    """A Markdown plan with a fenced block `tests`: a JSON list of test cases."""
    text = text[:LONGEST_READ]
    opening = _OPENING.search(text)
    if opening is None:
        return Planned(text.strip(), fault="There is no block that begins with ```tests.")
    written, after = _until(text[opening.end() :], opening[1])
    plan = f"{text[: opening.start()].rstrip()}\n{after}".strip()
    cases, fault = _cases(written)
    return Planned(plan, cases, fault)


def read_verdict(text: str) -> Judged | None:
    """`DONE`, or `ITERATE` with category, reason and fix (DD-019); None when it says neither, or both."""
    text = text[:LONGEST_READ]
    decisions = {word.upper() for word in _DECISION.findall(text)}
    if len(decisions) != 1:
        return None
    members: dict[str, str] = {}
    for name, value in _MEMBER.findall(text):
        members.setdefault(name.lower(), value.strip(" *_`\t\r"))
    if decisions == {"DONE"}:
        return Judged(done=True, reason=members.get("reason", ""))
    category = _category(members.get("category", ""))
    return Judged(done=False, category=category, reason=members.get("reason", ""), fix=members.get("fix", ""))


def _category(written: str) -> Category | None:
    """The one that is named; a list of them is the format, and no choice."""
    named = set(re.findall(r"[A-Z]+", written.upper())) & set(_CATEGORIES)
    return cast("Category", named.pop()) if len(named) == 1 else None


def _until(text: str, fence: str) -> tuple[str, str]:
    """What stands in a fence, and what comes after it. One that is never closed goes to the end."""
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if len(bare) >= len(fence) and not bare.strip(fence[0]):
            return text[:at], text[at + len(line) :]
        at += len(line)
    return text, ""


def _cases(written: str) -> tuple[list[TestCase], str]:
    try:
        tests = json.loads(written)
    except (ValueError, RecursionError) as error:
        return [], f"The block of tests is not JSON: {str(error)[:200]}"
    if isinstance(tests, dict) and isinstance(tests.get("tests"), list):
        tests = tests["tests"]
    if not isinstance(tests, list) or not tests:
        return [], "The block of tests is not a JSON list with at least one test case."
    if len(tests) > MOST_CASES:
        return [], f"There are {len(tests)} test cases; the limit is {MOST_CASES}."
    try:
        cases = _CASES.validate_python(tests)
    except (ValidationError, RecursionError) as error:
        return [], f"A test case is not valid: {_faults(error)}"
    beyond = next((case.name for case in cases if case.expect.needs_evidence), None)
    if beyond is not None:
        return [], f"Test case {beyond!r} expects documents, or a model that judges it: trials compare texts only."
    names = [case.name for case in cases]
    twice = next((name for name in names if names.count(name) > 1), None)
    return ([], f"Two test cases have the name {twice!r}.") if twice is not None else (cases, "")


def _faults(error: ValidationError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    lines = [f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}" for fault in error.errors()[:5]]
    return shortened("; ".join(lines), _LONGEST_LINE)


def dumped(cases: list[TestCase]) -> list[dict[str, JsonValue]]:
    """Cases as the state holds them."""
    return [case.model_dump(mode="json") for case in cases]
