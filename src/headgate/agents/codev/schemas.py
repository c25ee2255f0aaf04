"""Request and response bodies of the sessions API (seed 004, DD-011, DD-012, DD-025, DD-030)."""

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

    requirement: Words = Field(min_length=1, max_length=LONGEST_WORDS, description="The requirement, in words.")
    domain: str = Field(default="headgate", max_length=40, description="`headgate` or `flowise`.")
    flow_id: PlainText | None = Field(default=None, max_length=100, description="Flow to work on; null: create one.")
    instance_id: PlainText = Field(default="", max_length=100, description="Flowise: the server; empty: the first.")
    space_id: str | None = Field(default=None, max_length=36, description="Space of a new flow; null: your own.")
    model: PlainText | None = Field(default=None, max_length=300, description="`provider/name`; null: the default.")
    test_trials: int = Field(default=1, ge=1, le=10, description="How many times each test is run; all must pass.")
    max_iterations: int | None = Field(default=None, ge=1, le=20, description="Maximum number of plans.")
    token_budget: int | None = Field(default=None, ge=1000, le=50_000_000, description="Token budget of the session.")
    skip_clarification: bool = Field(default=False, description="Ask no questions before inspecting the instance.")
    repairs_approved: bool = Field(
        default=False, description="Whether repairs of the approved plan continue without another approval."
    )
    webhook_url: PlainText | None = Field(
        default=None, max_length=2000, description=("Webhook URL called at each interrupt.")
    )


class Clarification(BaseModel):
    """Answers to the questions."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["clarification"]
    text: Words = Field(max_length=LONGEST_WORDS, description="Empty: continue without.")


class CredentialsDone(BaseModel):
    """The credentials exist now, or the session continues without them."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["credential_check"]
    skip: bool = False


class PlanAnswer(BaseModel):
    """Approve a plan, as it is or edited; or request changes."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["plan_approval"]
    approved: bool
    plan: Words | None = Field(default=None, max_length=100_000, description="The plan as edited by the user.")
    cases: list[Case] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_CASES,
        description="The tests as edited; null: as planned.",
    )
    feedback: Words = Field(
        default="", max_length=LONGEST_WORDS, description=("When not approved: what to plan differently.")
    )
    repairs_approved: bool | None = None
    stop: bool = Field(default=False, description="When not approved: end the session.")

    @field_validator("cases")
    @classmethod
    def _have_names_of_their_own(cls, cases: list[Case] | None) -> list[Case] | None:
        names = [case.name for case in cases or ()]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two test cases have the name {twice!r}; names must be unique")
        return cases


class ReviewAnswer(BaseModel):
    """Accept the result, or request changes."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["result_review"]
    accepted: bool
    feedback: Words = Field(default="", max_length=LONGEST_WORDS)
    save_tests: bool = Field(default=False, description="Store the cases as the flow's test set.")
    stop: bool = Field(default=False, description="When not accepted: end the session.")


ResumeAnswer = Annotated[Clarification | CredentialsDone | PlanAnswer | ReviewAnswer, Field(discriminator="type")]


class Resume(BaseModel):
    """The answer to an interrupt of the session."""

    model_config = ConfigDict(extra="forbid")

    interrupt_id: str | None = Field(
        default=None,
        max_length=64,
        description=("Id of the interrupt that is answered; answers to another are rejected."),
    )
    response: ResumeAnswer


class InterruptPayload(BaseModel):
    """What a session waits for. Members of other types are absent from `data`.

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
    """The question, in a sentence."""
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
    """Its space: users who may edit flows there may answer, stop and delete it."""
    requirement: str
    model: str
    flow_id: str | None
    flow_name: str
    link: str
    """Path of the flow's page; empty without a flow."""
    interrupt: InterruptPayload | None
    stop_reason: str
    """Why it stopped or failed, or what of an accepted result could not be stored; empty otherwise."""
    total_input_tokens: int
    total_output_tokens: int
    token_budget: int
    can_roll_back: bool
    can_go_on: bool = False
    """Whether it can continue: it failed, was stopped by hand, used its budget up, or waits for its model's key."""
    lacks_budget: bool = False
    """Whether it needs a larger `token_budget` to continue; results so far are kept."""
    hint: str = ""
    """What to do about text that was removed from the user's last input because it looks like a key; else empty."""
    last_event: int
    created_at: datetime
    updated_at: datetime
    state: dict[str, Any] = Field(default_factory=dict)
    """What is known so far: `clarification`, `discovery_summary`, `plan`, `cases`, `patch_summary`, `trials`,
    `converge_verdict`, `conflict`, `writes` (`number`, `tool`, `summary`, `state`, `at`). Absent in lists."""


