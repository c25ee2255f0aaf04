"""Errors of service level objectives."""

from headgate.foundation.errors import Conflict, Invalid, NotFound


class SloNotFound(NotFound):
    """The caller sees no such objective."""

    code = "slo_not_found"
    title = "Service level objective not found"
    detail = "There is no service level objective '{}'."
    remedy = "List them to see their ids."


class SloInvalid(Invalid):
    """The settings of an objective do not fit together."""

    code = "slo_invalid"
    title = "Invalid service level objective"


class SloConflict(Conflict):
    """The flow has an objective of this name, or as many as possible."""

    code = "slo_conflict"
    title = "The service level objective cannot be added"
