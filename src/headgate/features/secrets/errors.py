"""Errors of variables. No message ever contains a value."""

from headgate.foundation.errors import Forbidden, Invalid, NotFound


class VariableNotFound(NotFound):
    """The tenant has no variable with that name."""

    code = "variable_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no variable '{name[:130]}'.",
            remedy=f"Set it with `headgate variables set {name[:130]}` or PUT /api/v1/variables/{name[:130]}.",
        )


class VariableKept(Forbidden):
    """The value may not be sent to the server that the flow names."""

    code = "variable_kept"
    title = "Destination not allowed"

    def __init__(self, name: str, server: str) -> None:
        super().__init__(
            f"The variable {name} is not sent to {server}: it is not stored for that server.",
            remedy=f"To allow it, store it for the server: `headgate variables set {name} --host {server}`.",
            variable=name,
        )


class BadVariable(Invalid):
    """An invalid name or value of a variable."""

    code = "bad_variable"
    title = "Not a variable"
