"""Costs and cost limits of a turn, in US dollars, if the catalog knows the model's prices."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from headgate.agents.assistant.turn.usage import Budget, Usage
from headgate.features.models.catalogue import ModelInfo

_MILLION = 1_000_000


@dataclass(slots=True)
class Bill:
    """Sums the costs of a turn's models; a model without known prices makes the sum unknown."""

    usage: Usage
    info: ModelInfo | None
    dollars: float | None = 0.0
    _input: int = 0
    _output: int = 0

    def change(self, info: ModelInfo | None) -> None:
        """Switch to another model; earlier usage keeps the previous model's price."""
        self._settle()
        self.info = info

    def as_json(self) -> dict[str, JsonValue] | None:
        """Return the cost so far and the current prices; None without prices."""
        self._settle()
        if self.dollars is None or self.info is None or self.info.price_in is None:
            return None
        return {"usd": round(self.dollars, 6), "price_in": self.info.price_in, "price_out": self.info.price_out}

    def _settle(self) -> None:
        # What models inside a flow's run used is the run's own cost, at the prices of those models.
        run = self.usage.phases.get("run")
        total_in = self.usage.input_tokens - (run.input_tokens if run else 0)
        total_out = self.usage.output_tokens - (run.output_tokens if run else 0)
        used_in, used_out = total_in - self._input, total_out - self._output
        self._input, self._output = total_in, total_out
        if not used_in and not used_out:
            return
        price = _price(self.info, used_in, used_out)
        self.dollars = None if price is None or self.dollars is None else self.dollars + price


def describe_budget(budget: Budget, info: ModelInfo | None) -> dict[str, JsonValue]:
    """The limits of a turn, and the most it can cost: every token at the dearer of the two prices."""
    prices = [price for price in (info.price_in, info.price_out) if price is not None] if info is not None else []
    limits: dict[str, JsonValue] = {
        "max_tokens": budget.tokens,
        "max_tool_calls": budget.tool_calls,
        "max_seconds": budget.seconds,
    }
    if len(prices) == 2:
        limits["max_cost_usd"] = round(budget.tokens * max(prices) / _MILLION, 4)
    return limits


def budget_words(budget: Mapping[str, JsonValue]) -> str:
    """The limits in a sentence."""
    calls, seconds = budget["max_tool_calls"], budget["max_seconds"]
    sentence = f"At most {budget['max_tokens']:,} tokens, {calls} tool calls, {seconds:g} s"
    return sentence + (f", {budget['max_cost_usd']:.2f} US dollars." if "max_cost_usd" in budget else ".")


def _price(info: ModelInfo | None, input_tokens: int, output_tokens: int) -> float | None:
    if info is None or info.price_in is None or info.price_out is None:
        return None
    return (input_tokens * info.price_in + output_tokens * info.price_out) / _MILLION
