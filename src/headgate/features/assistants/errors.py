"""What can go wrong with shared assistants."""

from headgate.foundation.errors import Conflict, NotFound


class AssistantNotFound(NotFound):
    """The caller sees no such assistant."""

    code = "assistant_not_found"
    title = "Assistant not found"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no assistant '{name[:100]}'.", remedy="List the assistants to see their names.")


class AssistantNameTaken(Conflict):
    """Another assistant of the space has the name, and flows link by name."""

    code = "assistant_name_taken"
    title = "Name taken"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is an assistant '{name}' in this space already.", remedy="Choose another name, or change that one."
        )
