"""Errors for visitors of a widget, without internal details."""

from headgate.foundation.errors import Forbidden, NotFound, RateLimited

OPEN_RETRY_SECONDS = 5
"""Seconds to wait while too many responses are open. Most are open for a few seconds."""


class WidgetNotFound(NotFound):
    """No widget: no such flow, not published, or disabled. The response does not reveal which."""

    code = "widget_not_found"
    title = "Not offered"
    detail = "There is no form or chat at this URL."
    remedy = "Ask the owner of the page."


class WidgetRefused(Forbidden):
    """The page or the token is not authorised."""

    code = "widget_refused"
    title = "Not allowed"
    detail = "This page is not allowed to use the form."
    remedy = "Reload the page."


class TooManyOpen(RateLimited):
    """One address, or all together, have reached the limit of open responses."""

    def __init__(self, _most: int) -> None:
        super().__init__(
            "Too many visitors are being served right now.",
            remedy=f"Try again in {OPEN_RETRY_SECONDS} seconds.",
            retry_after_seconds=OPEN_RETRY_SECONDS,
        )
