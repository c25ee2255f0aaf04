"""Describes a test's input and expectations in words."""

from headgate.graph.cases import Expectation, TestCase

_LONGEST = 60


def expected(expect: Expectation) -> str:
    """Return the expectations, as a continuation of "the answer"."""
    phrases = [f"contains '{in_short(text)}'" for text in expect.contains]
    phrases += [f"does not contain '{in_short(text)}'" for text in expect.excludes]
    if expect.equals is not None:
        phrases.append(f"is '{in_short(expect.equals)}'")
    if expect.matches is not None:
        phrases.append(f"matches {in_short(expect.matches)}")
    if expect.json_schema is not None:
        phrases.append("is JSON that matches the schema")
    if expect.reference is not None:
        phrases.append(f"agrees with '{in_short(expect.reference)}'")
    phrases += [f"is based on {in_short(name)}" for name in expect.documents]
    if expect.supported:
        phrases.append("is supported by passages")
    if expect.criterion is not None:
        phrases.append(f"satisfies '{in_short(expect.criterion)}'")
    if expect.judge_model:
        phrases.append(f"as judged by {expect.judge_model}")
    return ", ".join(phrases) or "is not empty"


def given(case: TestCase) -> str:
    """Return the input: the text, the answers to the form, and the number of files."""
    files = f"{len(case.file_ids)} file{'' if len(case.file_ids) == 1 else 's'}"
    parts = [case.text, *(f"{field}={answer}" for field, answer in case.form.items()), *([files] * bool(case.file_ids))]
    return in_short(" ".join(parts))


def in_short(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
