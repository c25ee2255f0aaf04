"""What can go wrong with variables. No message ever holds a value."""

from headgate.foundation.errors import Forbidden, Invalid, NotFound


class VariableNotFound(NotFound):
    """The tenant has no variable of that name."""

    code = "variable_not_found"
    title = "Variable not found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no variable '{name[:130]}'.",
            remedy=f"Set it with `headgate variables set {name[:130]}` or PUT /api/v1/variables/{name[:130]}.",
        )


class VariableKept(Forbidden):
    """The value may not go to the server that a flow wants it sent to."""

    code = "variable_kept"
    title = "Not sent there"

    def __init__(self, name: str, server: str) -> None:
        super().__init__(
            f"The variable {name} is not sent to {server}: it was not stored for that server.",
            remedy=f"If it belongs there, store it for it: `headgate variables set {name} --host {server}`.",
            variable=name,
        )


class BadVariable(Invalid):
    """A name or value that no variable has."""

    code = "bad_variable"
    title = "Not a variable"