class Retry(BaseModel):
    """How to continue a session that failed, was stopped, or lacks budget or its model's key."""

    model_config = ConfigDict(extra="forbid")

    model: PlainText | None = Field(
        default=None, min_length=1, max_length=300, description="`provider/name`; null: unchanged."
    )
    token_budget: int | None = Field(
        default=None, ge=1000, le=50_000_000, description="Must exceed the tokens used; when the budget is used up."
    )


class RollbackAnswer(BaseModel):
    """How to roll back a session."""

    model_config = ConfigDict(extra="forbid")

    choice: Literal["keep_theirs", "take_mine"] | None = Field(
        default=None,
        description=(
            "When another user changed a flow in the meantime. `keep_theirs`: roll back only as "
            "far as their changes are kept. `take_mine`: restore the state before the session. "
            "Null: rejected."
        ),
    )
    token: PlainText | None = Field(
        default=None,
        max_length=64,
        description=("Token of the preview; required with `choice`. Rejected after a further change of a flow."),
    )

    @model_validator(mode="after")
    def _has_seen_the_differences(self) -> "RollbackAnswer":
        if self.choice is not None and self.token is None:
            raise ValueError("`choice` requires the `token` of the preview that shows the changes of others")
        return self


RollbackOutcome = Literal["restored", "removed", "unchanged"]


class RollbackFlow(BaseModel):
    """The rollback of one flow. Lines begin with `+`, `-` or `~`."""

    flow_id: str
    name: str
    link: str
    conflict: bool
    """Whether another user changed or deleted it meanwhile, so that an answer is needed."""
    deleted: bool
    """Whether it was deleted meanwhile."""
    theirs: list[str]
    """What others changed since the session began to write."""
    outcome: RollbackOutcome
    """Outcome for `take_mine`, and without a conflict."""
    changes: list[str]
    """Changes from the current flow."""
    outcome_keeping: RollbackOutcome
    """Of `keep_theirs`."""
    changes_keeping: list[str]
    """What that changes."""


class RollbackPreview(BaseModel):
    """What rolling back a session would change, flow by flow. Nothing has happened yet."""

    token: str
    """Identifies this state of the flows; sent with the answer."""
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
    """The session: requirement, user, platform, model and status."""
    entries: list[dict[str, JsonValue]]
    """What happened, oldest first: `number`, `kind`, `at`, `data`, and the link of the chain."""
    seal: dict[str, JsonValue]


class SessionPage(BaseModel):
    """Sessions, newest first."""

    items: list[SessionResponse]
    next_cursor: str | None = None


class CredentialGiven(BaseModel):
    """A credential to create on the session's platform. Its values are not stored anywhere else."""

    model_config = ConfigDict(extra="forbid")

    type: PlainText = Field(min_length=1, max_length=200, description="As named by the interrupt.")
    name: Words = Field(default="", max_length=200, description="Its name on the server; empty: its type.")
    values: dict[PlainText, SecretStr] = Field(min_length=1, max_length=40, description="Its fields by name.")


class InstanceOut(BaseModel):
    """A server of a domain that a session may work on."""

    id: str
    endpoint: str = ""


class DomainOut(BaseModel):
    """A domain that sessions may use."""

    name: str
    label: str
    instances: list[InstanceOut]
    """Empty if there is only one instance."""
    test_sets: bool
    """Whether accepted cases can be stored as the flow's test set."""


class Domains(BaseModel):
    """What sessions may work on, and with."""

    items: list[DomainOut]
    model: str = ""
    """The default model, `provider/name`; empty if none is ready."""
