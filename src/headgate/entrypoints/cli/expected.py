"""What a test expects of an answer, in words."""

from headgate.graph.cases import Expectation

_LONGEST = 60


def expected(expect: Expectation) -> str:
    """To be read after "the answer"."""
    told = [f"contains '{in_short(text)}'" for text in expect.contains]
    told += [f"does not contain '{in_short(text)}'" for text in expect.excludes]
    if expect.equals is not None:
        told.append(f"is '{in_short(expect.equals)}'")
    if expect.matches is not None:
        told.append(f"matches {in_short(expect.matches)}")
    if expect.json_schema is not None:
        told.append("is JSON of its schema")
    return ", ".join(told) or "is not empty"


def in_short(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
