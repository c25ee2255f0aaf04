"""Use of daily budgets: a query of flows becomes one of what they have used today of each limit."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, Select, and_, select

from headgate.features.flows.tables import FlowRow
from headgate.features.runs.budgets.accounts import MICROSECONDS, BudgetScope
from headgate.features.runs.budgets.tables import budget_accounts
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.terms import terms_of

AnyRow = Row[*tuple[Any, ...]]
_R, _USED = flow_runs.c, budget_accounts.c


def used_today(query: Select[Any], at: int) -> Select[Any]:
    """Return the query of flows with a row per flow and kind of budget: `kind`, `used`, `terms`, `changed_at`.

    `terms` are those of the latest run of the flow: they have the limits.
    """
    today = f":{datetime.fromtimestamp(at / MICROSECONDS, UTC):%Y-%m-%d}"
    terms = (
        select(_R.terms)
        .where(_R.flow_id == FlowRow.id, _R.tenant_id == FlowRow.tenant_id, _R.terms.is_not(None))
        .order_by(_R.id.desc())
        .limit(1)
        .correlate(FlowRow)
        .scalar_subquery()
    )
    account = and_(_USED.tenant_id == FlowRow.tenant_id, _USED.subject == "flow:" + FlowRow.id + today)
    query = query.add_columns(_USED.kind, _USED.used, _USED.changed_at, terms.label("terms"))
    return query.join(budget_accounts, account)


def share_of(row: AnyRow) -> float:
    """Return how much of a limit a row of `used_today` has used, in percent; 0 without a limit."""
    own = (
        account
        for account in terms_of(row.terms).budgets
        if account.scope is BudgetScope.DAY and account.owner_id == row.flow_id
    )
    limit = next((limit for account in own for kind, limit in account.limits.items() if kind == row.kind), None)
    return round(100 * row.used / limit, 1) if limit else 0.0
