"""What a tool answered about files, in plain words: read from its answer and nothing else."""

from collections.abc import Callable, Mapping
from typing import Any

from headgate.agents.assistant.offline.understanding import Action
from headgate.graph.names import clipped, listed

LONGEST_SHOWN = 4_000
"""Characters of a file that are shown in an answer."""
MOST_SHOWN = 50
"""Files, or lines that a search found."""
UNDO = "undo"
Answer = Mapping[str, Any]

_HINTS = {
    "escapes workspace boundary": "I can use only files inside your workspace, named like notes/plan.md.",
    "is reserved": "Headgate reserves that name; choose another.",
    "set replace_all": 'To change all of them, say "everywhere".',
    "file not found": 'Say "show my files" to see which there are.',
    "there is no tool": "You cannot use a workspace here: your account or API key does not have permission.",
    "no workspace is available": "Sign in as a user to have one.",
}
"""A part of a refusal, and what to say to the person besides."""
_HOW_FAR = (
    "Undo reverts the last change of this request, else the last of the stored flow;"
    " `headgate flows versions` lists the versions that are kept of a flow, the one before a whole new flow among them."
)
_WORDS = {
    " Continue without undoing anything.": "",
    "; include more of the surrounding text, or set replace_all": "",
    "; read the file and copy the text exactly": "",
}
"""Parts of refusals that speak to a model."""


def has_description(tool: str) -> bool:
    """Whether there are words for what a tool answers."""
    return tool in _TELLERS


def describe(action: Action, answer: Answer) -> str:
    """What a call that went well came to."""
    return _TELLERS[action.tool](action, answer)


def refused(action: Action, trouble: str) -> str:
    """Why a call did not go well, and what the person can do."""
    hints = [hint for part, hint in _HINTS.items() if part in trouble.lower()]
    if trouble.startswith("There is no tool"):
        trouble = f"Nothing was {_DONE.get(action.tool, 'done')}."
    for part, words in _WORDS.items():
        trouble = trouble.replace(part, words)
    trouble = trouble.replace("old_string", f"'{clipped(str(action.arguments.get('old_string', '')), 80)}'")
    trouble = trouble.strip()
    ended = trouble if trouble.endswith((".", "!", "?")) else f"{trouble}."
    if action.tool == UNDO:
        hints.append(_HOW_FAR)
    return " ".join([f"That did not work: {ended}", *hints])


_DONE = {
    "write_file": "written",
    "edit_file": "changed",
    "read_file": "read",
    "glob_search": "listed",
    "grep_search": "searched",
    UNDO: "undone",
}


def _wrote(action: Action, answer: Answer) -> str:
    path, size = answer.get("path"), answer.get("bytes_written")
    if answer.get("status") == "updated":
        result = f"Replaced {path} ({size} bytes). Its previous content is lost."
    else:
        result = f"Wrote {path} ({size} bytes)."
    content = str(action.arguments.get("content", ""))
    return f"{result}\n\n{_fenced(content)}"


def _read(_: Action, answer: Answer) -> str:
    content = "\n".join(line.partition("→")[2] for line in str(answer.get("content", "")).split("\n"))
    shown, total = answer.get("num_lines"), answer.get("total_lines")
    if not total:
        return f"{answer.get('path')} is empty."
    much = f"{total} {'line' if total == 1 else 'lines'}"
    return f"{answer.get('path')}, {much if shown == total else f'the first {shown} of {much}'}:\n\n{_fenced(content)}"


def _edited(_: Action, answer: Answer) -> str:
    times = answer.get("replacements")
    old, new = (clipped(str(answer.get(name)), 80) for name in ("old_string", "new_string"))
    return f"Replaced '{old}' with '{new}' in {answer.get('path')}, {times} {'time' if times == 1 else 'times'}."


def _listed(action: Action, answer: Answer) -> str:
    paths = [str(path) for path in _rows(answer)]
    kind = (
        str(action.arguments.get("pattern", "")).rpartition(".")[2] if action.arguments.get("pattern") != "**" else ""
    )
    what = f".{kind} " if kind else ""
    if not paths:
        return f"There are no {what}files in your workspace."
    return f"{_counted(len(paths), f'{what}file')} in your workspace:\n{_lines(paths, answer)}"


def _found(action: Action, answer: Answer) -> str:
    rows = [row for row in _rows(answer) if isinstance(row, Mapping)]
    where = str(action.arguments.get("path") or "your files")
    if not rows:
        return f"'{answer.get('pattern')}' is not in {where}{_cut(answer)}."
    files = list(dict.fromkeys(str(row.get("path")) for row in rows))
    lines = [
        f"{row.get('path')}, line {row.get('line')}: {clipped(str(row.get('text', '')).strip(), 200)}" for row in rows
    ]
    summary = f"'{answer.get('pattern')}' is in {listed(files, most=6)}"
    return f"{summary} (capital and small letters alike):\n{_lines(lines, answer)}"


def _undone(_: Action, answer: Answer) -> str:
    lines = [str(line) for line in answer.get("changes") or ()]
    return "Undid the last change." + (f"\n{_lines(lines, answer)}" if lines else "")


_TELLERS: dict[str, Callable[[Action, Answer], str]] = {
    "write_file": _wrote,
    "read_file": _read,
    "edit_file": _edited,
    "glob_search": _listed,
    "grep_search": _found,
    UNDO: _undone,
}


def _rows(answer: Answer) -> list[Any]:
    matches = answer.get("matches")
    return matches if isinstance(matches, list) else []


def _lines(lines: list[str], answer: Answer) -> str:
    shown = "\n".join(f"- {line}" for line in lines[:MOST_SHOWN])
    if len(lines) > MOST_SHOWN:
        shown += f"\n- and {len(lines) - MOST_SHOWN} more"
    return shown + ("\n(The search ended early; there may be more.)" if answer.get("truncated") else "")


def _cut(answer: Answer) -> str:
    return ", as far as the search came" if answer.get("truncated") else ""


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _fenced(content: str) -> str:
    """A text quoted as code, whatever fences it holds itself."""
    shown = content if len(content) <= LONGEST_SHOWN else f"{content[:LONGEST_SHOWN]}\n… (shown in part)"
    fence = "```"
    while fence in shown:
        fence += "`"
    return f"{fence}\n{shown.rstrip(chr(10))}\n{fence}"
