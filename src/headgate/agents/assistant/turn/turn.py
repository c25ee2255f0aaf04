"""All that one request holds, handed to the tools through the agent's runtime context and hidden from the model."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal

from pydantic import JsonValue

from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.turn.events import AssistEvent, Step, file_written, flow_preview, flow_update, progress
from headgate.agents.assistant.turn.reconcile import SentActions, reconcile
from headgate.agents.assistant.turn.usage import Budget, BudgetSpent, Usage
from headgate.features.access.principal import Principal
from headgate.foundation.ids import new_id
from headgate.graph.model import Flow
from headgate.toolkit.actions import Action
from headgate.toolkit.shown import masked, secrets_of
from headgate.toolkit.workbench import Workbench

Stop = Literal["budget", "loop", "answer"]
"""Why a turn was stopped: its limits, a model that repeats itself, a model whose answers cannot be used."""


Attached = Callable[[], Awaitable[Sequence[tuple[str, bytes]]]]


async def _nothing() -> Sequence[tuple[str, bytes]]:
    return ()


@dataclass(slots=True)
class Turn:
    """One request of one person on one flow. Nothing of it is shared with another request."""

    request: str
    principal: Principal
    bench: Workbench
    emit: Callable[[AssistEvent], None]
    before: Flow
    """The flow as it was when the turn began; what was done is read from the difference."""
    turn_id: str = field(default_factory=new_id)
    session_id: str | None = None
    """The conversation it belongs to; None: nothing is remembered."""
    provider: str = ""
    model_name: str = ""
    intent: str = ""
    """What the request was taken for (`agents.assistant.intent`); empty before that is known."""
    budget: Budget = field(default_factory=Budget)
    usage: Usage = field(default_factory=Usage)
    metrics: AssistantMetrics = field(default_factory=AssistantMetrics)
    """What is counted and logged of the turn."""
    given: str = ""
    """What the user gave for a run together with the request, as a quoted block for the model."""
    must_run: bool = False
    """Whether the flow is to be run in this turn, whatever the words of the request say."""
    preface: str = ""
    """Quoted blocks that stand before the canvas in the model's message: the conversation, the models there are."""
    only: frozenset[str] | None = None
    """Names of the only tools that the model is offered; None: every tool that the person may use."""
    tool_calls: int = 0
    model_calls: int = 0
    stopped: Stop | Literal[""] = ""
    """Why the turn was ended before the model was done; empty when it was not."""
    stop_note: str = ""
    """The same in words, for the person."""
    transcript: list[Any] = field(default_factory=list)
    """The messages between model and tools, as LangChain has them, after the loop."""
    attached: Attached = _nothing
    """Reads the files that came with the request: name and content of each."""
    files: list[str] = field(default_factory=list)
    """Paths of the files that were written."""
    sent: SentActions = field(default_factory=SentActions)
    """What the page knows of the flow."""
    declined: bool = False
    """Whether the model said that it did not do what was asked. Only the offline builder always reports it."""
    choices: tuple[str, ...] = ()
    """Requests near one that was declined, which can be done."""
    began: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        self.bench.watch = self.metrics

    def stage(self, step: Step, *, attempt: int = 1, max_attempts: int = 1, **more: str) -> None:
        """Emit that a new stage began; see `events.progress`."""
        self.emit(progress(step, attempt=attempt, max_attempts=max_attempts, **more))

    def on_file(self, written: dict[str, JsonValue]) -> None:
        """Emit that a file was written."""
        self.files.append(str(written.get("path", "")))
        self.emit(file_written(written))

    def on_action(self, action: Action) -> None:
        """Emit a change at the moment it is made; `turn.reconcile` decides what a page receives of it."""
        forwarded, self.sent = reconcile(self.sent, (action,))
        for update in forwarded:
            flow = self.bench.flow
            self.metrics.action_emitted(str(update["action"]), nodes=len(flow.nodes), edges=len(flow.edges))
            self.emit(flow_update(update))
            if update["action"] == "set_flow":
                self.emit(flow_preview(self.bench.flow, self.bench.registry))

    def without_secrets(self, text: str) -> str:
        """A text without the secrets of the flow, as it was and as it is: for a model, and for what is remembered."""
        masked_text: str = masked(text, secrets_of(self.bench.registry, self.before, self.bench.flow))
        return masked_text

    def stop(self, why: Stop, note: str) -> None:
        """End the turn here: no model is asked and no tool works any more; what was done is kept."""
        if not self.stopped:
            self.stopped, self.stop_note = why, note

    def stop_for_time(self) -> None:
        """End the turn because its seconds are over."""
        self.stop("budget", _over(f"{self.budget.seconds:g} seconds"))

    def spend_call(self) -> None:
        """Count a tool call that is to be made; the turn is stopped when it is one too many."""
        self.tool_calls += 1
        if self.tool_calls > self.budget.tool_calls:
            self.stop("budget", _over(_counted(self.budget.tool_calls, "tool call")))
        self._check_tokens()

    def spend_model_call(self) -> None:
        """Count a model call that is to be made; a model that is asked more often than it may call tools is lost."""
        self.model_calls += 1
        if self.model_calls > self.budget.tool_calls + 1:
            self.stop("budget", _over(_counted(self.budget.tool_calls + 1, "model call")))
        self._check_tokens()

    def spend_model_tokens(self, input_tokens: int, output_tokens: int, phase: str = "main") -> None:
        """Count the tokens of a model call that was made; whether there may be another is asked before that."""
        self.usage.spend(phase, input_tokens, output_tokens)
        self.metrics.tokens_spent(
            phase, input_tokens, output_tokens, user_id=self.principal.user_id, session_id=self.session_id
        )

    def spend_tokens(self, input: int, output: int, phase: str = "main") -> None:  # noqa: A002 - tokens have no better names
        """Count the tokens of a model call outside the loop. Raises `BudgetSpent` when they were too many."""
        self.spend_model_tokens(input, output, phase)
        if self.usage.total > self.budget.tokens:
            raise BudgetSpent(f"The turn was stopped after {self.budget.tokens} tokens.", remedy=_ASK_LESS)

    def _check_tokens(self) -> None:
        if self.usage.total > self.budget.tokens:
            self.stop("budget", _over(_counted(self.budget.tokens, "token")))

    @property
    def seconds_left(self) -> float:
        """How long the loop may continue; a little of the budget is reserved for reporting how it ended."""
        return max(0.0, self.budget.seconds - self._reserve - self.seconds)

    @property
    def seconds_to_end(self) -> float:
        """How long everything of the turn may take, the loop and what is asked before and after it."""
        return max(0.0, self.budget.seconds - self._reserve / 2 - self.seconds)

    @property
    def _reserve(self) -> float:
        return min(1.0, 0.1 * self.budget.seconds)

    @property
    def seconds(self) -> float:
        """How long the turn has taken."""
        return perf_counter() - self.began


_ASK_LESS = "Changes made before that are kept; ask for the rest in smaller steps."


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _over(what: str) -> str:
    return f"The turn was stopped after {what}. {_ASK_LESS}"
