"""What the API of tests takes and answers."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.graph.cases import MOST_CASES, TestCase

MOST_TRIALS = 10
ResultState = Literal["running", "passed", "failed", "cancelled"]
StandingState = Literal["passed", "failed", "never", "empty"]


class TestSetIn(BaseModel):
    """A whole test set."""

    __test__ = False
    model_config = ConfigDict(extra="forbid")

    revision: str = Field(max_length=64, description="Of the tests that were read, so that nobody's edit is lost.")
    cases: list[TestCase] = Field(max_length=MOST_CASES)


class TestRunIn(BaseModel):
    """How the tests are to be run."""

    __test__ = False
    model_config = ConfigDict(extra="forbid")

    trials: int | None = Field(
        default=None,
        ge=1,
        le=MOST_TRIALS,
        description="How often each case is run; null: as often as the flow requires.",
    )
    wait: bool = Field(default=False, description="Answer when all is over, not when it has begun.")


class Standing(BaseModel):
    """How a flow's content stands with the flow's tests."""

    model_config = ConfigDict(frozen=True)

    state: StandingState
    """`never`: not run for this content, with these tests, as often as required; `empty`: there are no tests."""
    result_id: str | None = None
    """The result that decides."""
    failed: list[str] = Field(default_factory=list)
    """Names of the cases that failed in it."""


class TestSetOut(BaseModel):
    """A flow's tests, and how its draft stands with them."""

    __test__ = False

    revision: str
    """Another one after every change of the cases or their order. Replacing them takes it."""
    cases: list[TestCase]
    required: bool
    """Whether the draft's settings demand that they pass before it is published."""
    required_trials: int
    standing: Standing
    running: str | None
    """The id of the result that is being made now."""


class TrialOut(BaseModel):
    """One run of one case."""

    model_config = ConfigDict(from_attributes=True)

    position: int
    trial: int
    name: str
    passed: bool
    misses: list[str]
    """What did not hold, each to be read after "the answer"."""
    answer: str
    """Its beginning; empty when the run was deleted."""
    error: str
    """Why there is no answer; empty when there is one."""
    run_id: str
    """Empty where the run could not be started, or was deleted."""
    ms: int
    tokens: int


class TestResultSummary(BaseModel):
    """A test set that was run, in a list."""

    __test__ = False
    model_config = ConfigDict(from_attributes=True)

    id: str
    flow_id: str
    version: int
    logic_checksum: str
    set_checksum: str
    trials: int
    status: ResultState
    reason: str
    started_by: str | None
    started_at: datetime
    finished_at: datetime | None
    of: int
    """How many trials there are in all."""
    done: int = 0
    failures: int = 0


class TestResultOut(TestResultSummary):
    """The same with every trial that is over."""

    lines: list[TrialOut] = Field(default_factory=list)
