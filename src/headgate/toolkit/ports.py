"""Ports of the toolkit: running flows, and generating components."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import JsonValue

from headgate.features.access.principal import Principal
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.features.flows.summaries import Wanted
from headgate.features.flows.undo import Draft
from headgate.graph.model import Flow
from headgate.sdk.outside import Marks

if TYPE_CHECKING:
    from headgate.toolkit.stored.visit import Visit


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """Outcome of a run, read back from its stored results."""

    run_id: str
    status: str
    outputs: dict[str, JsonValue]
    """Final step to its main output: text, or a short preview."""
    files: list[dict[str, JsonValue]]
    """Artifacts of the run: id, name, media type, size in bytes."""
    error: str = ""
    duration_ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    waits_for: str = ""
    """What the run waits for: `approval`, `event`, `time` or `retry`; empty when it waits for none of them."""
    waiting_run_id: str = ""
    """The run whose step waits: this one, or one that its steps started."""
    waits_until: str = ""
    """When it continues at the latest, ISO 8601; empty without such a time."""
    outside: Marks = ()
    """Origins of untrusted content that reached a step."""


class Runner(Protocol):
    """Runs a working flow: it is saved, pinned to a version and executed like any other run."""

    async def run(
        self,
        flow: Flow,
        *,
        text: str,
        form: Mapping[str, JsonValue],
        file_ids: tuple[str, ...] = (),
        outside: Marks = (),
    ) -> RunOutcome:
        """Run to the end; `file_ids` are added to those of the request. `outside` marks the input.

        Raises `FlowInvalid` when the flow cannot run.
        """


class StoredFlow(Protocol):
    """The stored flow of a workbench, and the services that know it."""

    @property
    def visit(self) -> "Visit":
        """The request, for tools on stored data."""

    @property
    def flow_id(self) -> str | None:
        """Its id; None before it is stored."""

    async def earlier_draft(self, *, to: int, at: int | None, revision: int) -> Draft | None:
        """Return an earlier draft, like `flows.undo.earlier_draft`; None when the flow is not stored.

        `revision`, unless it is 0, is the expected revision of the flow. Raises `FlowNotFound`,
        `PermissionMissing`, `StaleRevision`, `NothingToUndo`, `DraftNotFound`.
        """

    async def drafts(self, *, most: int) -> list[Draft]:
        """Return the newest drafts, the current one first; none for a flow that is not stored."""


RunEvent = Callable[[str, str, dict[str, JsonValue]], None]
"""Receives a run's progress: run id, event kind, event data."""


class RunsFlows(Protocol):
    """Runs a version of a stored flow to its end."""

    async def run_draft(
        self,
        principal: Principal,
        flow_id: str,
        *,
        text: str,
        form: Mapping[str, JsonValue],
        file_ids: tuple[str, ...],
        on_event: RunEvent,
        version: Wanted = "draft",
        idempotency_key: str | None = None,
        outside: Marks = (),
        deadline_seconds: float | None = None,
        until_waiting: bool = False,
        longest_wait_seconds: float | None = None,
    ) -> RunOutcome:
        """Pin the version, run it, and return its outcome; cancelled with its caller.

        `until_waiting` returns when the run waits for an approval or an event, too, and with `longest_wait_seconds`
        for a time that is further away.
        """


@dataclass(frozen=True, slots=True)
class SavedComponent:
    """A component that its user accepted."""

    checked: CheckedComponent
    stored: bool = True
    """Whether later requests of this user can use it; `not_kept` gives the reason if not."""
    not_kept: str = ""


class ComponentMaker(Protocol):
    """Creates missing components. Proposals are checked and not stored; `save` stores one."""

    @property
    def next_step(self) -> str:
        """Instructions to the model after a proposal."""

    async def generate(self, description: str) -> ProposedComponent:
        """Let the model write a component. Raises `ComponentNotMade` with the last fault when no attempt passed."""

    async def propose(self, code: str) -> ProposedComponent:
        """Check given code. Raises `ComponentNotMade` with every finding."""

    async def save(self, code: str, proposal_id: str) -> SavedComponent:
        """Store a component that its user accepted. Raises `ComponentNotProposed`, `UserComponentError`."""
