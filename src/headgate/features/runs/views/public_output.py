"""The public output of a run: its result as it is streamed, and how it ended. Nothing else."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal

from headgate.features.access.principal import Principal
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.schemas import RunOut
from headgate.features.runs.service import answer_of
from headgate.features.runs.steps.planned import PlannedFlow
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.views.client_waits import with_wait, with_waits
from headgate.features.runs.views.stream import RunStream
from headgate.features.runs.waiting import RunWait
from headgate.graph.ports import CONFIGURATION_TYPES, PortType

_PASSES_ON = frozenset({"ChatOutput"})
"""Last steps that output their input."""
_WORDS = frozenset({PortType.TEXT, PortType.MESSAGE})


@dataclass(frozen=True, slots=True)
class OutputPart:
    """A part of the output."""

    kind: Literal["started", "text", "again", "waiting", "ended"]
    """`again`: discard the text so far, the step or another model begins anew. `waiting`: for an approval or event."""
    text: str = ""
    run: RunOut | None = None
    """The waiting or ended run."""


class PublicOutput:
    """The public output of one run.

    Args:
        engine: Executes the run.
        principal: The owner of the run.
        key: The run.
    """

    def __init__(self, engine: ExecutionBackend, principal: Principal, key: RunKey) -> None:
        self._stream = RunStream(engine, principal.tenant_id, key.run_id)
        self._engine = engine
        self._principal = principal
        self._key = key

    async def pieces(self) -> AsyncGenerator[OutputPart, None]:
        """Yield its parts, the last of kind `ended`."""
        speaker = streaming_step_of(await self._engine.plans.of(self._key))
        has_text = has_gap = False
        events = with_waits(
            self._stream.events(), lambda: self._engine.store.run_wait(self._key.run_id, self._key.tenant_id)
        )
        try:
            async for event in events:
                if isinstance(event, RunWait):
                    run = await self._answer()
                    if run.status == "waiting":  # events are read again after a decision too
                        yield OutputPart("waiting", run=with_wait(run, event))
                elif event.kind == "run_started":
                    yield OutputPart("started")
                elif event.data.get("step_id") != speaker:
                    continue
                elif event.kind == "gap":  # further tokens do not continue the sent text; the result completes it
                    has_gap = True
                elif event.kind == "token" and not has_gap:
                    has_text = True
                    yield OutputPart("text", str(event.data.get("text", "")))
                elif event.kind == "step_started" or (event.kind == "model_changed" and event.data.get("restarted")):
                    has_gap = False
                    if has_text:
                        has_text = False
                        yield OutputPart("again")
        finally:
            await events.aclose()
        yield OutputPart("ended", run=await self._answer())

    async def first_answer(self) -> RunOut:
        """Return the run as soon as it has ended or waits for an approval or an event."""
        parts = self.pieces()
        try:
            async for part in parts:
                if part.run is not None:
                    return part.run
        finally:
            await parts.aclose()
        return await self._answer()

    async def _answer(self) -> RunOut:
        return await answer_of(self._engine, self._principal, self._key.run_id)


def streaming_step_of(planned: PlannedFlow) -> str:
    """Return the only step whose tokens are the result; empty when it is unknown before the end.

    It is the last step, or the only input of a last step that returns its input. Its main output is text: the text of
    other outputs is derived from the tokens, not equal to them.
    """
    leaves = planned.plan.leaves
    if len(leaves) != 1:
        return ""
    last = leaves[0]
    speaker = last.id
    if last.node.type in _PASSES_ON:
        feeds = {
            feed.source
            for inlet in planned.steps[last.id].inlets
            for feed in inlet.feeds
            if feed.type not in CONFIGURATION_TYPES
        }
        speaker = feeds.pop() if len(feeds) == 1 else ""
    step = planned.steps.get(speaker)
    return speaker if step is not None and dict(step.outputs).get(step.main_output or "") in _WORDS else ""
