"""Estimates the cost of executing steps again, from the past run's tokens and the prices of their models. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.features.models.setup.facts import known_of
from headgate.features.models.setup.values import ModelSetup
from headgate.sdk import Model

_PER_PRICE = 1_000_000
"""Prices are per this many tokens."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Usage of a step. None for unknown values."""

    tokens_input: int | None
    tokens_output: int | None
    usd: float | None
    ms: float | None


UNKNOWN = Cost(None, None, None, None)


def cost_of(row: Any, setup: ModelSetup) -> Cost:  # noqa: ANN401 - a row of flow_step_results
    """Return the usage of an executed step at the prices of `setup`; without a model it costs nothing."""
    if row.started_at is None or row.finished_at is None:
        return UNKNOWN
    ms = (row.finished_at - row.started_at) / 1000
    if row.model_parameters is None:
        return Cost(0, 0, 0.0, ms)
    spent = (row.num_tokens_input, row.num_tokens_output)
    return Cost(*spent, _price(_models(row.model_parameters), spent, setup), ms)


def total(costs: Sequence[Cost]) -> Cost:
    """Sum the known values; the price is None when any is unknown."""
    prices = [cost.usd for cost in costs]
    return Cost(
        sum(cost.tokens_input or 0 for cost in costs),
        sum(cost.tokens_output or 0 for cost in costs),
        None if None in prices else sum(price for price in prices if price is not None),
        sum(cost.ms or 0.0 for cost in costs),
    )


def _models(parameters: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the models that a step called, as the recorder stored them."""
    models = parameters.get("models", [parameters])
    return [model for model in models if isinstance(model, Mapping)]


def _price(
    models: Sequence[Mapping[str, Any]], spent: tuple[int | None, int | None], setup: ModelSetup
) -> float | None:
    """Return US dollars; None when tokens or prices are unknown, or models of different prices were called."""
    prices, (tokens_input, tokens_output) = {_prices(model, setup) for model in models}, spent
    if len(prices) != 1 or tokens_input is None or tokens_output is None:
        return None
    (price_in, price_out) = prices.pop()
    if price_in is None or price_out is None:
        return None
    return (tokens_input * price_in + tokens_output * price_out) / _PER_PRICE


def _prices(model: Mapping[str, Any], setup: ModelSetup) -> tuple[float | None, float | None]:
    if model.get("base_url"):
        return None, None  # another server with the provider's protocol has its own prices
    model_info = known_of(Model(provider=str(model.get("provider")), name=str(model.get("name"))), setup)
    return model_info.price_in, model_info.price_out
