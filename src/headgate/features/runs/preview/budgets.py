"""Compares the budgets of a flow with what its certain steps use at least."""

from collections.abc import Iterable

from headgate.features.runs.budgets.accounts import BudgetScope, Kind, accounts_of
from headgate.features.runs.ports.limits import Budgets
from headgate.features.runs.preview.schemas import DryBudget, DryTotals, Finding
from headgate.features.runs.transitions import clock
from headgate.graph.model import FlowSettings

_WHOSE = {BudgetScope.RUN: "The budget of a run", BudgetScope.DAY: "What is left of the flow's daily budget"}
_UNITS = {Kind.USD: "US dollars", Kind.TOKENS: "tokens"}


async def budgets_of(budgets: Budgets, settings: FlowSettings, flow_id: str, *, tenant_id: str) -> list[DryBudget]:
    """Return the budgets that a run of a flow would charge, with what is used today."""
    accounts = accounts_of("", flow_id, run=(settings.run_budget,), daily=settings.daily_budget, inherited=())
    return [DryBudget.model_validate(use) for use in await budgets.read(tenant_id, accounts, clock())]


def exceeded(budgets: Iterable[DryBudget], totals: DryTotals) -> list[Finding]:
    """Return a finding for each budget of which less is left than the first models of the certain steps use."""
    least = {Kind.TOKENS: float(totals.tokens_input_at_least), Kind.USD: totals.cost_usd_known}
    left = [
        (budget, budget.limit - budget.used)
        for budget in budgets
        if totals.model_calls_at_least and budget.kind in least
    ]
    return [
        Finding(
            severity="error",
            code="budget_exceeded",
            message=f"{_WHOSE[budget.scope]} is {rest:,.6g} {_UNITS[budget.kind]}, and its certain steps need at least"
            f" {least[budget.kind]:,.6g}.",
            remedy="Raise it in the settings of the flow, or shorten the prompts.",
        )
        for budget, rest in left
        if rest <= 0 or rest < least[budget.kind]
    ]
