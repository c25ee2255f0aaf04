"""What a turn may use, and what it used of it."""

from dataclasses import dataclass, field

from headgate.foundation.errors import HeadgateError


class BudgetSpent(HeadgateError):
    """The turn used up what it may use."""

    code = "budget_spent"
    status = 422


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
