"""Regular expressions on RE2: linear time whatever the pattern."""

import asyncio
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import JsonValue, PrivateAttr

from headgate.components.wording import unescaped
from headgate.graph.expressions import re2
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, Data, Text, field, output
from headgate.sdk.coerce import clean_text

MOST_MATCHES = 100_000
LONGEST_PATTERN = 5_000
LONGEST_TEXT = 10_000_000
_REFERENCE = re.compile(r"\\(?:(\d{1,2})|g<(\w+)>|(.))", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Matched:
    """What a search gave."""

    matches: list[JsonValue]
    text: str


class Regex(Component):
    """Finds, extracts, replaces or tests text with a regular expression (RE2 syntax, always fast)."""

    label = "Regular expression"
    category = "text"
    icon = "regex"
    keywords = (
        "regexp", "pattern", "match", "search", "find", "replace", "substitute", "extract", "clean", "redact", "mask",
        "remove", "grep", "validate", "email", "phone", "numbers", "capture", "strip",
    )  # fmt: skip

    text: str = field(label="Text", help="The text to search.", main=True, tool_mode=True)
    pattern: str = field(
        label="Pattern",
        help=r"RE2 regular expression: \d+ or (?P<key>\w+)=(?P<value>\w+). No look-around, no backreferences.",
        tool_mode=True,
        port=False,
        max_length=LONGEST_PATTERN,
    )
    mode: Literal["find", "extract", "replace", "test"] = field(
        default="find",
        label="Do",
        help="find: every match; extract: the first match or its groups; replace: all matches; test: is there any.",
    )
    replacement: str = field(
        default="",
        label="Replacement",
        help=r"For 'replace': what to put there; \1 or \g<name> is a group. Empty removes.",
        port=False,
        max_length=10_000,
    )
    ignore_case: bool = field(default=False, label="Ignore case", help="Treat upper and lower case alike.")
    _matched: Matched | None = PrivateAttr(default=None)

    @output(help="The matches: texts, or objects when the pattern names groups, or lists when it numbers several.")
    async def matches(self) -> Data:
        """Every match; in mode extract only the first."""
        return (await self._result()).matches

    @output(name="text", label="Text", help="The replaced text, the extracted text, or the matches, one a line.")
    async def give_text(self) -> Text:
        """The result as text."""
        return (await self._result()).text

    @output(help="true when the pattern matches somewhere.")
    async def found(self) -> Data:
        """Whether there is any match."""
        return bool((await self._result()).matches)

    async def _result(self) -> Matched:
        if self._matched is None:
            self._matched = await asyncio.to_thread(self._search)
        return self._matched

    def _search(self) -> Matched:
        text = clean_text(self.text)
        if len(text) > LONGEST_TEXT:
            raise ComponentError(f"Regex: the text has {len(text)} characters; at most {LONGEST_TEXT} are searched.")
        regex = compiled(self.pattern, ignore_case=self.ignore_case, who="Regex")
        first_only = self.mode in {"extract", "test"}
        found = list(itertools.islice(regex.finditer(text), 1 if first_only else MOST_MATCHES + 1))
        if len(found) > MOST_MATCHES:
            raise ComponentError(
                f"Regex: the pattern matches more than {MOST_MATCHES} times.", remedy="Make it more exact."
            )
        matches = [_value_of(match) for match in found]
        if self.mode == "replace":
            return Matched(matches, replaced(text, found, self.replacement))
        return Matched(matches, self.text if self.mode == "test" else "\n".join(_line_of(value) for value in matches))


def replaced(text: str, matches: Sequence[Any], replacement: str) -> str:
    r"""The text with every match replaced; `\1` and `\g<name>` in the replacement are groups.

    Raises `ComponentError` when a group does not exist or the result grows past the longest text.
    """
    pieces: list[str] = []
    at = length = 0
    for match in matches:
        pieces += [text[at : match.start()], _expanded(match, replacement)]
        length += len(pieces[-1]) + len(pieces[-2])
        at = match.end()
        if length > 2 * LONGEST_TEXT:
            raise ComponentError(
                f"Regex: the result grows past {2 * LONGEST_TEXT} characters.", remedy="Use a shorter replacement."
            )
    return "".join([*pieces, text[at:]])


def _expanded(match: Any, replacement: str) -> str:  # noqa: ANN401 - re2 has no types
    """The replacement for one match. Not `match.expand`, which garbles letters beyond ASCII (google-re2 1.1)."""

    def value(found: re.Match[str]) -> str:
        number, name, other = found.groups()
        if other is not None:
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


def compiled(pattern: str, *, ignore_case: bool, who: str) -> Any:  # noqa: ANN401 - re2 has no types
    """A compiled RE2 pattern. Raises `ComponentError` with RE2's reason."""
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
            f"{who}: the pattern {clipped(pattern, 60)!r} is not a regular expression RE2 can run: {reason}.",
            remedy="RE2 has no look-around and no backreferences; the rest is usual syntax.",
            field="pattern",
        ) from error


def _value_of(match: Any) -> JsonValue:  # noqa: ANN401 - re2 has no types
    named: dict[str, JsonValue] = match.groupdict()
    if named:
        return named
    groups = match.groups()
    if len(groups) > 1:
        return list(groups)
    found: JsonValue = groups[0] if groups else match.group()
    return found


def _line_of(value: JsonValue) -> str:
    if isinstance(value, dict):
        return "\t".join(str(item or "") for item in value.values())
    if isinstance(value, list):
        return "\t".join(str(item or "") for item in value)
    return str(value or "")
