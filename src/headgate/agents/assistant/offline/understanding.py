"""What the offline builder made of a request: an intent, tool calls that carry it out, and what to tell the user."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import JsonValue

from headgate.graph.model import Flow

Intent = Literal["build_flow", "edit_flow", "run_flow", "question", "generate_component", "manage_files", "off_topic"]


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call: the tool's name and its arguments."""

    tool: str
    arguments: dict[str, JsonValue] = field(default_factory=dict)
    more: Callable[[Mapping[str, Any]], dict[str, JsonValue]] | None = None
    """Gives further arguments from what the call before it was answered; None when all are known."""

    def after(self, answer: Mapping[str, Any]) -> "Action":
        """The call as it is made when the one before was answered so."""
        return self if self.more is None else Action(self.tool, self.arguments | self.more(answer))


@dataclass(frozen=True, slots=True)
class Understanding:
    """A request as understood.

    `actions` are the tool calls in order; without any, `reply` is the whole answer. `left_out` are the parts of the
    request that were not acted upon, `assumed` what was taken for granted, `needs_model` the parts only a language
    model can do.
    """

    intent: Intent
    reply: str
    actions: tuple[Action, ...] = ()
    flow: Flow | None = None
    """The flow as it will be when every action went well."""
    assumed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    needs_model: tuple[str, ...] = ()
    coverage: float = 0.0
    """Share of the words with meaning that were acted upon, 0 to 1."""
    done: str = ""
    """What will have been done, for the closing words: `Added wait before save.`"""
