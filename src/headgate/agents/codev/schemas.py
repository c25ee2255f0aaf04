"""What the sessions API takes and answers (seed 004, DD-011, DD-012, DD-025, DD-030). One answer for every call."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, SecretStr, field_validator, model_validator

from headgate.agents.codev.keys import Case, Words
from headgate.graph.cases import MOST_CASES
from headgate.graph.json_values import PlainText

Status = Literal["in_progress", "pending_interrupt", "completed", "stopped", "error"]
InterruptType = Literal["clarification", "credential_check", "plan_approval", "result_review"]
LONGEST_WORDS = 20_000


class SessionStart(BaseModel):
    """What to start a session with."""

    model_config = ConfigDict(extra="forbid")

    requirement: Words = Field(min_length=1, max_length=LONGEST_WORDS, description="What is wanted, in words.")
    domain: str = Field(default="headgate", max_length=40, description="`headgate` or `flowise`.")
    flow_id: PlainText | None = Field(default=None, max_length=100, description="Flow to work on; none: make one.")
    instance_id: PlainText = Field(default="", max_length=100, description="Flowise: which server; empty: the first.")
    space_id: str | None = Field(default=None, max_length=36, description="Space of a new flow; none: one's own.")
    model: PlainText | None = Field(default=None, max_length=300, description="`provider/name`; none: as set.")
    test_trials: int = Field(default=1, ge=1, le=10, description="How often each test is run; all must pass.")
    max_iterations: int | None = Field(default=None, ge=1, le=20, description="Plans that are tried at most.")
    token_budget: int | None = Field(default=None, ge=1000, le=50_000_000, description="Tokens of the session at most.")
    skip_clarification: bool = Field(default=False, description="Ask no questions before looking.")
    repairs_approved: bool = Field(
        default=False, description="Whether repairs of the approved plan go on without another approval."
    )
    webhook_url: PlainText | None = Field(default=None, max_length=2000, description="Told of each interrupt.")


class Clarification(BaseModel):
    """Answers to the questions."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["clarification"]
    text: Words = Field(max_length=LONGEST_WORDS, description="Empty: go on without.")


class CredentialsDone(BaseModel):
    """The credentials are there now, or the session is to go on without them."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["credential_check"]
    skip: bool = False


class PlanAnswer(BaseModel):
    """Approve a plan, as it is or edited; or say what should be otherwise."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["plan_approval"]
    approved: bool
    plan: Words | None = Field(default=None, max_length=100_000, description="The plan as it was edited.")
    cases: list[Case] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_CASES,
        description="The tests as they were edited; none: as planned.",
    )
    feedback: Words = Field(default="", max_length=LONGEST_WORDS, description="Not approved: what to plan anew.")
    repairs_approved: bool | None = None
    stop: bool = Field(default=False, description="Not approved: end the session.")

    @field_validator("cases")
    @classmethod
    def _have_names_of_their_own(cls, cases: list[Case] | None) -> list[Case] | None:
        names = [case.name for case in cases or ()]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two test cases have the name {twice!r}; give each its own")
        return cases


class ReviewAnswer(BaseModel):
    """Accept the result, or say what should be otherwise."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["result_review"]
    accepted: bool
    feedback: Words = Field(default="", max_length=LONGEST_WORDS)
    save_tests: bool = Field(default=False, description="Keep the cases as the flow's test set.")
    stop: bool = Field(default=False, description="Not accepted: end the session.")


ResumeAnswer = Annotated[Clarification | CredentialsDone | PlanAnswer | ReviewAnswer, Field(discriminator="type")]


class Resume(BaseModel):
    """The answer to what a session waits for."""

    model_config = ConfigDict(extra="forbid")

    interrupt_id: str | None = Field(
        default=None, max_length=64, description="Of the interrupt that is answered; an answer to another is refused."
    )
    response: ResumeAnswer


class InterruptPayload(BaseModel):
    """What a session waits for. Members that are not of its type are absent from `data`.

    | type | data |
    |---|---|
    | clarification | `questions`, `ambiguity` |
    | credential_check | `missing`: `type`, `label`, `fields` (`name`, `label`, `secret`, `optional`), `where` |
    | | the key of the session's model: also `of` ("model"), `model`, `reason`, `refused` (by the provider) |
    | plan_approval | `plan`, `cases`, `iteration`, `verdict`, `conflict`, `test_trials` |
    | | `repairs_approved`; `tests_changed`: whether a repair is asked about since it changes approved tests |
    | | `before`: the plan and cases that it takes the place of, as they were approved; null for the first |
    | result_review | `summary` (Markdown), `diff` (lines), `trials`, `cases`, `flow_id`, `link`, `iteration` |
    | | `verdict`: what the judge still wants, where no plan or token is left to carry it out; else null |
    """

    id: str
    type: InterruptType
    prompt: str
    """What is asked, in a sentence."""
    data: dict[str, JsonValue] = Field(default_factory=dict)


class SessionResponse(BaseModel):
    """A session, for every call on one."""

    thread_id: str
    status: Status
    phase: str
    iteration: int
    domain: str
    instance_id: str
    space_id: str
    """Where it belongs: who may edit flows there may answer, stop and delete it."""
    requirement: str
    model: str
    flow_id: str | None
    flow_name: str
    link: str
    """Address of the flow's page; empty while there is no flow."""
    interrupt: InterruptPayload | None
    stop_reason: str
    """Why it stopped or failed, or what of an accepted result could not be kept; empty otherwise."""
    total_input_tokens: int
    total_output_tokens: int
    token_budget: int
    can_roll_back: bool
    can_go_on: bool = False
    """Whether it can continue: it failed, was stopped by hand, used its budget up, or waits for its model's key."""
    lacks_budget: bool = False
    """Whether it can continue only with a larger `token_budget`: what was paid for is kept."""
    hint: str = ""
    """What to do about what was left out of the last thing that was written, since it looks like a key; else empty."""
    last_event: int
    created_at: datetime
    updated_at: datetime
    state: dict[str, Any] = Field(default_factory=dict)
    """What is known so far: `clarification`, `discovery_summary`, `plan`, `cases`, `patch_summary`, `trials`,
    `converge_verdict`, `conflict`, `writes` (`number`, `tool`, `summary`, `state`, `at`). Absent in lists."""


