"""Charges budgets before something is spent, and corrects the charge afterwards: one transaction each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from headgate.features.runs.budgets import repository
from headgate.features.runs.budgets.accounts import UNITS, Account, BudgetUse, Charge, Kind, name_of
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database
from headgate.sdk import Model


class Prices(Protocol):
    """Prices of models in the space of a step's flow."""

    async def of(self, origin: Origin, model: Model) -> tuple[float, float] | None:
        """Return US dollars per million tokens of prompt and answer; None when unknown."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """The accounts of an installation (`ports.Budgets`)."""

    database: Database
    prices: Prices

    async def price(self, origin: Origin, model: Model) -> tuple[float, float] | None:
        """Return the price of a model in US dollars per million tokens of prompt and answer; None when unknown."""
        return await self.prices.of(origin, model)

    async def charge(
        self, tenant_id: str, accounts: Sequence[Account], amounts: Mapping[Kind, int], *, partial: bool = False
    ) -> Sequence[Charge]:
        """Charge all accounts or none. Raises `BudgetExceeded` naming the first one that would be exceeded.

        Args:
            tenant_id: The tenant of the run.
            accounts: What is charged; of each only the kinds that it limits.
            amounts: Whole units of each kind.
            partial: Whether less is charged where less is left; at least one unit.
        """
        at = clock()
        charges = [
            Charge(account, kind, account.subject(at), amount)
            for account in accounts
            for kind, amount in amounts.items()
            if kind in account.limits
        ]
        if not charges:
            return ()
        async with self.database.writing() as session:
            used = await repository.hold_accounts(session, charges, at, tenant_id=tenant_id)
            left = {charge: charge.account.limits[charge.kind] - used[name_of(charge)] for charge in charges}
            for charge in charges:
                needed = 1 if partial else charge.amount
                if left[charge] < max(needed, 1):
                    raise charge.account.exceeded(
                        charge.kind, charge.account.limits[charge.kind] - left[charge], needed
                    )
            if partial:
                least = min(*left.values(), *(charge.amount for charge in charges))
                charges = [Charge(charge.account, charge.kind, charge.subject, least) for charge in charges]
            for charge in charges:
                await repository.add_used(session, charge, charge.amount, at, tenant_id=tenant_id)
        return charges

    async def correct(self, tenant_id: str, charges: Sequence[Charge], amounts: Mapping[Kind, int]) -> None:
        """Replace what was charged by what was used."""
        changes = [(charge, amounts[charge.kind] - charge.amount) for charge in charges if charge.kind in amounts]
        changes = [(charge, change) for charge, change in changes if change]
        if changes:
            at = clock()
            async with self.database.writing() as session:
                for charge, change in sorted(changes, key=lambda entry: name_of(entry[0])):
                    await repository.add_used(session, charge, change, at, tenant_id=tenant_id)

    async def read(self, tenant_id: str, accounts: Sequence[Account], at: int) -> Sequence[BudgetUse]:
        """Return what is used of each budget."""
        subjects = [account.subject(at) for account in accounts]
        async with self.database.reading() as session:
            used = await repository.read_used(session, subjects, tenant_id=tenant_id)
        return [
            BudgetUse(
                account.scope,
                account.owner_id,
                kind,
                limit / UNITS[kind],
                used.get((subject, kind.value), 0) / UNITS[kind],
            )
            for account, subject in zip(accounts, subjects, strict=True)
            for kind, limit in account.limits.items()
        ]
