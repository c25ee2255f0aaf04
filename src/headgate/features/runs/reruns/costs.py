"""What doing steps again would cost, from what they took in the past run and the prices of their models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headgate.features.models.setup.facts import known_of
from headgate.features.models.setup.values import ModelSetup
from headgate.sdk import Model

_PER_PRICE = 1_000_000
"""Prices are for so many tokens."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a step took. None where it is not known."""

    tokens_input: int | None
    tokens_output: int | None
    usd: float | None
    ms: float | None


UNKNOWN = Cost(None, None, None, None)


def cost_of(row: Any, setup: ModelSetup) -> Cost:  # noqa: ANN401 - a row of flow_step_results
    """What a step that was executed took, at the prices of `setup`; one that asked no model costs nothing."""
    if row.started_at is None or row.finished_at is None:
        return UNKNOWN
    ms = (row.finished_at - row.started_at) / 1000
    if row.model_parameters is None:
        return Cost(0, 0, 0.0, ms)
    spent = (row.num_tokens_input, row.num_tokens_output)
    return Cost(*spent, _price(_models(row.model_parameters), spent, setup), ms)


def total(costs: Sequence[Cost]) -> Cost:
    """The sum of what is known; the price is None when that of any is."""
    prices = [one.usd for one in costs]
    return Cost(
        sum(one.tokens_input or 0 for one in costs),
        sum(one.tokens_output or 0 for one in costs),
        None if None in prices else sum(price for price in prices if price is not None),
        sum(one.ms or 0.0 for one in costs),
    )


def _models(parameters: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The models a step asked, as the recorder keeps them."""
    found = parameters.get("models", [parameters])
    return [one for one in found if isinstance(one, Mapping)]


def _price(
    models: Sequence[Mapping[str, Any]], spent: tuple[int | None, int | None], setup: ModelSetup
) -> float | None:
    """US dollars; None when tokens or prices are unknown, or several models of unlike prices were asked."""
    prices, (tokens_input, tokens_output) = {_prices(one, setup) for one in models}, spent
    if len(prices) != 1 or tokens_input is None or tokens_output is None:
        return None
    (price_in, price_out) = prices.pop()
    if price_in is None or price_out is None:
        return None
    return (tokens_input * price_in + tokens_output * price_out) / _PER_PRICE


def _prices(model: Mapping[str, Any], setup: ModelSetup) -> tuple[float | None, float | None]:
    if model.get("base_url"):
        return None, None  # another server under the provider's protocol has prices of its own
    known = known_of(Model(provider=str(model.get("provider")), name=str(model.get("name"))), setup)
    return known.price_in, known.price_out