class Retry(BaseModel):
    """How a session continues that failed, was stopped, or lacks budget or its model's key."""

    model_config = ConfigDict(extra="forbid")

    model: PlainText | None = Field(
        default=None, min_length=1, max_length=300, description="`provider/name`; none: the one it had."
    )
    token_budget: int | None = Field(
        default=None, ge=1000, le=50_000_000, description="Larger than what is used; where the budget is used up."
    )


class RollbackAnswer(BaseModel):
    """How a session is rolled back."""

    model_config = ConfigDict(extra="forbid")

    choice: Literal["keep_theirs", "take_mine"] | None = Field(
        default=None,
        description="Where somebody else changed a flow meanwhile. `keep_theirs`: it goes back only as far as none of "
        "their changes is lost. `take_mine`: it becomes what it was before the session. None: it is refused.",
    )
    token: PlainText | None = Field(
        default=None, max_length=64, description="Of the preview; required with `choice`. Refused once a flow changed."
    )

    @model_validator(mode="after")
    def _has_seen_the_differences(self) -> "RollbackAnswer":
        if self.choice is not None and self.token is None:
            raise ValueError("`choice` needs the `token` of the preview that shows what others changed")
        return self


RollbackOutcome = Literal["restored", "removed", "unchanged"]


class RollbackFlow(BaseModel):
    """What rolling back does to one flow. Lines begin with `+`, `-` or `~`."""

    flow_id: str
    name: str
    link: str
    conflict: bool
    """Whether somebody else changed or deleted it meanwhile, so that an answer is needed."""
    deleted: bool
    """Whether it was deleted meanwhile."""
    theirs: list[str]
    """What others changed since the session began to write."""
    outcome: RollbackOutcome
    """Of `take_mine`, and where there is no conflict."""
    changes: list[str]
    """What that changes, from the flow as it is now."""
    outcome_keeping: RollbackOutcome
    """Of `keep_theirs`."""
    changes_keeping: list[str]
    """What that changes."""


class RollbackPreview(BaseModel):
    """What rolling back a session would change, flow by flow. Nothing has happened yet."""

    token: str
    """Names this state of the flows; goes along with the answer."""
    conflict: bool
    """Whether an answer is needed: `keep_theirs` or `take_mine`."""
    flows: list[RollbackFlow]


class SessionSummary(BaseModel):
    """A session as a Markdown document (DD-034)."""

    thread_id: str
    summary: str


class SessionEvidence(BaseModel):
    """The record of a session as a chained and signed document."""

    format: str
    """`headgate-record/1`."""
    subject: dict[str, JsonValue]
    """The session: what was wanted, by whom, where, with which model, how it stands."""
    entries: list[dict[str, JsonValue]]
    """What happened, oldest first: `number`, `kind`, `at`, `data`, and the link of the chain."""
    seal: dict[str, JsonValue]


class SessionPage(BaseModel):
    """Sessions, newest first."""

    items: list[SessionResponse]
    next_cursor: str | None = None


class CredentialGiven(BaseModel):
    """A credential to be made in the session's place. Its values go there and are kept nowhere else."""

    model_config = ConfigDict(extra="forbid")

    type: PlainText = Field(min_length=1, max_length=200, description="As the interrupt names it.")
    name: Words = Field(default="", max_length=200, description="What it is called there; empty: its type.")
    values: dict[PlainText, SecretStr] = Field(min_length=1, max_length=40, description="Its fields by name.")


class InstanceOut(BaseModel):
    """A server of a domain that a session may work on."""

    id: str
    endpoint: str = ""


class DomainOut(BaseModel):
    """A kind of place that sessions may work on."""

    name: str
    label: str
    instances: list[InstanceOut]
    """Empty where there is only one place."""
    test_sets: bool
    """Whether accepted cases can be kept as the flow's test set."""


class Domains(BaseModel):
    """What sessions may work on, and with."""

    items: list[DomainOut]
    model: str = ""
    """The model of a session that names none, `provider/name`; empty where there is none that can be asked."""
