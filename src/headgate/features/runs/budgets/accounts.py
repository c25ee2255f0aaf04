"""Budgets as values: accounts with limits per kind, in whole units. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from headgate.features.runs.budgets.errors import BudgetExceeded
from headgate.graph.model import Budget

MICROSECONDS = 1_000_000


class Kind(StrEnum):
    """What a budget limits. Amounts are whole units: microdollars, tokens, milliseconds."""

    USD = "usd"
    TOKENS = "tokens"
    SECONDS = "seconds"


class BudgetScope(StrEnum):
    """What a budget belongs to."""

    RUN = "run"
    DAY = "day"


UNITS: Mapping[Kind, int] = {Kind.USD: 1_000_000, Kind.TOKENS: 1, Kind.SECONDS: 1_000}
_OF = {Kind.USD: "US dollars", Kind.TOKENS: "tokens", Kind.SECONDS: "seconds of execution time"}
_STOPPED = {
    Kind.USD: "The model was not called.",
    Kind.TOKENS: "The model was not called.",
    Kind.SECONDS: "The step does not continue.",
}
_WHERE = {
    BudgetScope.RUN: "Raise the run's budget in the settings of the flow or when it is started, and start it again.",
    BudgetScope.DAY: "Raise the flow's daily budget in its settings, or resume the run after midnight UTC.",
}


@dataclass(frozen=True, slots=True)
class Account:
    """The budget of one run, or of one flow per day."""

    scope: BudgetScope
    owner_id: str
    """The run or the flow."""
    limits: Mapping[Kind, int] = field(hash=False)

    def subject(self, at: int) -> str:
        """Return the key of its rows at a time: those of a day are separate."""
        if self.scope is BudgetScope.RUN:
            return f"run:{self.owner_id}"
        return f"flow:{self.owner_id}:{datetime.fromtimestamp(at / MICROSECONDS, UTC):%Y-%m-%d}"

    def exceeded(self, kind: Kind, used: int, requested: int) -> BudgetExceeded:
        """Return the error of a call or step that would exceed it."""
        unit, limit = UNITS[kind], self.limits[kind]
        whose = "The run's budget" if self.scope is BudgetScope.RUN else "The flow's budget for today (UTC)"
        return BudgetExceeded(
            f"{whose} is {limit / unit:,.6g} {_OF[kind]}. {used / unit:,.6g} are used, and at least"
            f" {requested / unit:,.6g} more would be needed. {_STOPPED[kind]}",
            remedy=_WHERE[self.scope],
            budget=kind.value,
            scope=self.scope.value,
            owner_id=self.owner_id,
            used=used / unit,
            requested=requested / unit,
            limit=limit / unit,
        )

    def stored(self) -> dict[str, Any]:
        """Return the form in which the run's row has it."""
        return {
            "scope": self.scope,
            "id": self.owner_id,
            "limits": {kind.value: limit for kind, limit in self.limits.items()},
        }


@dataclass(frozen=True, slots=True)
class Charge:
    """An amount that is charged to one account."""

    account: Account
    kind: Kind
    subject: str
    amount: int


def name_of(charge: Charge) -> str:
    """Return the key of a charge's row, in the order in which rows are locked."""
    return f"{charge.subject}/{charge.kind}"


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """A budget and what is used of it."""

    scope: BudgetScope
    owner_id: str
    kind: Kind
    limit: float
    used: float


def account_of(stored: Mapping[str, Any]) -> Account:
    """Return a stored account."""
    limits = {Kind(kind): int(limit) for kind, limit in stored["limits"].items()}
    return Account(BudgetScope(stored["scope"]), stored["id"], limits)


def accounts_of(
    run_id: str, flow_id: str, *, run: Iterable[Budget | None], daily: Budget | None, inherited: Iterable[Account]
) -> tuple[Account, ...]:
    """Return what a new run is charged to: the accounts of the run that starts it, its own, and those of its flow.

    Args:
        run_id: The new run.
        flow_id: Its flow.
        run: Budgets of the run, of which the lowest limits apply.
        daily: Budget of the flow per day.
        inherited: Accounts of the run whose step starts it.
    """
    accounts = {(account.scope, account.owner_id): account for account in inherited}
    own = ((BudgetScope.RUN, run_id, tuple(run)), (BudgetScope.DAY, flow_id, (daily,)))
    for scope, owner_id, budgets in own:
        limits = _lowest(budgets)
        if limits:
            accounts.setdefault((scope, owner_id), Account(scope, owner_id, limits))
    return tuple(accounts.values())


def _lowest(budgets: Iterable[Budget | None]) -> dict[Kind, int]:
    limits: dict[Kind, int] = {}
    for budget in budgets:
        for kind in Kind:
            amount = None if budget is None else getattr(budget, kind.value)
            if amount is not None:
                units = max(1, int(amount * UNITS[kind]))
                limits[kind] = min(units, limits.get(kind, units))
    return limits
