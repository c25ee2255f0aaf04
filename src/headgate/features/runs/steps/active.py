"""A run that this process is carrying out."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

from headgate.features.runs.events import RunEvents
from headgate.features.runs.steps.ledger import Ledger
from headgate.features.runs.steps.parking import Parking
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.features.runs.transitions import Claim, Json, RunKey
from headgate.foundation.fair_places import NOBODY, Share
from headgate.foundation.secret_values import SecretValues
from headgate.sdk import RunInput


@dataclass(slots=True)
class ActiveRun:
    """What is known of a run and what is being done for it. Lives on the event loop only."""

    key: RunKey
    planned: PlannedFlow
    input: RunInput
    started_at: int
    ledger: Ledger
    events: RunEvents
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    """Step and output to the hash of the value, for those that a later step was given."""
    working: dict[str, Claim] = field(default_factory=dict)
    """Steps this process is busy with."""
    ready: deque[str] = field(default_factory=deque)
    """Steps that may be claimed as soon as there is room."""
    leaf_payloads: dict[str, Json] = field(default_factory=dict)
    """Stored outputs of the plan's last steps."""
    conducted: bool = True
    """Whether somebody waits for its tasks, so that more may be added."""
    tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Transitions of one run happen one after the other, so that each is worked out from what the last one left."""
    failed: bool = False
    ended: bool = False
    """The run is over in the database."""
    abandoned: bool = False
    """Cancelled, or taken by another process: nothing more is to be done or said here."""

    share: Share = NOBODY
    """For whom it is executed: limited places are shared by it."""
    secrets: SecretValues = field(default_factory=SecretValues)
    """The secret values that its steps have read in this process; nothing that is stored or shown holds one."""
    absorbed: int = 0
    """How often results of other processes were read into its ledger: secrets that they read may be in these."""
    recalled: int = 0
    """Up to which of those times the secrets that were read are known here."""
    parking: Parking | None = None
    """How long waits are parked; None: they are not."""
    parked: bool = False
    """A step of it was parked here: another task continues the run when its time is up."""
    waited: set[str] = field(default_factory=set)
    """Steps whose last attempt ended to wait."""

    result_step: str | None = None
    """The step that the run stops at, whose output is its result; None: those are the plan's last steps."""
    only: frozenset[str] | None = None
    """The steps that this process may claim; None for all."""

    def may_take(self, step_id: str) -> bool:
        """Whether the step may be claimed here."""
        return self.only is None or step_id in self.only

    def gives_result(self, step_id: str) -> bool:
        """Whether what the step makes is of the run's result."""
        if self.result_step is not None:
            return step_id == self.result_step
        return not self.planned.steps[step_id].step.children

    def abandon(self) -> None:
        """Stop all work on the run."""
        self.abandoned = True
        for task in self.tasks:
            task.cancel()
