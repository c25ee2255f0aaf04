"""What a visitor of a widget is told. Never why inside."""

from headgate.foundation.errors import Forbidden, NotFound, RateLimited

OPEN_RETRY_SECONDS = 5
"""When to ask again where too many answers are open. Most are so for a few seconds."""


class WidgetNotFound(NotFound):
    """No flow is offered there: none of that id, not published, or switched off. Nobody learns which."""

    code = "widget_not_found"
    title = "Not offered"

    def __init__(self) -> None:
        super().__init__("Nothing is offered at this address.", remedy="Ask whoever put it on the page.")


class WidgetRefused(Forbidden):
    """The page or the token is not one that may ask."""

    code = "widget_refused"
    title = "Not allowed"

    def __init__(self) -> None:
        super().__init__("This page may not use the form.", remedy="Load the page again.")


class TooManyOpen(RateLimited):
    """One address, or everybody together, has as many answers open as there may be at once."""

    def __init__(self, _most: int) -> None:
        super().__init__(
            "Too many people are being answered just now.",
            remedy=f"Try again in {OPEN_RETRY_SECONDS} seconds.",
            retry_after_seconds=OPEN_RETRY_SECONDS,
        )
