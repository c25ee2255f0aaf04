"""Errors of sent events."""

from headgate.foundation.errors import Conflict, Invalid, RateLimited, TooLarge


class EventInvalid(Invalid):
    """The name, correlation or key of an event is not valid."""

    code = "event_invalid"
    title = "Invalid event"


class EventTooLarge(TooLarge):
    """The data of an event is too large."""

    code = "event_too_large"


class EventKeyReused(Conflict):
    """The key was used for another event."""

    code = "event_key_reused"
    title = "Event key already used"
    detail = "Another event was sent with this key to this space."
    remedy = "Send the same event to get its state again, or use a new key."


class TooManyEvents(RateLimited):
    """The space keeps too many events that no step waits for."""

    code = "too_many_events"
    title = "Too many kept events"
