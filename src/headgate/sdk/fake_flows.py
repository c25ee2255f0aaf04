"""Flows that other flows run, in memory, for unit tests of components."""

from collections.abc import Callable, Sequence
from itertools import count

from pydantic import JsonValue

from headgate.foundation.errors import HeadgateError
from headgate.sdk.coerce import text_of
from headgate.sdk.flows import FlowInput, FlowResult, FlowTarget, NextInput


class FakeFlows:
    """Flows whose results are given: each call takes what `answer` returns for its text."""

    def __init__(self, answer: Callable[[FlowInput], JsonValue] | None = None) -> None:
        self._answer = answer or (lambda inputs: inputs.text)
        self.calls: list[tuple[FlowTarget, FlowInput]] = []
        self.results: list[FlowResult] = []
        """Of the runs of `run_each` so far."""

    async def run(self, target: FlowTarget, inputs: FlowInput, *, iteration: int = 0) -> FlowResult:  # noqa: ARG002
        """Return the result; raises what `answer` raises."""
        self.calls.append((target, inputs))
        value = self._answer(inputs)
        return FlowResult(f"run-{len(self.calls)}", text_of(value), value)

    async def started(self) -> int:
        """Nothing was started by an earlier attempt."""
        return 0

    async def ended(self, number: int) -> FlowResult:
        """Return the result of a run."""
        return self.results[number]

    async def run_each(
        self,
        target: FlowTarget,
        inputs: NextInput,
        *,
        parallel: int,  # noqa: ARG002
        stop_on_error: bool,
        total: int | None = None,  # noqa: ARG002
    ) -> Sequence[FlowResult]:
        """Return one result per input."""
        results = self.results = []
        for number in count():
            flow_input = await inputs(number)
            if flow_input is None:
                break
            try:
                results.append(await self.run(target, flow_input))
            except HeadgateError as error:
                if stop_on_error:
                    raise
                results.append(FlowResult(f"run-{len(self.calls)}", "", None, error=error.detail, code=error.code))
        return results
