"""The state of a flow as one step sees it: without secrets, and with the marks of outside content."""

from headgate.features.runs.patience import patiently
from headgate.features.runs.ports import FlowState, Origin
from headgate.features.runs.steps.outside import OutsideContent
from headgate.foundation.secret_values import SecretValues
from headgate.sdk.state import StateChange, StateValue


class StepState:
    """A `State` of one step."""

    def __init__(self, flow_state: FlowState, origin: Origin, secrets: SecretValues, outside: OutsideContent) -> None:
        self._flow_state = flow_state
        self._origin = origin
        self._secrets = secrets
        self._outside = outside

    async def read(self, name: str) -> StateValue:
        """Return a value; outside content in it is outside content of the step."""
        stored = await patiently(lambda: self._flow_state.read(self._origin, name))
        self._outside.add(*stored.outside)
        return stored.value

    async def write(self, change: StateChange) -> StateValue:
        """Change a value once."""
        shown = StateChange(
            change.name, change.operation, self._secrets.json(change.value), change.most, change.expected_version
        )
        marks = self._outside.marks
        stored = await patiently(lambda: self._flow_state.write(self._origin, shown, outside=marks))
        self._outside.add(*stored.outside)
        return stored.value
