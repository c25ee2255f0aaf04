"""Content from outside: marks that say where it comes from, and which tool call a model decided on.

A mark is `kind:name`, such as `web:example.org` or `file:report.pdf`. Marks are stored with the outputs of a step,
carried to every step that depends on them and shown in the evidence (docs/operate/security.md, "Content from outside").
"""

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from headgate.foundation.quoting import as_data, shortened

Marks = tuple[str, ...]
"""Marks without repeats, sorted."""
MarkKind = Literal[
    "web", "file", "server", "description", "visitor", "chat", "workspace", "pinned", "run", "component", "more"
]
MOST_MARKS = 20
LONGEST_MARK = 120
_WORDS: dict[str, str] = {
    "web": "the web page {}",
    "file": "the file {}",
    "server": "the MCP server {}",
    "description": "the tool descriptions of the MCP server {}",
    "visitor": "an anonymous visitor",
    "chat": "earlier messages of the chat",
    "workspace": "the workspace file {}",
    "pinned": "the pinned output of step {}",
    "run": "the results of earlier runs",
    "component": "the description of the component {}",
    "more": "more sources",
}
_ASKING = frozenset({"visitor", "chat"})
"""Kinds of those who ask the question: their text is the task, so it is not quoted as data."""


@dataclass(slots=True)
class ModelCall:
    """A tool call that a model decided on, while it runs."""

    tool: str
    marks: set[str] = field(default_factory=set)
    """What came from outside during the call."""


_MODEL_CALL: ContextVar[ModelCall | None] = ContextVar("headgate_model_call", default=None)


def mark(kind: MarkKind, name: str = "") -> str:
    """A mark. The name is a stranger's text: one line, nothing invisible, bounded."""
    shown = "".join(" " if one.isspace() else one for one in name if _visible(one))
    return f"{kind}:{shortened(' '.join(shown.split()), LONGEST_MARK)}"


def merged(*groups: Iterable[str]) -> Marks:
    """All marks of some groups; over `MOST_MARKS` the rest is one mark `more:`."""
    found = sorted({one for group in groups for one in group})
    if len(found) <= MOST_MARKS:
        return tuple(found)
    return tuple(sorted([*[one for one in found if one != "more:"][: MOST_MARKS - 1], "more:"]))


def in_words(marks: Iterable[str]) -> str:
    """Where content comes from, for errors and prompts."""
    parts = [one.partition(":") for one in marks]
    return ", ".join(_WORDS.get(kind, "{}").format(f"'{name}'") for kind, _, name in parts) or "nowhere"


def for_model(text: str, marks: Marks) -> str:
    """Text as a model reads it: quoted as data where it comes from outside. Who asks the question is not quoted."""
    foreign = [one for one in marks if one.partition(":")[0] not in _ASKING]
    return as_data(in_words(foreign), text) if foreign and text.strip() else text


def current_model_call() -> ModelCall | None:
    """The tool call in progress that a model decided on; None in a step whose calls the flow fixes."""
    return _MODEL_CALL.get()


@contextmanager
def decided_by_model(tool: str) -> Iterator[ModelCall]:
    """What happens inside is decided by a model: which tool, and with which arguments."""
    outer, call = _MODEL_CALL.get(), ModelCall(tool)
    token = _MODEL_CALL.set(call)
    try:
        yield call
    finally:
        _MODEL_CALL.reset(token)
        if outer is not None:
            outer.marks |= call.marks


def _visible(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) not in {"Cc", "Cf", "Co", "Cs", "Cn"}
