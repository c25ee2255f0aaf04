"""External content: marks that record its source, and tool calls that a model decided on.

A mark is `kind:name`, such as `web:example.org` or `file:report.pdf`. Marks are stored with the outputs of a step,
propagated to every step that depends on them and shown in the evidence (docs/operate/security.md, "Content from
outside").
"""

import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from headgate.foundation.quoting import as_data, shortened

Marks = tuple[str, ...]
"""Marks without duplicates, sorted."""
MarkKind = Literal[
    "web",
    "file",
    "server",
    "description",
    "visitor",
    "chat",
    "workspace",
    "pinned",
    "run",
    "component",
    "event",
    "connection",
    "more",
]
MOST_MARKS = 20
LONGEST_MARK = 120
_WORDS: dict[str, str] = {
    "web": "the web page {}",
    "file": "the file {}",
    "server": "the MCP server {}",
    "description": "the tool descriptions of {}",
    "visitor": "an anonymous visitor",
    "chat": "earlier messages of the chat",
    "workspace": "the workspace file {}",
    "pinned": "the pinned output of step {}",
    "run": "the results of earlier runs",
    "component": "the description of the component {}",
    "event": "the event {}",
    "connection": "the connection {}",
    "more": "more sources",
}
_ASKING = frozenset({"visitor", "chat"})
"""Kinds of users who make the request: their text is the task, so it is not quoted as data."""


@dataclass(slots=True)
class ModelCall:
    """A tool call that a model decided on, while it runs."""

    tool: str
    marks: set[str] = field(default_factory=set)
    """External content received during the call."""


_MODEL_CALL: ContextVar[ModelCall | None] = ContextVar("headgate_model_call", default=None)


def mark(kind: MarkKind, name: str = "") -> str:
    """Return a mark. The name is untrusted text: one line, nothing invisible, limited in length."""
    visible = "".join(" " if character.isspace() else character for character in name if _visible(character))
    return f"{kind}:{shortened(' '.join(visible.split()), LONGEST_MARK)}"


def merged(*groups: Iterable[str]) -> Marks:
    """Return all marks of some groups; above `MOST_MARKS` the rest becomes one mark `more:`."""
    marks = sorted({mark for group in groups for mark in group})
    if len(marks) <= MOST_MARKS:
        return tuple(marks)
    return tuple(sorted([*[mark for mark in marks if mark != "more:"][: MOST_MARKS - 1], "more:"]))


def in_words(marks: Iterable[str]) -> str:
    """Return a description of the sources of content, for errors and prompts."""
    parts = [mark.partition(":") for mark in marks]
    return ", ".join(_WORDS.get(kind, "{}").format(f"'{name}'") for kind, _, name in parts) or "nowhere"


def for_model(text: str, marks: Marks) -> str:
    """Return text for a model: quoted as data when it is external. The user's own request is not quoted."""
    foreign = [mark for mark in marks if mark.partition(":")[0] not in _ASKING]
    return as_data(in_words(foreign), text) if foreign and text.strip() else text


def current_model_call() -> ModelCall | None:
    """Return the current tool call that a model decided on; None in a step whose calls the flow fixes."""
    return _MODEL_CALL.get()


@contextmanager
def decided_by_model(tool: str) -> Iterator[ModelCall]:
    """Mark the block as decided by a model: which tool, and with which arguments."""
    outer, call = _MODEL_CALL.get(), ModelCall(tool)
    token = _MODEL_CALL.set(call)
    try:
        yield call
    finally:
        _MODEL_CALL.reset(token)
        if outer is not None:
            outer.marks |= call.marks


def _visible(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) not in {"Cc", "Cf", "Co", "Cs", "Cn"}
