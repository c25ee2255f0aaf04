"""Ports of the workflow: model, write journal, pattern library."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import JsonValue

from headgate.agents.codev.domain import Answer, DomainTool, Held, Workplace
from headgate.agents.codev.state import Conflicted
from headgate.graph.cases import TestCase
from headgate.sdk.answers import Fault

Emit = Callable[[str, dict[str, JsonValue]], None]
"""Receives events: `kind`, data. Never waits.

| kind | data |
|---|---|
| `phase` | `phase`, `iteration`: the session came to a phase |
| `plan` | `plan`, `cases`, `iteration`: a plan as it was written, before anybody edited it |
| `token` | `text`, `phase`: a piece of the model's words; not kept |
| `tool_call` | `id`, `name`, `arguments` (clipped, no secrets), `phase` |
| `tool_result` | `id`, `name`, `ok`, `preview`, `ms` |
| `write` | `number`, `tool`, `summary`, `flow_id`, `state` |
| `trial` | a `state.Trial`, `of` (how many there will be) |
| `verdict` | `done`, and of a `state.Verdict` what there is |
| `usage` | `input_tokens`, `output_tokens`: totals so far |
| `conflict` | `message` |
| `action` | `action`, `by`, and what goes with it: what a user did; emitted by `sessions.acts`, not by the graph |
| `webhook` | `delivered`, `attempts`, `message` |
| `interrupt` | an `InterruptPayload`: the session waits; ends a stream |
| `done` | `status`, `stop_reason`; ends a stream |
| `error` | `code`, `message`, `remedy`; ends a stream |
"""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer."""

    text: str
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    """`id`, `name`, `args`; calls whose arguments are no JSON have `error` instead of `args`."""
    input_tokens: int = 0
    output_tokens: int = 0
    message: dict[str, Any] = field(default_factory=dict)
    """The message as LangChain's dict, for the history."""
    fault: Fault | None = None
    """Why the text is unusable: truncated at the output limit, or a tool call written as text."""


class Reasoning(Protocol):
    """A language model, whichever it is (DD-003)."""

    @property
    def model_id(self) -> str:
        """`provider/name`."""

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        system: str,
        tools: Sequence[DomainTool] = (),
        on_token: Callable[[str], None] = lambda _text: None,
    ) -> ModelAnswer:
        """Return an answer. `messages` are LangChain's dicts. Raises `UpstreamFailed`, `Invalid`, `RateLimited`."""


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a call that writes."""

    answer: Answer
    """Result for the model: `ok`, `flow_id`, `changed` (lines), or `error`, `remedy`, `faults`."""
    held: Held | None = None
    """The flow after the write."""
    conflict: Conflicted | None = None
    """Another user changed it: nothing was written, and the iteration ends."""


@dataclass(frozen=True, slots=True)
class WriteNote:
    """A write of the session, for its summary."""

    number: int
    tool: str
    summary: str
    state: str
    """`intended`, `done`, `refused`, `rolled_back`, `kept`."""
    iteration: int = 1


class WriteJournal(Protocol):
    """Executes the writes of tools: exactly once, checked before, with a snapshot, across crashes."""

    async def execute(
        self,
        call_id: str,
        tool: DomainTool,
        arguments: dict[str, Any],
        *,
        flow_id: str | None,
        expected_mark: str | None,
        iteration: int,
    ) -> Written:
        """Execute a call, or return its result if it was executed before.

        Args:
            call_id: Unique in the session, the same whenever the same call is made again.
            tool: One that writes.
            arguments: As the model gave them.
            flow_id: The session's flow; None while there is none.
            expected_mark: What the flow was when the session last saw it.
            iteration: For the record.
        """

    async def notes(self) -> Sequence[WriteNote]:
        """Return the session's writes so far, in order."""

    async def beginning(self) -> Held | None:
        """Return the flow before the session's first write; None if the session created it or wrote nothing.

        Read from the journal, since a definition may hold a secret that no checkpoint may.
        """


class Patterns(Protocol):
    """Flows that earlier sessions brought to their end."""

    def tools(self) -> Sequence[DomainTool]:
        """`search_patterns` and `use_pattern`, for the phase discover."""

    def building_tools(self, own: Sequence[DomainTool]) -> Sequence[DomainTool]:
        """Return `build_from_pattern`, for the patch phase of a platform whose own tools can build one; else none."""

    async def keep(self, *, requirement: str, held: Held, session_id: str) -> str:
        """Store an accepted flow. Returns its id. A duplicate is counted, not stored twice."""


class TestSets(Protocol):
    """Stores accepted cases as a flow's test set."""

    async def keep(self, flow_id: str, cases: Sequence[TestCase]) -> None:
        """Store them, by name: a case of the same name is replaced."""


@dataclass(slots=True)
class Working:
    """Services of a running session: the graph's runtime context. Never in a checkpoint."""

    session_id: str
    workplace: Workplace
    reasoning: Reasoning
    journal: WriteJournal
    patterns: Patterns
    emit: Emit
    test_sets: TestSets | None = None
    """None if the platform has no test sets."""
    skip_clarification: bool = False
    max_tool_calls: int = 60
    """Of one phase."""
    domain: str = "headgate"
    """Name of the workplace's domain, for texts that differ by domain."""
