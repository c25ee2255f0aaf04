"""The port of a domain: a platform whose flows the agent can develop (seed 004, DD-008).

`Domain.open` gives a `Workplace` for one session: the flows of one place, seen as one person. The workflow knows
nothing else of a place. Everything that is written goes through `writing.Journal`, never through a tool itself: a tool
that writes only says what it would change (`Change`).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pydantic import JsonValue
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.foundation.canonical import digest, portable
from headgate.graph.cases import TestCase


def mark_of(definition: dict[str, JsonValue]) -> str:
    """The mark of a definition: SHA-256 of its canonical JSON.

    `Held.mark` is this of `Held.definition`, and what is written is marked before it is. So a place whose server
    changes what it is given puts both, `Held.definition` and `Change.definition`, into the server's own form.
    """
    return digest(portable(definition))


class Phase(StrEnum):
    """A phase of the work with its own tools and instructions."""

    DISCOVER = "discover"
    PLAN = "plan"
    PATCH = "patch"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Held:
    """The stored state of a flow."""

    flow_id: str
    name: str
    definition: dict[str, JsonValue]
    mark: str
    """`mark_of` the definition, without revisions and dates."""
    about: dict[str, JsonValue] = field(default_factory=dict)
    """What the platform needs to write it again: a revision, a type. Plain JSON."""
    saved: str = ""
    """Changes with every save, also without effect: a revision, a date; empty: unknown."""


@dataclass(frozen=True, slots=True)
class Change:
    """The write that a tool proposes. Nothing is written yet."""

    definition: dict[str, JsonValue]
    """The complete flow after the change."""
    summary: str
    """Summary of the change, in a line."""
    name: str = ""
    """Name of the flow, if it is created or renamed."""
    about: dict[str, JsonValue] = field(default_factory=dict)
    creates: list[dict[str, JsonValue]] = field(default_factory=list)
    """Other flows that are created with it, each with its `id` and `definition`."""
    answer: dict[str, JsonValue] = field(default_factory=dict)
    """Result for the model in addition to the outcome."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem that prevents a flow from being written (pre-flight, DD-018)."""

    where: str
    """Node or edge; empty for the flow itself."""
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return f"{where}{self.message} {self.remedy}".strip()


Answer = dict[str, JsonValue]
"""A tool's result: plain JSON; a refusal has `error` and `remedy`."""


@dataclass(frozen=True, slots=True)
class DomainTool:
    """A tool of a platform. Never raises for errors of the model: the result then has `error` and `remedy`."""

    name: str
    description: str
    schema: dict[str, Any]
    """JSON Schema of the arguments."""
    phases: frozenset[Phase]
    read: Callable[[dict[str, Any]], Awaitable[Answer]] | None = None
    """Executes a read-only tool."""
    change: Callable[[Held | None, dict[str, Any]], Awaitable[Change | Answer]] | None = None
    """Returns the change of the current flow (None: no flow yet), or an `Answer` as a refusal."""

    @property
    def writes(self) -> bool:
        """Whether it changes the flow."""
        return self.change is not None


@dataclass(frozen=True, slots=True)
class NeededCredential:
    """A required credential that is missing on the platform. Never a value."""

    type: str
    """Type name on the platform: `openAIApi`, `OPENAI_API_KEY`."""
    label: str
    fields: tuple["CredentialField", ...] = ()
    """Values that a user must enter to create it; empty if it must be created elsewhere."""
    where: str = ""
    """Where to make it otherwise, in a sentence."""


@dataclass(frozen=True, slots=True)
class CredentialField:
    """A value of a credential."""

    name: str
    label: str
    secret: bool = True
    optional: bool = False


@dataclass(frozen=True, slots=True)
class TrialResult:
    """Result of one run of one test case."""

    answer: str
    run_id: str = ""
    """The run, or the platform's id of the execution."""
    error: str = ""
    """Why there is no answer; empty if there is one."""
    duration_ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    link: str = ""
    """Path of the run's page in the studio; empty without one."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """One flow that becomes an earlier version of itself."""

    flow_id: str
    now: Held | None
    """Its expected current state; None: deleted."""
    target: Held | None
    """Its target state; None: removed."""


@runtime_checkable
class PutsBack(Protocol):
    """A workplace whose flows are in the database of the sessions: several are written in one transaction."""

    async def put_back(self, session: AsyncSession, step: PutBack) -> None:
        """Write a step within a transaction. Raises `WriteConflict` when the flow is not `now` any more."""


class Workplace(Protocol):
    """Flows of one platform for one user and session. Close it when the session pauses."""

    @property
    def tools(self) -> Sequence[DomainTool]:
        """Return every tool of all phases."""

    def knowledge(self, phase: Phase) -> str:
        """Markdown of the skill for a phase."""

    async def read(self, flow_id: str) -> Held:
        """Return a flow in its current state. Raises `NotFound`, `Forbidden`, `UpstreamFailed`."""

    def preflight(self, change: Change) -> Sequence[Fault]:
        """Return what prevents a change from being written; called by the journal before every write.

        Empty: nothing.
        """

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        """Write a change; without `before` make a new flow. Raises `WriteConflict` when the flow is not `before` now.

        `token` is unique to this write: a place that has no other way stores it where `find_written` sees it.
        """

    async def find_written(self, token: str) -> Held | None:
        """Return the flow created by the write with this token, if its response was lost."""

    async def remove(self, flow_id: str, expected_mark: str) -> None:
        """Delete a flow that the session created. Raises `WriteConflict` when it has changed."""

    def compare(self, before: dict[str, JsonValue] | None, after: dict[str, JsonValue]) -> list[str]:
        """Return the differences, in lines that begin with `+`, `-` or `~`."""

    async def missing_credentials(self, types: Sequence[str]) -> Sequence[NeededCredential]:
        """Return which of these the platform lacks."""

    async def add_credential(self, type: str, name: str, values: Mapping[str, str]) -> None:  # noqa: A002 - its name
        """Create a credential. The values are only sent to the platform. Raises `Invalid`, `Forbidden`."""

    async def run_case(self, flow_id: str, case: TestCase, *, session: str) -> TrialResult:
        """Run a case once, in a separate chat. Never raises for errors of the flow."""

    def link(self, flow_id: str) -> str:
        """Address of the flow's page; from the root of the studio for our own."""

    async def close(self) -> None:
        """Close connections."""


class Domain(Protocol):
    """A platform."""

    @property
    def name(self) -> str:
        """`headgate`, `flowise`."""

    async def open(self, principal: Principal, space_id: str, instance_id: str) -> Workplace:
        """A workplace for a session. Raises `NotFound` for an unknown instance, `PermissionMissing`."""
