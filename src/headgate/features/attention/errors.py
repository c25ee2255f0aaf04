"""Errors of the attention list."""

from headgate.foundation.errors import Conflict, Invalid, NotFound


class AttentionItemNotFound(NotFound):
    """No open or dismissed item has that key."""

    code = "attention_item_not_found"
    title = "Item not found"
    detail = "The item is no longer in the list."
    remedy = "Read the list again."


class AttentionActionInvalid(Conflict):
    """The item is of a kind that the action does not apply to."""

    code = "attention_action_invalid"
    title = "Action not possible"

    def __init__(self, action: str, kind: str) -> None:
        super().__init__(
            f"'{action}' does not apply to an item of the kind '{kind}'.",
            remedy="Choose an action that the description of the route names for the kind.",
        )


class AssigneeInvalid(Invalid):
    """The user cannot see the item."""

    code = "assignee_invalid"
    title = "Cannot be assigned"
    detail = "The user does not exist, is deactivated, or cannot view the runs of the item's space."
    remedy = "Choose a member of the space."
