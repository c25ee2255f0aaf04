"""The state of a session, as the graph's checkpoints hold it (seed 004, DD-007, 009, 019, 021, 029, 033).

Plain JSON values only, and no secret. `messages` is appended to, and is the history of phases in short: what tools
answered is kept in `exchange`, which lasts for one phase. Token counts are added up. All else is overwritten.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

Category = Literal["CREDENTIAL", "STRUCTURE", "LOGIC", "INCOMPLETE"]
PhaseName = Literal[
    "clarify", "discover", "check_credentials", "plan", "approve_plan", "patch", "test", "converge", "review", "done"
]


class Message(TypedDict):
    """One message of the session's history, in short."""

    role: Literal["user", "assistant"]
    content: str


class Verdict(TypedDict):
    """The evaluator's verdict on an unfinished iteration (DD-019)."""

    category: Category
    reason: str
    fix: str


class Trial(TypedDict):
    """One run of one test case."""

    case: str
    trial: int
    passed: bool
    answer: str
    """Truncated."""
    misses: list[str]
    error: str
    run_id: str
    link: str
    duration_ms: int


class Conflicted(TypedDict):
    """Another user changed the flow while the session ran."""

    message: str
    lines: list[str]
    """The changes, as far as known."""


def append_messages(held: list[Message] | None, new: list[Message] | None) -> list[Message]:
    """Reducer: later messages after earlier ones."""
    return [*(held or []), *(new or [])]


def sum_tokens(held: int | None, new: int | None) -> int:
    """Sum the token usage of the nodes (reducer)."""
    return (held or 0) + (new or 0)


class AgentState(TypedDict):
    """Everything that a session knows."""

    session_id: str
    requirement: str
    messages: Annotated[list[Message], append_messages]
    exchange: NotRequired[list[dict[str, Any]]]
    """Messages with the model in the current phase, as LangChain's dicts; cleared when the phase ends."""
    questions: NotRequired[list[str]]
    ambiguity: NotRequired[int]
    """0 to 10; from 5 on questions are asked (DD-033)."""
    clarification: NotRequired[str | None]
    discovery_summary: NotRequired[str]
    missing_credentials: NotRequired[list[dict[str, JsonValue]]]
    """Needed and not there: `type`, `label`, `fields`, `where`. Never a value."""
    credentials_skipped: NotRequired[bool]
    """Whether the user chose to continue without them."""
    credentials_given: NotRequired[bool]
    """Whether the user reported the credentials as added since the last question."""
    wanted_credentials: NotRequired[list[str]]
    """Types that the last verdict named as missing."""
    plan: NotRequired[str]
    replaced: NotRequired[dict[str, Any] | None]
    """The replaced plan and cases, including the user's edits."""
    cases: NotRequired[list[dict[str, JsonValue]]]
    """Test cases as `graph.cases.TestCase` dumps them."""
    approved: NotRequired[bool]
    repairs_approved: NotRequired[bool]
    """Whether repairs of the approved plan need no further approval."""
    feedback: NotRequired[str | None]
    """Changes requested by the user, until they are planned."""
    wishes: NotRequired[list[str]]
    """All changes requested by the user, the newest last."""
    tests_changed: NotRequired[bool]
    """Whether a repair needs approval because it changes approved tests."""
    flow_id: NotRequired[str | None]
    """The session's flow; None until one is created."""
    flow_mark: NotRequired[str | None]
    """`Held.mark` of the flow as this session last read or wrote it."""
    patch_summary: NotRequired[str]
    trials: NotRequired[list[Trial]]
    unsure: NotRequired[int]
    """Consecutive trials that were discarded because the flow was saved during the run."""
    test_trials: int
    """Runs of each case; all must pass (DD-021)."""
    converge_verdict: NotRequired[Verdict | None]
    left_open: NotRequired[bool]
    """Whether every trial passed but the verdict is undone, without plans or tokens left: the user decides."""
    conflict: NotRequired[Conflicted | None]
    iteration: int
    """1 for the first plan."""
    max_iterations: int
    total_input_tokens: Annotated[int, sum_tokens]
    total_output_tokens: Annotated[int, sum_tokens]
    token_budget: int
    stop_reason: NotRequired[str | None]
    """Why the session stopped early; None while it runs or when it is done."""
    stop_code: NotRequired[Literal["budget", "iterations", "rejected", "model_key"] | None]
    model_key: NotRequired[dict[str, Any] | None]
    """The model's own credential while it is waited for: `missing`, `model`, `reason`, `refused`. Never a value."""
    continue_at: NotRequired[str | None]
    """The node that runs when the session continues: after its model's key was set, or with a larger budget."""
    continued: NotRequired[int]
    """How often it was continued after a stop."""
    review: NotRequired[dict[str, JsonValue]]
    """The result for the user, read back from the platform: `summary`, `diff`, `flow_id`, `link`."""
    accepted: NotRequired[bool]
    save_tests: NotRequired[bool]
    pattern_id: NotRequired[str | None]
    note: NotRequired[str]
    """What could not be kept of what was accepted, in words; empty where all was."""
    done: NotRequired[bool]
