"""Errors of approvals."""

from headgate.foundation.errors import Conflict, Forbidden, Invalid, NotFound


class ApprovalNotFound(NotFound):
    """The caller can view no such approval."""

    code = "approval_not_found"

    def __init__(self, approval_id: str) -> None:
        super().__init__(f"There is no approval '{approval_id[:100]}'.", remedy="List the approvals to see their ids.")


class ApprovalDecided(Conflict):
    """The approval is no longer pending, or the caller has decided already."""

    code = "approval_decided"
    title = "Already decided"


class NotAssigned(Forbidden):
    """The caller may not decide this approval."""

    code = "approval_not_assigned"
    title = "Not assigned to you"


class ContentChanged(Conflict):
    """The decision is about other content than what the approval shows."""

    code = "approval_content_changed"
    title = "Other content"


class LinkRefused(NotFound):
    """The link is unknown, used, expired or deleted, or the decision is not its creator's to pass on any more."""

    code = "approval_link_refused"
    title = "Link not usable"
    detail = "This link is not usable: it was used, has expired or was withdrawn, or the approval is decided."
    remedy = "Ask the user who sent it for a new link."


class ResponseInvalid(Invalid):
    """The answers or edits do not fit the approval."""

    code = "approval_response_invalid"
    title = "Invalid response"
