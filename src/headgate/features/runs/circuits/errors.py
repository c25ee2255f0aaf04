"""Errors of circuit breakers."""

from headgate.foundation.errors import NotFound, Unavailable


class CircuitOpen(Unavailable):
    """A host failed repeatedly and is not asked now. Carries `host`, `failures` and `retry_after_seconds`."""

    code = "circuit_open"
    title = "Host is not asked"


class CircuitNotFound(NotFound):
    """The host has no failures."""

    code = "circuit_not_found"
    title = "No circuit breaker"
