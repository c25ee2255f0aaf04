"""Queries on budget accounts. The tenant is always required."""

from collections.abc import Mapping, Sequence

from sqlalchemy import case, delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.budgets.accounts import MICROSECONDS, BudgetScope, Charge, name_of
from headgate.features.runs.budgets.tables import budget_accounts
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import insert_into

KEPT_DAYS = 31
"""Days for which the usage of earlier days is stored."""
_DAY = 86_400 * MICROSECONDS


async def hold_accounts(
    session: AsyncSession, charges: Sequence[Charge], at: int, *, tenant_id: str
) -> Mapping[str, int]:
    """Create and lock the rows of accounts until the transaction ends. Returns the used amounts by `name_of`.

    Rows are locked in one order, so that runs that share accounts do not wait for each other.
    """
    used: dict[str, int] = {}
    for charge in sorted(charges, key=name_of):
        amount = await _locked(session, charge, tenant_id=tenant_id)
        if amount is None:
            values = await _row(session, charge, at, tenant_id=tenant_id)
            await session.execute(insert_into(session, budget_accounts).values(**values).on_conflict_do_nothing())
            await _forget(session, charge, at, tenant_id=tenant_id)
            amount = await _locked(session, charge, tenant_id=tenant_id) or 0
        used[name_of(charge)] = amount
    return used


async def _locked(session: AsyncSession, charge: Charge, *, tenant_id: str) -> int | None:
    table = budget_accounts.c
    query = select(table.used).where(
        table.subject == charge.subject, table.kind == charge.kind, table.tenant_id == tenant_id
    )
    return (await session.execute(query.with_for_update())).scalar_one_or_none()


async def add_used(session: AsyncSession, charge: Charge, amount: int, at: int, *, tenant_id: str) -> None:
    """Add to what is used, or subtract what a call did not use."""
    table = budget_accounts.c
    changed = table.used + amount
    await session.execute(
        update(budget_accounts)
        .where(table.subject == charge.subject, table.kind == charge.kind, table.tenant_id == tenant_id)
        .values(used=case((changed < 0, 0), else_=changed), changed_at=at)
    )


async def read_used(session: AsyncSession, subjects: Sequence[str], *, tenant_id: str) -> Mapping[tuple[str, str], int]:
    """Return the used amounts by subject and kind."""
    table = budget_accounts.c
    rows = await session.execute(
        select(table.subject, table.kind, table.used).where(table.subject.in_(subjects), table.tenant_id == tenant_id)
    )
    return {(row.subject, row.kind): row.used for row in rows}


async def _row(session: AsyncSession, charge: Charge, at: int, *, tenant_id: str) -> dict[str, object]:
    owner = charge.account.owner_id
    is_run = charge.account.scope is BudgetScope.RUN
    flow_id = owner
    if is_run:
        query = select(flow_runs.c.flow_id).where(flow_runs.c.id == owner, flow_runs.c.tenant_id == tenant_id)
        flow_id = (await session.execute(query)).scalar_one_or_none() or ""
    return {
        "subject": charge.subject,
        "kind": charge.kind.value,
        "tenant_id": tenant_id,
        "flow_id": flow_id,
        "flow_run_id": owner if is_run else None,
        "used": 0,
        "changed_at": at,
    }


async def _forget(session: AsyncSession, charge: Charge, at: int, *, tenant_id: str) -> None:
    """On the first use of a day, delete the flow's days that are no longer shown."""
    if charge.account.scope is BudgetScope.DAY:
        table = budget_accounts.c
        old = table.changed_at < at - KEPT_DAYS * _DAY
        await session.execute(
            delete(budget_accounts).where(
                table.flow_id == charge.account.owner_id,
                table.flow_run_id.is_(None),
                table.tenant_id == tenant_id,
                old,
            )
        )
