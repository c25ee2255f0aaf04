"""Errors of saved views."""

from headgate.foundation.errors import Conflict, NotFound


class SavedViewNotFound(NotFound):
    """The caller has no such view."""

    code = "saved_view_not_found"
    detail = "You have no saved view '{}'."
    remedy = "List your saved views."


class TooManySavedViews(Conflict):
    """The caller has as many views of a list as are allowed."""

    code = "too_many_saved_views"

    def __init__(self, most: int) -> None:
        super().__init__(f"You have {most} saved views of this list.", remedy="Delete one first.")
