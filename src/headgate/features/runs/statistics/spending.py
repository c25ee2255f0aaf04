"""Sums the cost of models, at the organisation's prices, else the list prices of the catalog."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from headgate.features.models.setup.facts import known_of
from headgate.features.models.setup.values import ModelSetup
from headgate.features.runs.statistics.schemas import Spent
from headgate.sdk import Model

_PER_PRICE = 1_000_000
"""Prices are per this many tokens."""
Price = tuple[float, float]
"""Input price and output price."""


@dataclass(slots=True)
class Bill:
    """A running total."""

    calls: int = 0
    failed: int = 0
    tokens_input: int = 0
    tokens_output: int = 0
    usd: float = 0.0
    unpriced: int = 0
    lasted: int = 0

    def add(self, row: Any, price: Price | None) -> None:  # noqa: ANN401 - a row
        """Add a row of counted calls."""
        self.calls += row.calls
        self.failed += int(row.failed)
        self.tokens_input += int(row.tokens_input)
        self.tokens_output += int(row.tokens_output)
        self.lasted += int(row.lasted)
        self.unpriced += int(row.untold) if price else row.calls
        if price:
            self.usd += (int(row.tokens_input) * price[0] + int(row.tokens_output) * price[1]) / _PER_PRICE

    def as_spent(self) -> Spent:
        """Return the total for the API."""
        return Spent(
            calls=self.calls,
            tokens_input=self.tokens_input,
            tokens_output=self.tokens_output,
            usd=round(self.usd, 6),
            unpriced=self.unpriced,
        )


def total(bills: Iterable[Bill]) -> Bill:
    """Return the sum of several totals."""
    sum_ = Bill()
    for bill in bills:
        for field in fields(Bill):
            setattr(sum_, field.name, getattr(sum_, field.name) + getattr(bill, field.name))
    return sum_


class Prices:
    """Cache of model prices: the organisation's, else list prices."""

    def __init__(self, setup: ModelSetup) -> None:
        self._setup = setup
        self._kept: dict[tuple[str, str], Price | None] = {}

    def of(self, row: Any) -> Price | None:  # noqa: ANN401 - a row
        """Return the price of a row's models; None when unknown, or when their prices differ."""
        models = list(models_of(row))
        prices = {None if model.get("base_url") else self._price(model) for model in models}
        return prices.pop() if len(prices) == 1 else None

    def _price(self, model: Mapping[str, Any]) -> Price | None:
        key = str(model.get("provider")), str(model.get("name"))
        if key not in self._kept:
            self._kept[key] = _price(*key, self._setup)
        return self._kept[key]


def models_of(row: Any) -> Iterable[Mapping[str, Any]]:  # noqa: ANN401 - a row
    """Return the models of a row."""
    if row.models is None:
        return [{"provider": row.provider, "name": row.name, "base_url": row.base_url}]
    models = json.loads(row.models)
    return [model for model in models if isinstance(model, Mapping)]


def _price(provider: str, name: str, setup: ModelSetup) -> Price | None:
    model_info = known_of(Model(provider=provider, name=name), setup)
    if model_info.price_in is None or model_info.price_out is None:
        return None
    return model_info.price_in, model_info.price_out
