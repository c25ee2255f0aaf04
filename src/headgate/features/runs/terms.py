"""Limits that a run was started with: pinned in its row, passed on to the runs of its steps."""

from dataclasses import dataclass
from typing import Any, Literal

import orjson

from headgate.features.runs.budgets.accounts import Account, account_of
from headgate.features.runs.transitions import Json

SECONDS_PER_POINT = 6
"""A run of priority 10 goes before those of its user that wait less than a minute longer: none waits for ever."""
MOST_PRIORITY = 100
"""Also that of runs that have begun among those of their user that have not."""


StopRule = Literal["breakpoints", "next", "end"]
"""Where a run stops next: at its breakpoints, before whichever step comes next, or nowhere any more."""


@dataclass(frozen=True, slots=True)
class Stops:
    """Where a run stops before steps until a user continues it."""

    breakpoints: tuple[str, ...]
    """Ids of the steps to stop before."""
    then: StopRule = "breakpoints"

    def before(self, step_id: str) -> bool:
        """Whether the run stops before the first attempt of the step."""
        return self.then == "next" or (self.then == "breakpoints" and step_id in self.breakpoints)


@dataclass(frozen=True, slots=True)
class Terms:
    """What limits one run."""

    budgets: tuple[Account, ...] = ()
    """Accounts that its steps charge."""
    priority: int = 0
    """Its place among those that wait for a slot or a worker."""
    handles: bool = False
    """Whether it handles the failure of another run, or a run above it does: its own failure is not handled."""
    stops: Stops | None = None
    """Where it stops. Never for the runs of its steps; None for a run that was started without breakpoints."""

    def stored(self) -> Json | None:
        """Return the form in which the run's row has it; None when nothing limits the run."""
        if self == NO_TERMS:
            return None
        members: dict[str, Any] = {"budgets": [account.stored() for account in self.budgets]}
        if self.priority:
            members["priority"] = self.priority
        if self.handles:
            members["handles"] = True
        if self.stops is not None:
            members["stops"] = {"breakpoints": self.stops.breakpoints, "then": self.stops.then}
        return orjson.dumps(members).decode()


NO_TERMS = Terms()


def terms_of(stored: Json | dict[str, Any] | None) -> Terms:
    """Return the terms in a run's row."""
    if not stored:
        return NO_TERMS
    members = orjson.loads(stored) if isinstance(stored, str) else stored
    stops = members.get("stops")
    return Terms(
        budgets=tuple(account_of(account) for account in members.get("budgets", ())),
        priority=members.get("priority", 0),
        handles=members.get("handles", False),
        stops=None if stops is None else Stops(tuple(stops["breakpoints"]), stops["then"]),
    )
