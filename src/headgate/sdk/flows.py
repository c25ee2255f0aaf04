"""Flows that a component runs: the flow, what it is started with, and its result."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from headgate.sdk.values import File


@dataclass(frozen=True, slots=True)
class FlowTarget:
    """A version of a flow. Freezing a flow resolves the flows that it names to versions."""

    flow_id: str
    version: int
    name: str = ""
    fields: tuple[str, ...] = ()
    """Fields of its form."""
    file_fields: tuple[str, ...] = ()
    """Those that take files."""


@dataclass(frozen=True, slots=True)
class FlowInput:
    """What a flow is started with."""

    text: str = ""
    answers: Mapping[str, JsonValue] = field(default_factory=dict)
    """Form field to answer."""
    files: tuple[File, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowResult:
    """The result of a flow that a step started."""

    run_id: str
    text: str
    value: JsonValue
    """The main output of its last step: text, or data."""
    error: str = ""
    """Why the run did not complete, where errors are results."""
    code: str = ""
    """Code of that error."""
    step: str = ""
    """The step of the flow that failed."""


NextInput = Callable[[int], Awaitable[FlowInput | None]]
"""Returns what the run with a number is started with; None after the last one. Called when the run may start."""


class Flows(Protocol):
    """Starts flows for a step and returns their results. The step holds no worker while they run.

    Each attempt at the step calls these methods again, and gets the results that exist: a flow is started once.
    """

    async def run(self, target: FlowTarget, inputs: FlowInput, *, iteration: int = 0) -> FlowResult:
        """Run a flow and return its result.

        Args:
            target: The flow.
            inputs: What it is started with.
            iteration: Number of the run among those of this step.

        Raises:
            HeadgateError: The run failed or was cancelled, with the code of its error.
            Forbidden: The user who started this run may not run that flow.
        """

    async def started(self) -> int:
        """Return how many runs this step has started, in all attempts."""

    async def ended(self, number: int) -> FlowResult:
        """Return the result of a run that has ended; with `error` of one that failed."""

    async def run_each(
        self, target: FlowTarget, inputs: NextInput, *, parallel: int, stop_on_error: bool, total: int | None = None
    ) -> Sequence[FlowResult]:
        """Run a flow once for each input, at most some at a time, and return the results in the same order.

        Args:
            target: The flow.
            inputs: What each run is started with: every attempt must return the same. It is not called again for a
                run that was started.
            parallel: Most runs at a time.
            stop_on_error: Whether the first run that does not complete ends the step; else it is a result with `error`.
            total: Number of inputs, where it is known: shown with the progress.

        Raises:
            HeadgateError: A run did not complete, with `stop_on_error`.
        """
