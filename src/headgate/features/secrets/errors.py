"""What can go wrong with variables. No message ever holds a value."""

from headgate.foundation.errors import Invalid, NotFound


class VariableNotFound(NotFound):
    """The tenant has no variable of that name."""

    code = "variable_not_found"
    title = "Variable not found"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is no variable '{name[:130]}'.",
            remedy="Set it under Settings or with PUT /api/v1/variables/{name}.",
        )


class BadVariable(Invalid):
    """A name or value that no variable has."""

    code = "bad_variable"
    title = "Not a variable"
