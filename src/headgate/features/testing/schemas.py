"""API schemas of flow tests."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.graph.cases import MOST_CASES, TestCase

MOST_TRIALS = 10
ResultState = Literal["running", "passed", "failed", "cancelled"]
StandingState = Literal["passed", "failed", "never", "empty"]


class TestSetIn(BaseModel):
    """A complete test set."""

    __test__ = False
    model_config = ConfigDict(extra="forbid")

    revision: str = Field(
        max_length=64,
        description=("Revision of the tests that were read, so that concurrent edits are not overwritten."),
    )
    cases: list[TestCase] = Field(max_length=MOST_CASES)


class TestRunIn(BaseModel):
    """Options of a test run."""

    __test__ = False
    model_config = ConfigDict(extra="forbid")

    trials: int | None = Field(
        default=None,
        ge=1,
        le=MOST_TRIALS,
        description="How many times each case runs; null: as many times as the flow requires.",
    )
    wait: bool = Field(default=False, description="Respond when the tests have finished, not when they start.")


class QuestionTestsIn(BaseModel):
    """Tests to make from the questions of a knowledge base."""

    model_config = ConfigDict(extra="forbid")

    base_id: str = Field(max_length=36, description="Knowledge base whose questions are asked.")
    judge_model: str = Field(
        default="",
        max_length=250,
        pattern=r"^([^\s/\x00][^/\x00]*/[^\s\x00][^\x00]*)?$",
        description="Chat model that compares answers with the reference answers; empty: compared by rule.",
    )
    supported: bool = Field(default=False, description="Whether passages must support every sentence of the answers.")


class QuestionTestsOut(BaseModel):
    """Tests that were made from questions."""

    added: list[str]
    """Their names."""
    skipped: int
    """Questions that the flow has a test of already, or that have neither an answer nor a document to expect; with a
    judge, also those with a document that you cannot view."""
    left: int = 0
    """Questions for which the flow has no room: it has a limited number of tests."""


class Standing(BaseModel):
    """Test status of a flow's content."""

    model_config = ConfigDict(frozen=True)

    state: StandingState
    """`never`: no result for this content and these tests with the required trials; `empty`: there are no tests."""
    result_id: str | None = None
    """The deciding result."""
    failed: list[str] = Field(default_factory=list)
    """Names of its failed cases."""


class TestSetOut(BaseModel):
    """A flow's tests, and the test status of its draft."""

    __test__ = False

    revision: str
    """Changes with the cases or their order. Required for replacing them."""
    cases: list[TestCase]
    required: bool
    """Whether the draft's settings require them to pass before publishing."""
    required_trials: int
    standing: Standing
    running: str | None
    """The id of the running result."""


class TrialOut(BaseModel):
    """One run of one case."""

    model_config = ConfigDict(from_attributes=True)

    position: int
    trial: int
    name: str
    passed: bool
    misses: list[str]
    """Faults, each to be read after "the answer"."""
    answer: str
    """The beginning of the output; empty when the run was deleted."""
    error: str
    """Why there is no output; empty when there is one."""
    run_id: str
    """Empty when the run could not be started, or was deleted."""
    ms: int
    tokens: int


class TestResultSummary(BaseModel):
    """A test result in a list."""

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
    """Total number of trials."""
    done: int = 0
    failures: int = 0


class TestResultOut(TestResultSummary):
    """A test result with every finished trial."""

    lines: list[TrialOut] = Field(default_factory=list)
