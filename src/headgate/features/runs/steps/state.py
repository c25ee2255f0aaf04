"""The state of a flow as one step sees it: without secrets, and with the marks of outside content."""

from functools import partial

from headgate.features.runs.patience import patiently
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.storage import FlowState, StoredValue
from headgate.features.runs.steps.guard import StepGuard
from headgate.features.runs.steps.outside import OutsideContent
from headgate.foundation.secret_values import SecretValues
from headgate.sdk.state import StateChange, StateValue


class StepState:
    """A `State` of one step."""

    def __init__(
        self,
        flow_state: FlowState,
        origin: Origin,
        secrets: SecretValues,
        outside: OutsideContent,
        guard: StepGuard | None,
    ) -> None:
        self._flow_state = flow_state
        self._origin = origin
        self._secrets = secrets
        self._outside = outside
        self._guard = guard

    async def read(self, name: str) -> StateValue:
        """Return a value; outside content in it is outside content of the step. Raises `ClassRefused`."""
        return await self._received(await self._stored(name))

    async def write(self, change: StateChange) -> StateValue:
        """Change a value once. It is classified as what has reached the step. Raises `ClassRefused`."""
        shown = StateChange(
            change.name,
            change.operation,
            self._secrets.json(change.value),
            change.most,
            change.expected_version,
            change.type,
        )
        level = None
        if self._guard is not None:
            level = self._guard.reached
            before = await self._stored(change.name)
            if before.value.version:  # the step outputs the value before: it is refused before anything is written
                await self._guard.read_state(before.classification)
            level = level if change.operation == "set" else self._guard.reached
        write = partial(self._flow_state.write, self._origin, shown, outside=self._outside.marks, classification=level)
        return await self._received(await patiently(write))

    async def _stored(self, name: str) -> StoredValue:
        return await patiently(lambda: self._flow_state.read(self._origin, name))

    async def _received(self, stored: StoredValue) -> StateValue:
        if self._guard is not None and stored.value.version:
            await self._guard.read_state(stored.classification)
        self._outside.add(*stored.outside)
        return stored.value
