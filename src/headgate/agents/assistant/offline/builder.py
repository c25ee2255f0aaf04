"""The offline builder: understands requests about flows without a language model, and answers with tool calls."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from headgate.agents.assistant.intent.intents import Intent
from headgate.agents.assistant.offline.conclusion import Outcome, conclude, corrected, outcome_of, succeeded
from headgate.agents.assistant.offline.understand import understand
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.graph.model import Flow
from headgate.graph.template import Catalog

_WORDS_A_PIECE = 4


@dataclass(frozen=True, slots=True)
class Closing:
    """The last words of a request."""

    text: str
    declined: bool
    """Whether they say that nothing was done."""

    def pieces(self) -> Iterator[str]:
        """The text, a few words at a time."""
        words = self.text.split(" ") if self.text else []
        for start in range(0, len(words), _WORDS_A_PIECE):
            ending = " " if start + _WORDS_A_PIECE < len(words) else ""
            yield " ".join(words[start : start + _WORDS_A_PIECE]) + ending


@dataclass(slots=True)
class Work:
    """A request: what is left to do, and the outcomes so far."""

    understanding: Understanding
    waiting: list[Action]
    outcomes: list[Outcome] = field(default_factory=list)
    retried: bool = False

    def next(self) -> Action | Closing:
        """The next tool call, or the closing words."""
        if not self.waiting:
            done = succeeded(self.understanding, self.outcomes)
            return Closing(conclude(self.understanding, self.outcomes), declined=not done)
        return self.waiting.pop(0).after(self.outcomes[-1].answer if self.outcomes else {})

    def take(self, action: Action, answer: str) -> None:
        """Read a tool's answer; after an error one corrected try, else stop."""
        outcome = outcome_of(action, answer)
        self.outcomes.append(outcome)
        if outcome.ok or action.tool == "run_flow":
            return
        better = None if self.retried else corrected(action, outcome)
        self.retried = True
        self.waiting = [better, *self.waiting] if better is not None else []


@dataclass(frozen=True, slots=True)
class OfflineBuilder:
    """Understands a documented set of requests about flows."""

    catalog: Catalog
    """The components that flows can be built of."""
    current_flow: Callable[[], Flow]
    """Returns the flow as it is now."""
    default_model: str | None = None
    """`provider/name` of a configured model for steps that need one; None when there is none."""

    def intent_of(self, text: str) -> Intent:
        """The intent of a request, by the builder's own understanding."""
        intent = self._understood(text).intent
        return "build_flow" if intent == "edit_flow" else intent

    def begin(self, request: str) -> Work:
        """Understand a request."""
        understanding = self._understood(request)
        return Work(understanding, list(understanding.actions))

    def _understood(self, text: str) -> Understanding:
        return understand(text, self.catalog, self.current_flow(), self.default_model)
