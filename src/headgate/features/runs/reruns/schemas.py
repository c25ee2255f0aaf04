"""What resuming and running again take and answer."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.flows.summaries import Wanted
from headgate.features.runs.reruns.plan import Why
from headgate.features.runs.schemas import Identifier, RunOut
from headgate.graph.json_values import PlainObject, PlainText


class ResumeStart(BaseModel):
    """How to resume a failed run."""

    model_config = ConfigDict(extra="forbid")

    version: Wanted | None = Field(
        default=None,
        description="`draft`, `published`, or the number of a version. Left out: the run's own, in place.",
    )
    wait: bool = Field(default=False, description="Answer when the run is over, not when it goes on.")


class ResumeOut(BaseModel):
    """Which way a run was resumed, and why."""

    how: Literal["in_place", "continued", "restarted"]
    """`in_place`: the same run goes on. `continued`: a new run took over what was paid. `restarted`: a new run from
    the first step, because something before the failed step has changed."""
    reason: str
    from_step: str | None
    """The first step that is done again."""
    changed_step: str | None
    """The step whose change made it start anew."""
    run: RunOut
    """The run that goes on: the same one, or the new one."""


class RerunPlanStart(BaseModel):
    """What to change about a past run before it is run again. What is left out stays as it was."""

    model_config = ConfigDict(extra="forbid")

    from_step: str | None = Field(default=None, max_length=64, description="Do this step again, and all behind it.")
    text: PlainText | None = Field(default=None, max_length=4_000_000)
    form_data: PlainObject | None = Field(
        default=None, description="Answers that take the place of those of the past run; null takes one away."
    )
    file_ids: list[Identifier] | None = Field(default=None, max_length=100)
    version: Wanted | None = Field(
        default=None, description="`draft`, `published`, or the number of a version. Left out: the past run's own."
    )


class RerunStart(RerunPlanStart):
    """What to run again."""

    wait: bool = Field(default=False, description="Answer when the run is over, not when it has begun.")


class CostOut(BaseModel):
    """What steps took, and so what doing them again would cost."""

    tokens_input: int | None
    tokens_output: int | None
    usd: float | None
    """At the prices that the organisation set, else list prices; null where one is not known."""
    ms: float | None


class RunCostOut(BaseModel):
    """What a run took, at the prices of its models."""

    steps: dict[str, CostOut]
    """Of each step that the run itself carried out."""
    total: CostOut


class StepPlanOut(BaseModel):
    """What would become of one step."""

    step_id: str
    label: str
    type: str
    reuse: bool
    why: Why
    reason: str
    """`why` for people."""
    cost: CostOut
    """What it took in the past run; null members where it was not carried out there."""


class RerunPlanOut(BaseModel):
    """What running a past run again would take over, do again, and cost."""

    run_id: str
    flow_id: str
    version: int
    """The version that the new run would carry out."""
    past_version: int
    input_changed: bool
    steps: list[StepPlanOut]
    redo: CostOut
    """What the steps done again took, all together; `usd` is null when the price of one is not known."""
    saved: CostOut
    """What the steps taken over took."""
    unknown: list[str]
    """Steps to be done again of which nothing is known: the past run did not carry them out."""
