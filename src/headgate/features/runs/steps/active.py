"""A run that this process executes."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

from headgate.features.runs.events import RunEvents
from headgate.features.runs.steps.ledger import Ledger
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.features.runs.terms import NO_TERMS, Terms
from headgate.features.runs.transitions import Claim, Json, RunKey
from headgate.features.runs.waiting import Tries
from headgate.foundation.fair_places import NOBODY, Share
from headgate.foundation.secret_values import SecretValues
from headgate.sdk import RunInput


@dataclass(slots=True)
class ActiveRun:
    """State of a run in this process. Lives on the event loop only."""

    key: RunKey
    planned: PlannedFlow
    input: RunInput
    started_at: int
    ledger: Ledger
    events: RunEvents
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    """Step and output to the hash of the value, for values that a later step has read."""
    working: dict[str, Claim] = field(default_factory=dict)
    """Steps that this process executes."""
    ready: deque[str] = field(default_factory=deque)
    """Steps that may be claimed when a slot is free."""
    leaf_payloads: dict[str, Json] = field(default_factory=dict)
    """Stored outputs of the plan's last steps."""
    conducted: bool = True
    """Whether a task waits for its tasks, so that more may be added."""
    tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Serialises the transitions of the run, so that each starts from the state after the last one."""
    failed: bool = False
    ended: bool = False
    """The run is over in the database."""
    abandoned: bool = False
    """Cancelled, or recovered by another process: no further work or events here."""

    share: Share = NOBODY
    """Tenant, space and user for whom it is executed, for fair scheduling."""
    secrets: SecretValues = field(default_factory=SecretValues)
    """Secret values that its steps have read in this process; they are redacted from everything stored or shown."""
    absorbed: int = 0
    """How often results of other processes were read into its ledger: these may contain secrets."""
    recalled: int = 0
    """The value of `absorbed` up to which secrets are known here."""
    suspended: bool = False
    """A step of it waits since it was suspended here, or it is paused: the process that wakes it continues the run."""
    woken: dict[str, str] = field(default_factory=dict)
    """Steps that were woken for their next attempt, and what they had waited for."""
    tries: dict[str, Tries] = field(default_factory=dict)
    """Failed attempts at the steps that were attempted before."""

    user_id: str | None = None
    """The user who started it; of a run that a step started, the user of that step's run."""
    visitor: str | None = None
    """Digest of the network address of the visitor who started it."""
    parent_run_id: str | None = None
    """The run whose step started it."""
    terms: Terms = NO_TERMS
    """What limits it."""
    result_step: str | None = None
    """The step that the run stops at, whose output is its result; None: the plan's last steps."""
    only: frozenset[str] | None = None
    """The steps that this process may claim; None for all."""

    def may_take(self, step_id: str) -> bool:
        """Whether the step may be claimed here."""
        return self.only is None or step_id in self.only

    def holds(self, step_id: str, attempt: int) -> bool:
        """Return whether this attempt is executed here."""
        claim = self.working.get(step_id)
        return claim is not None and claim.attempt == attempt

    def returns_result(self, step_id: str) -> bool:
        """Whether the step's output belongs to the run's result."""
        if self.result_step is not None:
            return step_id == self.result_step
        return not self.planned.steps[step_id].step.children

    def abandon(self) -> None:
        """Stop all work on the run."""
        self.abandoned = True
        for task in self.tasks:
            task.cancel()
