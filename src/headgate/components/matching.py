"""The component for regular expressions."""

from pydantic import PrivateAttr

from headgate.components.expressions import LONGEST_PATTERN, LONGEST_TEXT, Matched, Mode
from headgate.components.isolated.calls import find_matches
from headgate.sdk import Component, ComponentError, Data, Text, field, output


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
        help=(
            "RE2 regular expression: \\d+ or (?P<key>\\w+)=(?P<value>\\w+). Lookaround and backreferences "
            "are not supported."
        ),
        tool_mode=True,
        port=False,
        max_length=LONGEST_PATTERN,
        syntax="re2",
    )
    mode: Mode = field(
        default="find",
        label="Do",
        help=(
            "find: every match; extract: the first match or its groups; replace: all matches; test: "
            "whether there is a match."
        ),
    )
    replacement: str = field(
        default="",
        label="Replacement",
        help="For 'replace': the replacement text; \\1 or \\g<name> is a group. Empty removes the match.",
        port=False,
        max_length=10_000,
    )
    ignore_case: bool = field(default=False, label="Ignore case", help="Ignore upper and lower case.")
    _matched: Matched | None = PrivateAttr(default=None)

    @output(help="The matches: texts, objects when the pattern names groups, or lists when it numbers several.")
    async def matches(self) -> Data:
        """Return every match; in mode extract only the first."""
        return (await self._result()).matches

    @output(name="text", label="Text", help="The replaced text, the extracted text, or the matches, one per line.")
    async def give_text(self) -> Text:
        """Return the result as text."""
        return self.text if self.mode == "test" else (await self._result()).text

    @output(help="true when the pattern matches anywhere.")
    async def found(self) -> Data:
        """Return whether there is any match."""
        return bool((await self._result()).matches)

    async def _result(self) -> Matched:
        if self._matched is None:
            if len(self.text) > LONGEST_TEXT:
                raise ComponentError(
                    f"Regex: the text has {len(self.text)} characters; at most {LONGEST_TEXT} are searched."
                )
            self._matched = await find_matches(
                self.ctx,
                self.text,
                self.pattern,
                mode=self.mode,
                replacement=self.replacement,
                ignore_case=self.ignore_case,
            )
        return self._matched
