"""The text spec as a tree of indented lines: what every section of the grammar is read from.

A line's children are the lines indented deeper below it. Blank lines and lines that start with `#` do not count. A line
that ends in `: |` (or is `- |`) takes the deeper lines below it as text, whatever they hold:

| header | the text                                                                        |
|--------|---------------------------------------------------------------------------------|
| `|`    | the lines without their common indentation; no line break at the end            |
| `|+`   | the same with a line break after every line, blank lines at the end kept        |
| `|2`   | the indentation is 2 beyond the header's, so that the text may itself begin with spaces |

JSON that begins with a bracket at the end of a line continues until that bracket closes, however it is indented.

A list item that holds a member (`- name: value`) stands for a `-` with the member on a deeper line.
"""

import re
from dataclasses import dataclass, field

from headgate.graph.issues import FlowInvalid, Issue, IssueCode
from headgate.graph.json_values import bracket_steps

MAX_CHARACTERS = 1_048_576
MAX_LINES = 100_000
MAX_DEPTH = 24
"""Maximum indentation, in levels."""
MAX_ISSUES = 20
"""Maximum faults before parsing stops."""

KEY = r'(?:"(?:[^"\\]|\\.)*+"|[^\W][^\s:"]*+)'
"""A name before a colon: plain, or in JSON quotes when it holds other characters."""
MEMBER = re.compile(rf"({KEY}):(?:[ \t]+(.*))?", re.DOTALL)
BLOCK_MARK = re.compile(r"\|([1-9]?)([+-]?)")
_BLOCK_LINE = re.compile(rf"(?:-|{KEY}:)[ \t]+(\|[1-9]?[+-]?)[ \t]*")
_JSON_LINE = re.compile(rf"(?:-|{KEY}:)[ \t]+[\[{{]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


class SpecError(FlowInvalid):
    """The text spec cannot be read as a flow; carries every fault with its line."""

    code = "spec_invalid"
    title = "Invalid flow text"


@dataclass(slots=True)
class Line:
    """One relevant line, with the deeper lines below it."""

    number: int
    indent: int
    text: str
    """Without indentation and without spaces at the end."""
    children: list["Line"] = field(default_factory=list)
    block: str | None = None
    """Text of the block that the line announces."""


class Faults:
    """Collects the faults of one parse; stops it when there are too many."""

    def __init__(self) -> None:
        self.issues: list[Issue] = []

    def add(self, line: int, message: str, remedy: str = "", *, node: str = "", field: str = "") -> None:
        """Record a fault. Raises `SpecError` after the twentieth."""
        self.issues.append(Issue(IssueCode.SYNTAX, message, remedy, node=node, field=field, line=line))
        if len(self.issues) >= MAX_ISSUES:
            self.stop()

    def stop(self) -> None:
        """Raise `SpecError` with the collected faults, if any."""
        if self.issues:
            raise SpecError(sorted(self.issues, key=lambda issue: issue.line))


def read_lines(text: str, faults: Faults) -> list[Line]:
    """Return the top-level lines of a spec, each with the lines below it.

    Raises `SpecError` when the text is too long or contains control characters.
    """
    rows = _rows(text, faults)
    top = Line(0, -1, "")
    open_lines = [top]
    number = 0
    while number < len(rows):
        row = rows[number]
        number += 1
        content = row.strip(" \t")
        if not content or content.startswith("#"):
            continue
        indent = len(row) - len(row.lstrip(" "))
        if row[indent] == "\t":
            faults.add(number, "the line is indented with a tab.", "Indent with two spaces per level.")
            continue
        line = _place(open_lines, Line(number, indent, content), faults)
        mark = _BLOCK_LINE.fullmatch(line.text)
        if mark is not None:
            line.block, number = _block(rows, number, line.indent, mark[1])
        elif _JSON_LINE.fullmatch(line.text):
            line.text, number = _json(rows, number, line, faults)
    return top.children


def _rows(text: str, faults: Faults) -> list[str]:
    if len(text) > MAX_CHARACTERS:
        faults.add(
            1,
            f"the spec has {len(text):,} characters; the limit is {MAX_CHARACTERS:,}.",
            "Split the flow, or move long texts to files.",
        )
        faults.stop()
    rows = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if rows[-1] == "":
        rows.pop()
    if len(rows) > MAX_LINES:
        faults.add(MAX_LINES, f"the spec has {len(rows):,} lines; the limit is {MAX_LINES:,}.", "Split the flow.")
        faults.stop()
    if _CONTROL.search(text.replace("\r\n", "\n")):
        for number, row in enumerate(rows, start=1):
            match = _CONTROL.search(row)
            if match:
                faults.add(
                    number,
                    f"the line contains the control character U+{ord(match[0]):04X}.",
                    'Remove it, or write the value in JSON quotes with an escape such as "\\u0007".',
                )
        faults.stop()
    return rows


def _place(open_lines: list[Line], line: Line, faults: Faults) -> Line:
    """Add a line below its parent; `open_lines` are the possible parents, outermost first."""
    while open_lines[-1].indent >= line.indent:
        open_lines.pop()
    parent = open_lines[-1]
    if parent.children and parent.children[0].indent != line.indent:
        faults.add(
            line.number,
            f"the line is indented by {line.indent}, but its sibling lines by {parent.children[0].indent}.",
            "Indent all lines of one level equally.",
        )
    if len(open_lines) > MAX_DEPTH:
        faults.add(line.number, f"the lines are nested deeper than {MAX_DEPTH} levels.", "Write the value as JSON.")
        faults.stop()
    parent.children.append(line)
    open_lines.append(line)
    inner = line.text[1:].lstrip(" ")
    if line.text.startswith("- ") and MEMBER.fullmatch(inner):
        member = Line(line.number, line.indent + len(line.text) - len(inner), inner)
        line.text = "-"
        line.children.append(member)
        open_lines.append(member)
        return member
    return line


def _json(rows: list[str], start: int, line: Line, faults: Faults) -> tuple[str, int]:
    """Return the line with the rest of the JSON that begins at its end, and the index of the next row."""
    depth = 1
    for end in range(start, len(rows)):
        depth += sum(bracket_steps(rows[end]))
        if depth <= 0:
            return " ".join([line.text, *(row.strip(" \t") for row in rows[start : end + 1])]), end + 1
    faults.add(line.number, "the JSON that starts here has no end.", "Close its brackets, or quote the value.")
    faults.stop()
    return line.text, len(rows)


def _block(rows: list[str], start: int, indent: int, mark: str) -> tuple[str, int]:
    """Return the text of the block that `mark` starts in the row before `start`, and the index of the next row."""
    end = start
    shallowest = None
    while end < len(rows):
        row = rows[end]
        if row.strip(" \t"):
            own = len(row) - len(row.lstrip(" "))
            if own <= indent:
                break
            shallowest = own if shallowest is None else min(shallowest, own)
        end += 1
    digit, ending = BLOCK_MARK.fullmatch(mark).groups()  # type: ignore[union-attr]
    cut = shallowest if shallowest is not None else indent + 2
    if digit:
        cut = min(cut, indent + int(digit)) if shallowest is not None else indent + int(digit)
    texts = [row[cut:] for row in rows[start:end]]
    if ending == "+":
        return "".join(row + "\n" for row in texts), end
    while texts and not texts[-1].strip(" \t"):
        texts.pop()
    return "\n".join(texts), end
