"""Request and response bodies of resume and rerun."""

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
        description=(
            "`draft`, `published`, or the number of a version. When omitted, the run resumes with its own version."
        ),
    )
    wait: bool = Field(default=False, description="Respond when the run has ended, not when it resumes.")


class ResumeOut(BaseModel):
    """How a run was resumed, and why."""

    how: Literal["in_place", "continued", "restarted"]
    """`in_place`: the same run continues. `continued`: a new run reuses the paid results. `restarted`: a new run from
    the first step, because something before the failed step has changed."""
    reason: str
    from_step: str | None
    """The first step that is executed again."""
    changed_step: str | None
    """The step whose change caused the restart."""
    run: RunOut
    """The run that continues: the same one, or the new one."""


class RerunPlanStart(BaseModel):
    """Changes to a past run for a rerun. Omitted members stay as they were."""

    model_config = ConfigDict(extra="forbid")

    from_step: str | None = Field(
        default=None, max_length=64, description=("Run this step again, and all steps after it.")
    )
    text: PlainText | None = Field(default=None, max_length=4_000_000)
    form_data: PlainObject | None = Field(
        default=None, description="Answers that replace those of the past run; null removes one."
    )
    file_ids: list[Identifier] | None = Field(default=None, max_length=100)
    version: Wanted | None = Field(
        default=None,
        description=("`draft`, `published`, or the number of a version. When omitted, the version of the past run."),
    )


class RerunStart(RerunPlanStart):
    """A rerun request."""

    wait: bool = Field(default=False, description="Respond when the run has ended, not when it starts.")


class CostOut(BaseModel):
    """Usage of steps in the past run, as an estimate for executing them again."""

    tokens_input: int | None
    tokens_output: int | None
    usd: float | None
    """At the organisation's prices, else list prices; null when one is unknown."""
    ms: float | None


class RunCostOut(BaseModel):
    """Cost of a run at the prices of its models."""

    steps: dict[str, CostOut]
    """Cost of each step that the run itself executed."""
    total: CostOut


class StepPlanOut(BaseModel):
    """Planned action for one step."""

    step_id: str
    label: str
    type: str
    reuse: bool
    why: Why
    reason: str
    """`why` in words."""
    cost: CostOut
    """Its usage in the past run; null members where it was not executed there."""


class RerunPlanOut(BaseModel):
    """Plan of a rerun: what it would reuse, execute and cost."""

    run_id: str
    flow_id: str
    version: int
    """The version that the new run would execute."""
    past_version: int
    input_changed: bool
    steps: list[StepPlanOut]
    redo: CostOut
    """Total usage of the steps to execute again; `usd` is null when the price of one is unknown."""
    saved: CostOut
    """Total usage of the reused steps."""
    unknown: list[str]
    """Steps to execute again without an estimate: the past run did not execute them."""
