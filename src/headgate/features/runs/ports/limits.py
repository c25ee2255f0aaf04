"""Ports for what bounds runs: budgets, slots, quotas, circuit breakers, and the handlers of failed runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from headgate.features.runs.ports.origin import Origin
from headgate.sdk import Model

if TYPE_CHECKING:  # referenced without importing them
    from headgate.features.runs.budgets.accounts import Account, BudgetUse, Charge, Kind
    from headgate.features.runs.failure_handlers.values import FailedRun, HandlerLink
    from headgate.features.runs.quotas.bounds import Bound
    from headgate.features.runs.slots.values import SlotUse


class Budgets(Protocol):
    """Budgets of runs and of flows per day."""

    async def price(self, origin: Origin, model: Model) -> tuple[float, float] | None:
        """Return the price of a model in US dollars per million tokens of prompt and answer; None when unknown."""

    async def charge(
        self, tenant_id: str, accounts: "Sequence[Account]", amounts: "Mapping[Kind, int]", *, partial: bool = False
    ) -> "Sequence[Charge]":
        """Charge all accounts or none; `partial` charges what is left. Raises `BudgetExceeded`."""

    async def correct(self, tenant_id: str, charges: "Sequence[Charge]", amounts: "Mapping[Kind, int]") -> None:
        """Replace what was charged by what was used."""

    async def read(self, tenant_id: str, accounts: "Sequence[Account]", at: int) -> "Sequence[BudgetUse]":
        """Return what is used of each budget at a time."""


class Slots(Protocol):
    """Limits of what runs at the same time."""

    async def take_flow(self, origin: Origin, most: int) -> bool:
        """Take the slot of a run of a flow. False: it is queued, and the step is woken when it is granted."""

    async def take_key(self, origin: Origin, space_id: str, key: str, most: int) -> bool:
        """Take a slot of a step for a key of its space. False: it is queued."""

    async def most_of_model(self, origin: Origin, model: Model) -> int | None:
        """Return how many steps may call a model at the same time; None: any number."""

    async def take_model(self, origin: Origin, model: Model, most: int) -> bool:
        """Take a slot of a step for a model. False: it is queued."""

    async def take_connection(self, origin: Origin, connection_id: str, most: int) -> bool:
        """Take a slot of a step for a connection. False: it is queued."""

    async def grant_free(self) -> None:
        """Give free slots to those who wait."""

    async def read(self, tenant_id: str, run_id: str) -> "Sequence[SlotUse]":
        """Return the slots that a run and its steps hold or wait for."""

    async def count_flow(self, tenant_id: str, flow_id: str) -> tuple[int, int]:
        """Return how many runs of a flow hold a slot, and how many wait for one."""


class FailureHandlers(Protocol):
    """Flows that handle the failures of runs."""

    async def claim(self) -> "Sequence[FailedRun]":
        """Claim failed runs whose handler is to be started, each for one process at a time."""

    async def settle(self, failed: "FailedRun", problem: str | None = None) -> None:
        """Record that a handler was started, or why it was not."""

    async def link(self, tenant_id: str, run_id: str, *, handled: bool) -> "HandlerLink | None":
        """Return the handler of a run, or with `handled` the run whose failure this one handles."""


class Circuits(Protocol):
    """Circuit breakers of hosts, model servers, models and MCP servers."""

    async def enter(self, tenant_id: str, host: str, *, at_once: bool = False) -> None:
        """Return when a host may be asked. Raises `CircuitOpen`; with `at_once` also in a pause after one failure."""

    async def failed(
        self, tenant_id: str, host: str, code: str, *, pause_seconds: float = 0.0, counts: bool = True
    ) -> None:
        """Count a failure of a host; with `pause_seconds` it is paused at once for those who can ask another one."""

    async def succeeded(self, tenant_id: str, host: str) -> None:
        """Close the circuit of a host that answered."""


class Quotas(Protocol):
    """Limits of tenants, spaces and visitors."""

    async def of_start(self, tenant_id: str, space_id: str, visitor: str | None) -> "tuple[Bound, ...]":
        """Return the limits that the store checks. Raises `QuotaExceeded` where tokens are used up."""
