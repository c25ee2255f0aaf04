"""What the offline builder made of a request: an intent, tool calls that carry it out, and what to say to the user."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import JsonValue

from headgate.agents.assistant.offline.build.work import Hints
from headgate.agents.assistant.offline.language.languages import Language
from headgate.graph.model import Flow

Intent = Literal["build_flow", "edit_flow", "run_flow", "question", "generate_component", "manage_files", "off_topic"]


@dataclass(frozen=True, slots=True)
class Action:
    """One tool call: the tool's name and its arguments."""

    tool: str
    arguments: dict[str, JsonValue] = field(default_factory=dict)
    more: Callable[[Mapping[str, Any]], dict[str, JsonValue]] | None = None
    """Returns further arguments from what the call before it was answered; None when all are known."""

    def after(self, answer: Mapping[str, Any]) -> "Action":
        """The call as it is made when the one before was answered so."""
        return self if self.more is None else Action(self.tool, self.arguments | self.more(answer))


@dataclass(frozen=True, slots=True)
class Understanding:
    """A request as understood: without actions, `reply` is the whole answer."""

    intent: Intent
    reply: str
    actions: tuple[Action, ...] = ()
    flow: Flow | None = None
    """The flow as it will be when every action went well."""
    restatement: str = ""
    """What will be built or changed, in full; shown before the first action."""
    done: str = ""
    """What will have been done, for the closing words."""
    hints: Hints | None = None
    """What a trial of the flow needs; None for what is not tried."""
    language: Language = "en"
    choices: tuple[str, ...] = ()
    """Of a refusal: the nearest requests that can be done."""
    left_out: tuple[str, ...] = ()
    """Parts of a request about files that were not acted on."""
