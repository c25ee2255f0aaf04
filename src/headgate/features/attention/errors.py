"""Errors of the attention list."""

from headgate.foundation.errors import NotFound


class AttentionItemNotFound(NotFound):
    """No open or dismissed item has that key."""

    code = "attention_item_not_found"
    title = "Item not found"

    def __init__(self) -> None:
        super().__init__("The item is no longer in the list.", remedy="Read the list again.")
