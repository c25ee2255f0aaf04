"""State of a flow in memory, for unit tests of components."""

from dataclasses import dataclass, field

from headgate.sdk.state import StateChange, StateValue


@dataclass
class FakeState:
    """State in memory: `set` alone; records every change."""

    values: dict[str, StateValue] = field(default_factory=dict)
    changes: list[StateChange] = field(default_factory=list)

    async def read(self, name: str) -> StateValue:
        """Return the value of a name."""
        return self.values.get(name, StateValue(None, 0))

    async def write(self, change: StateChange) -> StateValue:
        """Record the change; set the value as given."""
        self.changes.append(change)
        before = await self.read(change.name)
        self.values[change.name] = StateValue(change.value, before.version + 1, before.value)
        return self.values[change.name]
