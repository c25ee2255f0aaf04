"""Compares two texts line by line."""

import difflib
from itertools import islice

from headgate.sdk import Component, ComponentError, Table, Text, field, output

MOST_LINES = 20_000


class CompareTexts(Component):
    """Compares two versions of a text and returns the changed lines."""

    label = "Compare texts"
    category = "text"
    icon = "file-diff"
    keywords = ("diff", "difference", "change", "version", "review")

    before: str = field(label="Before", help="The earlier version.", main=True, tool_mode=True)
    after: str = field(label="After", help="The later version.", tool_mode=True)
    most: int = field(default=1000, label="Most", help="How many changed lines to return.", ge=1, le=10_000)

    @output(help="One row per changed line: change (added or removed), line, text.")
    def changes(self) -> Table:
        """The changed lines in the order of the texts."""
        rows = []
        for tag, old_start, old_end, new_start, new_end in self._codes():
            if tag == "equal":
                continue
            rows += [["removed", at + 1, self.before.splitlines()[at]] for at in range(old_start, old_end)]
            rows += [["added", at + 1, self.after.splitlines()[at]] for at in range(new_start, new_end)]
        return Table(columns=["change", "line", "text"], rows=rows[: self.most])

    @output(help="The differences as a unified diff; empty when the texts are equal.")
    def diff(self) -> Text:
        """The unified diff, cut after `most` lines."""
        self._codes()
        lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), "before", "after", lineterm="")
        return "\n".join(islice(lines, self.most))

    def _codes(self) -> list[tuple[str, int, int, int, int]]:
        old, new = self.before.splitlines(), self.after.splitlines()
        if len(old) + len(new) > MOST_LINES:
            raise ComponentError(
                f"The texts have more than {MOST_LINES} lines.", remedy="Compare shorter parts.", field="before"
            )
        return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
