"""Adds up what models took, at the prices that the organisation set, else the list prices of the catalogue."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from headgate.features.models.setup.facts import known_of
from headgate.features.models.setup.values import ModelSetup
from headgate.features.runs.statistics.schemas import Spent
from headgate.sdk import Model

_PER_PRICE = 1_000_000
"""Prices are for so many tokens."""
Price = tuple[float, float]
"""Of tokens in and tokens out."""


@dataclass(slots=True)
class Bill:
    """A sum that grows."""

    calls: int = 0
    failed: int = 0
    tokens_input: int = 0
    tokens_output: int = 0
    usd: float = 0.0
    unpriced: int = 0
    lasted: int = 0

    def add(self, row: Any, price: Price | None) -> None:  # noqa: ANN401 - a row
        """Put a row of counted calls to it."""
        self.calls += row.calls
        self.failed += int(row.failed)
        self.tokens_input += int(row.tokens_input)
        self.tokens_output += int(row.tokens_output)
        self.lasted += int(row.lasted)
        self.unpriced += int(row.untold) if price else row.calls
        if price:
            self.usd += (int(row.tokens_input) * price[0] + int(row.tokens_output) * price[1]) / _PER_PRICE

    def as_spent(self) -> Spent:
        """As the API says it."""
        return Spent(
            calls=self.calls,
            tokens_input=self.tokens_input,
            tokens_output=self.tokens_output,
            usd=round(self.usd, 6),
            unpriced=self.unpriced,
        )


def total(bills: Iterable[Bill]) -> Bill:
    """All of them in one."""
    found = Bill()
    for one in bills:
        for field in fields(Bill):
            setattr(found, field.name, getattr(found, field.name) + getattr(one, field.name))
    return found


class Prices:
    """Prices of models, each looked up once: those that the organisation set, else list prices."""

    def __init__(self, setup: ModelSetup) -> None:
        self._setup = setup
        self._kept: dict[tuple[str, str], Price | None] = {}

    def of(self, row: Any) -> Price | None:  # noqa: ANN401 - a row
        """The price of what a row's steps asked; None where it is not known, or several models have unlike ones."""
        asked = list(models_of(row))
        prices = {None if one.get("base_url") else self._price(one) for one in asked}
        return prices.pop() if len(prices) == 1 else None

    def _price(self, model: Mapping[str, Any]) -> Price | None:
        key = str(model.get("provider")), str(model.get("name"))
        if key not in self._kept:
            self._kept[key] = _price(*key, self._setup)
        return self._kept[key]


def models_of(row: Any) -> Iterable[Mapping[str, Any]]:  # noqa: ANN401 - a row
    """The models that a row's steps asked."""
    if row.models is None:
        return [{"provider": row.provider, "name": row.name, "base_url": row.base_url}]
    found = json.loads(row.models)
    return [one for one in found if isinstance(one, Mapping)]


def _price(provider: str, name: str, setup: ModelSetup) -> Price | None:
    known = known_of(Model(provider=provider, name=name), setup)
    if known.price_in is None or known.price_out is None:
        return None
    return known.price_in, known.price_out
