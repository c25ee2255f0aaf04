"""Regular expressions with RE2: search time is linear in the length of text and pattern.

It blocks: components call it through `isolated.calls`.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import JsonValue

from headgate.components.wording import unescaped
from headgate.graph.expressions import re2
from headgate.graph.names import clipped
from headgate.sdk import ComponentError
from headgate.sdk.coerce import clean_text

MOST_MATCHES = 100_000
LONGEST_PATTERN = 5_000
LONGEST_TEXT = 10_000_000
Mode = Literal["find", "extract", "replace", "test"]
_REFERENCE = re.compile(r"\\(?:(\d{1,2})|g<(\w+)>|(.))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Matched:
    """The result of a search."""

    matches: list[JsonValue]
    text: str


def search(text: str, pattern: str, *, mode: Mode, replacement: str, ignore_case: bool) -> Matched:
    """Search a text with an expression; in mode test, return only whether it matches.

    Raises `ComponentError` for a pattern that RE2 does not support, too many matches or a result that is too long.
    """
    regex = compiled(pattern, ignore_case=ignore_case, subject="Regex")
    matches = list(itertools.islice(regex.finditer(text), 1 if mode in {"extract", "test"} else MOST_MATCHES + 1))
    if len(matches) > MOST_MATCHES:
        raise ComponentError(
            f"Regex: the pattern has more than {MOST_MATCHES} matches.", remedy="Make it more specific."
        )
    values = [_value_of(match) for match in matches]
    if mode == "replace":
        return Matched(values, replaced(text, matches, replacement))
    return Matched(values, "" if mode == "test" else "\n".join(_line_of(value) for value in values))


def replaced(text: str, matches: Sequence[Any], replacement: str) -> str:
    r"""Return the text with every match replaced; `\1` and `\g<name>` in the replacement are groups.

    Raises `ComponentError` when a group does not exist or the result exceeds the maximum length.
    """
    parts: list[str] = []
    at = length = 0
    for match in matches:
        parts += [text[at : match.start()], _expanded(match, replacement)]
        length += len(parts[-1]) + len(parts[-2])
        at = match.end()
        if length > 2 * LONGEST_TEXT:
            raise ComponentError(
                f"Regex: the result is longer than {2 * LONGEST_TEXT} characters.", remedy="Use a shorter replacement."
            )
    return "".join([*parts, text[at:]])


def _expanded(match: Any, replacement: str) -> str:  # noqa: ANN401 - re2 has no types
    """The replacement for one match. Not `match.expand`, which corrupts letters beyond ASCII (google-re2 1.1)."""

    def value(found: re.Match[str]) -> str:
        number, name, literal = found.groups()
        if literal is not None:
            return unescaped(found[0])
        try:
            return str(match.group(int(number) if number else int(name) if name.isdigit() else name) or "")
        except (IndexError, KeyError) as error:
            raise ComponentError(
                f"Regex: the replacement refers to the group {found[0]}, which the pattern does not have.",
                remedy=r"Number the groups from \1, or name them (?P<name>...).",
                field="replacement",
            ) from error

    return _REFERENCE.sub(value, replacement)


def compiled(pattern: str, *, ignore_case: bool, subject: str) -> Any:  # noqa: ANN401 - re2 has no types
    """Return a compiled RE2 pattern. Raises `ComponentError` with RE2's reason."""
    module = re2()
    options = module.Options()
    options.case_sensitive = not ignore_case
    options.log_errors = False
    try:
        return module.compile(clean_text(pattern[: LONGEST_PATTERN + 1]), options)
    except module.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ComponentError(
            f"{subject}: the pattern {clipped(pattern, 60)!r} is not a valid RE2 regular expression: {reason}.",
            remedy="RE2 does not support lookaround or backreferences.",
            field="pattern",
        ) from error


def _value_of(match: Any) -> JsonValue:  # noqa: ANN401 - re2 has no types
    members: dict[str, JsonValue] = match.groupdict()
    if members:
        return members
    groups = match.groups()
    if len(groups) > 1:
        return list(groups)
    result: JsonValue = groups[0] if groups else match.group()
    return result


def _line_of(value: JsonValue) -> str:
    if isinstance(value, dict):
        return "\t".join(str(item or "") for item in value.values())
    if isinstance(value, list):
        return "\t".join(str(item or "") for item in value)
    return str(value or "")
