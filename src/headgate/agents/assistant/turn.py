"""All that one request holds, handed to the tools through the agent's runtime context and hidden from the model."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, perf_counter

from pydantic import JsonValue

from headgate.agents.assistant.events import AssistEvent, Step, file_written, flow_preview, flow_update, progress
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.truth.reconcile import Told, reconcile
from headgate.features.access.principal import Principal
from headgate.foundation.errors import HeadgateError
from headgate.foundation.ids import new_id
from headgate.graph.model import Flow
from headgate.toolkit import Workbench
from headgate.toolkit.actions import Action


class BudgetSpent(HeadgateError):
    """The turn used up what it may use."""

    code = "budget_spent"
    status = 422
    title = "Budget spent"


@dataclass(slots=True)
class Budget:
    """Hard limits of one turn."""

    tool_calls: int = 60
    seconds: float = 600.0
    tokens: int = 400_000


@dataclass(slots=True)
class Tokens:
    """Tokens that went to a model and came from it."""

    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, input_tokens: int, output_tokens: int) -> None:
        """Count a model call."""
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens

    @property
    def total(self) -> int:
        """Both."""
        return self.input_tokens + self.output_tokens

    def as_json(self) -> dict[str, int]:
        """As `complete` reports it."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "total_tokens": self.total,
        }


@dataclass(slots=True)
class Usage(Tokens):
    """Tokens of the whole turn, over every model call, and of each of its phases."""

    phases: dict[str, Tokens] = field(default_factory=dict)
    """Phase to its tokens: `intent`, `main`, `generation`, `verification`, `run` (the models inside a flow's run)."""

    def spend(self, phase: str, input_tokens: int, output_tokens: int) -> None:
        """Count a model call of a phase."""
        self.add(input_tokens, output_tokens)
        self.phases.setdefault(phase, Tokens()).add(input_tokens, output_tokens)


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
    preface: str = ""
    """Quoted blocks that stand before the canvas in the model's message: the conversation, the models there are."""
    only: frozenset[str] | None = None
    """Names of the only tools that the model is offered; None: every tool that the person may use."""
    tool_calls: int = 0
    told: Told = field(default_factory=Told)
    """What the page knows of the flow."""
    declined: bool = False
    """Whether the model said that it did not do what was asked. The offline builder always tells; others cannot."""
    began: float = field(default_factory=perf_counter)
    _deadline_from: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        self.bench.watch = self.metrics

    def stage(self, step: Step, *, attempt: int = 1, max_attempts: int = 1, **more: str) -> None:
        """Tell that a new stage began; see `events.progress`."""
        self.emit(progress(step, attempt=attempt, max_attempts=max_attempts, **more))

    def on_file(self, written: dict[str, JsonValue]) -> None:
        """Tell that a file was written."""
        self.emit(file_written(written))

    def on_action(self, action: Action) -> None:
        """Tell what changed, at the moment it changed; what a page is told of it is for `truth.reconcile` to say."""
        forwarded, self.told = reconcile(self.told, (action,))
        for update in forwarded:
            self.emit(flow_update(update))
            if update["action"] == "set_flow":
                self.emit(flow_preview(self.bench.flow, self.bench.registry))

    def spend_tool_call(self) -> None:
        """Count a tool call. Raises `BudgetSpent`."""
        self.tool_calls += 1
        if self.tool_calls > self.budget.tool_calls:
            raise BudgetSpent(f"The turn was stopped after {self.budget.tool_calls} tool calls.", remedy=_ASK_LESS)
        self.check()

    def spend_tokens(self, input: int, output: int, phase: str = "main") -> None:  # noqa: A002 - tokens have no better names
        """Count the tokens of a model call. Raises `BudgetSpent`."""
        self.usage.spend(phase, input, output)
        self.metrics.tokens_spent(phase, input, output, user_id=self.principal.user_id, session_id=self.session_id)
        self.check()

    def check(self) -> None:
        """Raise `BudgetSpent` when time or tokens are used up."""
        if self.usage.total > self.budget.tokens:
            raise BudgetSpent(f"The turn was stopped after {self.budget.tokens} tokens.", remedy=_ASK_LESS)
        if monotonic() - self._deadline_from > self.budget.seconds:
            raise BudgetSpent(f"The turn was stopped after {self.budget.seconds:g} seconds.", remedy=_ASK_LESS)

    @property
    def seconds(self) -> float:
        """How long the turn has taken."""
        return perf_counter() - self.began


_ASK_LESS = "What was done until then is kept; ask for the rest in smaller steps."
