"""What a dry run takes and answers."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from headgate.features.flows.summaries import Wanted
from headgate.features.runs.schemas import ClassOut, Identifier
from headgate.graph.json_values import PlainObject, PlainText


class DryRunStart(BaseModel):
    """The run to look ahead at. Without an input only the flow is looked at."""

    model_config = ConfigDict(extra="forbid")

    text: PlainText = Field(default="", max_length=4_000_000)
    form_data: PlainObject | None = Field(default=None, description="Given, it is checked against the form.")
    file_ids: list[Identifier] = Field(default_factory=list, max_length=100)
    version: Wanted = Field(default="draft", description="`draft`, `published`, or the number of a version.")


class Finding(BaseModel):
    """Something that a dry run found."""

    severity: Literal["error", "warning"]
    """An error keeps the run from starting or from ending well; a warning may."""
    code: str
    message: str
    remedy: str = ""
    node: str = ""
    about: str = ""
    """What has to be set up outside the flow: the name of a variable, a model, an MCP server."""


class DryInput(BaseModel):
    """Where one input of a step would come from."""

    field: str
    source: str
    """`step.output` over an edge, `flow_input`, `all_previous_steps`, `http_get` or `http_post` with the address, or
    the binding as it is written."""


class DryModel(BaseModel):
    """A model that a step would ask."""

    model: str
    usable: bool
    tokens_input_at_least: int
    """From the texts that are known now, four characters a token."""
    cost_usd_at_least: float | None
    """What these tokens cost; None when the price is not known."""
    price_in: float | None
    """US dollars a million tokens of prompt."""
    price_out: float | None
    """US dollars a million tokens of answer."""


class DryStep(BaseModel):
    """One step of the expected path."""

    step_id: str
    order: int
    type: str
    label: str
    runs: Literal["certain", "possible"]
    """Possible: a branch before it may go the other way."""
    inputs: list[DryInput]
    models: list[DryModel]
    tools: list[str]
    classification: ClassOut | None = None


class DryHost(BaseModel):
    """A server that a step would reach."""

    step_id: str
    host: str
    """Name and port; empty when it comes from data and is known only then."""
    purpose: Literal["model", "input", "delivery", "component", "tool", "text"]
    """`text`: an import report found it in the file; the plan does not say whether a step reaches it."""


class DrySecret(BaseModel):
    """A variable that a step would use, by name."""

    step_id: str
    name: str
    known: bool
    """Whether it has a value."""


class DryReach(BaseModel):
    """What the run would reach."""

    hosts: list[DryHost]
    secrets: list[DrySecret]


class DryTotals(BaseModel):
    """The run as a whole."""

    steps: int
    certain_steps: int
    model_steps: int
    tokens_input_at_least: int
    cost_usd_at_least: float | None
    """None when a price is not known."""


class DryRunOut(BaseModel):
    """What a run would do. Nothing was stored, asked or sent."""

    ok: bool
    """Whether there is no error among the findings."""
    flow_id: str
    version: int | None
    """None for the draft."""
    findings: list[Finding]
    path: list[DryStep]
    """In the order of the plan; empty when the flow does not hold together."""
    reach: DryReach
    totals: DryTotals
