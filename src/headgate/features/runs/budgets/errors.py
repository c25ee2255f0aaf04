"""Errors of budgets."""

from headgate.foundation.errors import Conflict, Invalid

BUDGET_EXCEEDED = "budget_exceeded"


class BudgetExceeded(Conflict):
    """A call or a step would exceed a budget. Carries `budget`, `scope`, `used`, `requested` and `limit`."""

    code = BUDGET_EXCEEDED
    title = "Budget exceeded"


class PriceUnknown(Invalid):
    """A budget of money applies to a model without a known price."""

    code = "price_unknown"
