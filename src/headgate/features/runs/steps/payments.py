"""Charges the budgets of a run for one attempt at a step: before each model call, and while the step runs."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from headgate.features.models.errors import ModelTimedOut
from headgate.features.runs.budgets.accounts import Account, Charge, Kind
from headgate.features.runs.budgets.errors import BudgetExceeded, PriceUnknown
from headgate.features.runs.ports.limits import Budgets
from headgate.features.runs.ports.origin import Origin
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.sdk import Model

SLICE_MS = 5_000
"""Milliseconds of execution time that are charged at once. A worker that dies has used up its last slice."""
AGAIN_SECONDS = 1.0
"""Pause before time is charged again when the database was not available."""
log = get_logger(__name__)
Price = tuple[float, float]
"""US dollars per million tokens of prompt and answer, which is microdollars per token."""


class StepPayments:
    """The budgets of one attempt.

    Args:
        budgets: The accounts.
        origin: The step.
        accounts: What the run charges.
    """

    def __init__(self, budgets: Budgets, origin: Origin, accounts: Sequence[Account]) -> None:
        self._budgets = budgets
        self._origin = origin
        self._accounts = accounts

    async def pay(self, model: Model, prompt_tokens: int) -> "ModelPayment | None":
        """Charge a call with the tokens of its prompt and the largest answer that its parameters allow.

        Without `max_tokens` only the prompt is charged before the call. Raises `BudgetExceeded`, `PriceUnknown`.
        """
        if not self._limits(Kind.TOKENS, Kind.USD):
            return None
        price = await self._price(model) if self._limits(Kind.USD) else None
        most = model.params.get("max_tokens")
        amounts = amounts_of(prompt_tokens, most if isinstance(most, int) else 0, price)
        charges = await self._budgets.charge(self._origin.key.tenant_id, self._accounts, amounts)
        return ModelPayment(self._budgets, self._origin.key.tenant_id, charges, price)

    async def _price(self, model: Model) -> Price:
        price = await self._budgets.price(self._origin, model)
        if price is None:
            raise PriceUnknown(
                f"Step '{self._origin.step_id}' would call {model}, whose price is unknown, in a run with a budget in"
                " US dollars. The model was not called.",
                remedy="Set its price in Settings, Models (0 where it costs nothing), or use a budget of tokens.",
            )
        return price

    @asynccontextmanager
    async def metered(self) -> AsyncIterator[None]:
        """Charge the execution time of the block in slices; stops it when none is left. Raises `BudgetExceeded`."""
        if not self._limits(Kind.SECONDS):
            yield
            return
        meter = _Meter(self._budgets, self._origin.key.tenant_id, self._accounts)
        await meter.take()
        try:
            async with asyncio.timeout(None) as scope:
                ticking = asyncio.create_task(meter.tick(scope))
                try:
                    yield
                finally:
                    ticking.cancel()
                    await asyncio.gather(ticking, return_exceptions=True)
        except TimeoutError:
            if meter.error is None or not scope.expired():
                raise
            raise meter.error from None
        finally:
            await meter.close()

    def _limits(self, *kinds: Kind) -> bool:
        return any(kind in account.limits for account in self._accounts for kind in kinds)


@dataclass(frozen=True, slots=True)
class ModelPayment:
    """A charged model call."""

    budgets: Budgets
    tenant_id: str
    charges: Sequence[Charge]
    price: Price | None

    async def answered(self, tokens: tuple[int | None, int | None]) -> None:
        """Replace the estimate by what the provider counted; without a count it remains."""
        if tokens != (None, None):
            amounts = amounts_of(tokens[0] or 0, tokens[1] or 0, self.price)
            await self.budgets.correct(self.tenant_id, self.charges, amounts)

    async def failed(self, error: HeadgateError) -> None:
        """Undo the charge of a call without an answer; one that timed out may have been paid for."""
        if not isinstance(error, ModelTimedOut):
            await self.budgets.correct(self.tenant_id, self.charges, {Kind.TOKENS: 0, Kind.USD: 0})


class _Meter:
    """Execution time of one attempt."""

    def __init__(self, budgets: Budgets, tenant_id: str, accounts: Sequence[Account]) -> None:
        self._budgets = budgets
        self._tenant_id = tenant_id
        self._accounts = accounts
        self._began = time.monotonic()
        self._charged = 0
        self._last: Sequence[Charge] = ()
        self.error: BudgetExceeded | None = None

    async def take(self) -> None:
        """Charge the next slice, or what is left. Raises `BudgetExceeded`."""
        self._last = await self._budgets.charge(self._tenant_id, self._accounts, {Kind.SECONDS: SLICE_MS}, partial=True)
        self._charged += self._last[0].amount

    async def tick(self, scope: asyncio.Timeout) -> None:
        """Charge slice after slice; end the scope when nothing is left."""
        while True:
            await asyncio.sleep(max(0.0, self._charged / 1000 - self._elapsed()))
            try:
                await self.take()
            except BudgetExceeded as error:
                self.error = error
                scope.reschedule(asyncio.get_running_loop().time())
                return
            except HeadgateError as error:
                log.warning("execution time could not be charged", problem=str(error))
                await asyncio.sleep(AGAIN_SECONDS)

    async def close(self) -> None:
        """Return what is left of the last slice."""
        unused = self._charged - round(self._elapsed() * 1000)
        if unused > 0 and self._last:
            used = max(0, self._last[0].amount - unused)
            await self._budgets.correct(self._tenant_id, self._last, {Kind.SECONDS: used})

    def _elapsed(self) -> float:
        return time.monotonic() - self._began


def amounts_of(tokens_input: int, tokens_output: int, price: Price | None) -> Mapping[Kind, int]:
    """Return the whole units of a call; fractions of a microdollar are rounded up."""
    amounts = {Kind.TOKENS: tokens_input + tokens_output}
    if price is not None:
        amounts[Kind.USD] = -int(-(tokens_input * price[0] + tokens_output * price[1]) // 1)
    return amounts
