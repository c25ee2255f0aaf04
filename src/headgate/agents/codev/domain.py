"""The port of a domain: a kind of place where flows live and can be worked on (seed 004, DD-008).

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
    """A part of the work in which the model has tools or knowledge of its own."""

    DISCOVER = "discover"
    PLAN = "plan"
    PATCH = "patch"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Held:
    """A flow as it is stored in its place now."""

    flow_id: str
    name: str
    definition: dict[str, JsonValue]
    mark: str
    """`mark_of` the definition. Revisions and dates do not count."""
    about: dict[str, JsonValue] = field(default_factory=dict)
    """What the place itself needs to write it again: a revision, a type. Plain JSON."""
    saved: str = ""
    """Another after every save, also one that changes nothing or changes back: a revision, a date; empty: not known."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a tool would write. Nothing is written yet."""

    definition: dict[str, JsonValue]
    """The whole flow as it would then be."""
    summary: str
    """What it changes, in a line."""
    name: str = ""
    """Name of the flow, where it is made or renamed."""
    about: dict[str, JsonValue] = field(default_factory=dict)
    answer: dict[str, JsonValue] = field(default_factory=dict)
    """What the model is told beside the outcome."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that keeps a flow from being written (pre-flight, DD-018)."""

    where: str
    """Node or edge; empty for the flow as a whole."""
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        where = f"{self.where}: " if self.where else ""
        return f"{where}{self.message} {self.remedy}".strip()


Answer = dict[str, JsonValue]
"""What a tool answers: plain JSON; a refusal has `error` and `remedy`."""


@dataclass(frozen=True, slots=True)
class DomainTool:
    """A tool of a place. Never raises for what the model did: the answer then has `error` and `remedy`."""

    name: str
    description: str
    schema: dict[str, Any]
    """JSON Schema of the arguments."""
    phases: frozenset[Phase]
    read: Callable[[dict[str, Any]], Awaitable[Answer]] | None = None
    """Carries it out, for a tool that only reads."""
    change: Callable[[Held | None, dict[str, Any]], Awaitable[Change | Answer]] | None = None
    """Says what it would write, given the flow as it is now, None where there is none yet. An `Answer` refuses."""

    @property
    def writes(self) -> bool:
        """Whether it changes the flow."""
        return self.change is not None


@dataclass(frozen=True, slots=True)
class NeededCredential:
    """A credential that the work needs and the place does not have. Never a value."""

    type: str
    """As the place calls it: `openAIApi`, `OPENAI_API_KEY`."""
    label: str
    fields: tuple["CredentialField", ...] = ()
    """What a person has to give, to make it in place; empty where that has to be done elsewhere."""
    where: str = ""
    """Where to make it otherwise, in a sentence."""


@dataclass(frozen=True, slots=True)
class CredentialField:
    """A value that a credential wants."""

    name: str
    label: str
    secret: bool = True
    optional: bool = False


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What one run of one test case came to."""

    answer: str
    run_id: str = ""
    """The run, or the place's own id of what was executed."""
    error: str = ""
    """Why there is no answer; empty when there is one."""
    duration_ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    link: str = ""
    """Address of the run's page, from the root of the studio; empty where it has none."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """One flow that becomes an earlier version of itself."""

    flow_id: str
    now: Held | None
    """As it has to be before; None: deleted."""
    target: Held | None
    """What it becomes; None: it is removed."""


@runtime_checkable
class PutsBack(Protocol):
    """A workplace whose flows are in the database of the sessions: several are written in one transaction."""

    async def put_back(self, session: AsyncSession, step: PutBack) -> None:
        """Write a step within a transaction. Raises `WriteConflict` when the flow is not `now` any more."""
        ...


class Workplace(Protocol):
    """The flows of one place, as one person sees them, for one session. Close it when the session rests."""

    @property
    def tools(self) -> Sequence[DomainTool]:
        """Every tool, whatever the phase."""
        ...

    def knowledge(self, phase: Phase) -> str:
        """Markdown of the skill for a phase."""
        ...

    async def read(self, flow_id: str) -> Held:
        """A flow as it is now. Raises `NotFound`, `Forbidden`, `UpstreamFailed`."""
        ...

    def preflight(self, change: Change) -> Sequence[Fault]:
        """What keeps a change from being written; asked by the journal before every write. Empty: nothing."""
        ...

    async def write(self, change: Change, before: Held | None, token: str) -> Held:
        """Write a change; without `before` make a new flow. Raises `WriteConflict` when the flow is not `before` now.

        `token` is unique to this write: a place that cannot tell otherwise puts it where `find_written` sees it.
        """
        ...

    async def find_written(self, token: str) -> Held | None:
        """The flow that a write with this token made, when it was made and its answer was lost."""
        ...

    async def remove(self, flow_id: str, expected_mark: str) -> None:
        """Delete a flow that the session made. Raises `WriteConflict` when it is not as expected any more."""
        ...

    def compare(self, before: dict[str, JsonValue] | None, after: dict[str, JsonValue]) -> list[str]:
        """What is different, in lines that begin with `+`, `-` or `~`."""
        ...

    async def missing_credentials(self, types: Sequence[str]) -> Sequence[NeededCredential]:
        """Which of these the place does not have."""
        ...

    async def add_credential(self, type: str, name: str, values: Mapping[str, str]) -> None:  # noqa: A002 - its name
        """Make a credential. The values go to the place and nowhere else. Raises `Invalid`, `Forbidden`."""
        ...

    async def run_case(self, flow_id: str, case: TestCase, *, session: str) -> TrialResult:
        """Run a case once, in a chat of its own. Never raises for what the flow did."""
        ...

    def link(self, flow_id: str) -> str:
        """Address of the flow's page; from the root of the studio for our own."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Domain(Protocol):
    """A kind of place."""

    @property
    def name(self) -> str:
        """`headgate`, `flowise`."""
        ...

    async def open(self, principal: Principal, space_id: str, instance_id: str) -> Workplace:
        """A workplace for a session. Raises `NotFound` for an unknown instance, `PermissionMissing`."""
        ...
