"""Errors of shared assistants."""

from headgate.foundation.errors import Conflict, NotFound


class AssistantNotFound(NotFound):
    """The caller can view no such assistant."""

    code = "assistant_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no assistant '{name[:100]}'.", remedy="List the assistants to see their names.")


class AssistantNameTaken(Conflict):
    """Another assistant of the space has the name; flows link by name."""

    code = "assistant_name_taken"
    title = "Name taken"
    remedy = "Choose another name, or change the existing one."
    detail = "A shared assistant '{}' already exists in this space."
