"""Compact text form of results, for clients that do not show structured content. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

MOST_CHARACTERS = 16_000


def as_text(answer: Mapping[str, Any]) -> str:
    """Return the result in a YAML-like form: a line per member, plain objects on one line; long texts below."""
    text = "\n".join(_members(answer, ""))
    if len(text) <= MOST_CHARACTERS:
        return text
    lines, number = text.split("\n"), text.count("\n", 0, MOST_CHARACTERS)
    shown = "\n".join(lines[:number]) if number else text[:MOST_CHARACTERS]
    left = f"{len(text) - len(shown):,} more characters"
    return f"{shown}\n... [{left}: the structured content has them; tools that answer in pages take the next one]"


def _members(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, member in value.items():
        yield from _member(name, member, indent)


def _member(name: str, value: Any, indent: str) -> Iterator[str]:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping) and value:
        yield f"{indent}{name}:"
        yield from _members(value, indent + "  ")
    elif isinstance(value, list) and value:
        yield f"{indent}{name}:"
        for item in value:
            yield f"{indent}- {_line(item)}"
    elif isinstance(value, str) and "\n" in value:
        yield f"{indent}{name}:"
        yield from (f"{indent}  {line}" for line in value.rstrip("\n").split("\n"))
    else:
        yield f"{indent}{name}: {_line(value)}"


def _line(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_line(member)}" for name, member in value.items() if member not in (None, ""))
    if isinstance(value, list):
        return f"[{', '.join(_line(item) for item in value)}]"
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split("\n"))
