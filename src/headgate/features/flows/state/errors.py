"""Errors of the state of flows."""

from headgate.foundation.errors import Conflict, Invalid, NotFound


class StateNotFound(NotFound):
    """The flow has no value of that name."""

    code = "state_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The flow has no state '{name[:100]}'.", remedy="List the flow's state; a run writes it with WriteState."
        )


class StateChanged(Conflict):
    """The value has another version than the expected one."""

    code = "state_changed"
    remedy = "Read it again and decide on its new value."

    def __init__(self, name: str, *, expected: int, version: int) -> None:
        super().__init__(f"The state '{name}' has version {version}, not {expected}.", version=version)


class StateInvalid(Invalid):
    """The name, the value or the change is not possible."""

    code = "state_invalid"
