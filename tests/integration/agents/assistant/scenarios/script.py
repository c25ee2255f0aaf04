"""Conversations as data: what the user says, what the model answers, what is to come of it.

A file of `tests/data/assistant_scenarios` holds one or more scenarios. Each is played over HTTP against the real
application; the model's answers leave a server that speaks the provider's own protocol.
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

FOLDER = Path(__file__).parents[4] / "data" / "assistant_scenarios"
Protocol = Literal["openai", "anthropic"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Answer(_Strict):
    """One answer of the model: one of `says`, `call`, `fault`."""

    says: str | None = None
    call: str | None = None
    """Name of the tool that it calls, with `given`; a text in `given` may name `@component:NAME`, or be `@run`, the run
    that it heard of last."""
    together: "list[Answer]" = Field(default_factory=list)
    """Calls of one message, in place of all else."""
    thinks: str = ""
    """What it thinks before that; Anthropic's protocol alone has it."""
    cut: bool = False
    """Whether the stream ends in the middle of the call."""
    ends: Literal["at the limit", "unmarked"] | None = None
    """The answer stops in the middle: at the output limit, or without the provider saying so."""
    given: dict[str, Any] = Field(default_factory=dict)
    fault: (
        Literal[
            "no_such_model",
            "rate_limited",
            "wrong_key",
            "overloaded",
            "out_of_money",
            "malformed",
            "cut_off",
            "stream_error",
            "reset_half_way",
            "hangs",
        ]
        | None
    ) = None
    always: bool = False
    """Whether every request from here on is answered with this."""


class Intent(_Strict):
    """What the model answers when it is asked what the request is; `raw` is an answer that holds to no schema."""

    intent: str = ""
    translation: str = ""
    raw: str | None = None
    cut: bool = False
    """Whether `raw` stops at the output limit."""


class Expected(_Strict):
    """What is to come of a turn. Values are matched in part, see `matching`."""

    events: list[Any] = Field(default_factory=list)
    """In this order, others between them."""
    never: list[Any] = Field(default_factory=list)
    complete: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    model_sees: list[str] = Field(default_factory=list)
    """Texts in what the model was sent in this turn, the question what the request is aside."""
    model_never_sees: list[str] = Field(default_factory=list)
    classifier_sees: list[str] = Field(default_factory=list)
    tools_offered: list[str] = Field(default_factory=list)
    asked: int | None = None
    """How often the model was asked, the question what the request is aside."""
    classified: int | None = None
    """How often it was asked what the request is."""
    flow: dict[str, Any] | None = None
    """The stored flow: `nodes` id to type, `edges` as in spec text, `params` and `policies` id to values, `settings`,
    `from_left` ids."""
    run: dict[str, Any] | None = None
    """The newest run of the flow: `status`, `text`, `steps` id to status, `waits` id to reason."""
    files: dict[str, str] | None = None
    """All files of the user's workspace."""
    components: list[str] | None = None
    """Class names in the user's registry of own components."""


class Said(_Strict):
    """A turn: the user says something."""

    user: str
    who: str = "anna"
    session: str | None = None
    flow: bool = True
    """Whether the turn is about the flow on the canvas; without one there it never is."""
    intent: Intent | str = "build_flow"
    model: list[Answer] = Field(default_factory=list)
    model_name: str | None = None
    apply: bool = False
    stop_at: Any = None
    """Hang up when this event comes."""
    expect: Expected = Field(default_factory=Expected)


class Done(_Strict):
    """What the page does between two turns."""

    does: Literal[
        "continue",
        "accept",
        "save_component",
        "propose_component",
        "reset_session",
        "delete_key",
        "run",
        "decide",
        "send_event",
        "publish",
    ]
    """`continue` saves the proposed flow, `accept` the proposed edits, `save_component` the proposed component.

    `propose_component` has the code `edited` checked, as the page does for an edited proposal. `run` starts the flow,
    `decide` the approval that waits, `send_event` sends an event, each with `given`; `publish` publishes the flow named
    in `given`.
    """
    given: dict[str, Any] = Field(default_factory=dict)
    run: dict[str, Any] | None = None
    """As in `Expected`, once the run has ended or waits."""
    who: str = "anna"
    session: str | None = None
    answers: dict[str, Any] = Field(default_factory=dict)
    refused: str = ""
    """Code of the error that the request ends with."""
    edited: str = ""
    """The code in place of the proposed one; may name `@component:NAME`."""
    components: list[str] | None = None
    """Class names in the user's registry of own components afterwards."""


class Scenario(_Strict):
    """One conversation."""

    name: str
    """The scenario's title in the seed, or our own words for one without a title."""
    seed: str
    """Where the scenario stands: the seed and its section."""
    protocols: list[Protocol] = ["openai"]
    canvas: str = ""
    """The flow that is there before, as spec text."""
    flows: list[str] = Field(default_factory=list)
    """Other flows, which are published, as spec text."""
    loose: dict[str, str] = Field(default_factory=dict)
    """Nodes on it that nothing is connected to yet, id to type."""
    files: dict[str, str] = Field(default_factory=dict)
    """What anna's workspace holds before."""
    keys: dict[str, str] = Field(default_factory=dict)
    """Variables beside the key of the model that is spoken to."""
    turns: Annotated[list[Said | Done], Field(min_length=1)]


class ScenarioFile(_Strict):
    """A file of scenarios; `shared` is there to be referred to."""

    shared: dict[str, Any] = Field(default_factory=dict)
    scenarios: list[Scenario]


@cache
def scenarios() -> tuple[Scenario, ...]:
    """Every scenario there is, in the order of the files."""
    files = sorted(FOLDER.glob("*.yaml"))
    read = (ScenarioFile.model_validate(yaml.safe_load(file.read_text("utf-8"))) for file in files)
    return tuple(one for file in read for one in file.scenarios)


def components() -> dict[str, str]:
    """Sources of the components that models write in these conversations, by class name."""
    return {file.stem: file.read_text("utf-8") for file in sorted((FOLDER / "components").iterdir())}
