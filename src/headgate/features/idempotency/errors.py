"""Errors of idempotency keys."""

from headgate.foundation.errors import Conflict, Invalid


class KeyInvalid(Invalid):
    """The key is not valid."""

    code = "idempotency_key_invalid"
    title = "Invalid idempotency key"


class KeyReused(Conflict):
    """The key was used for a different request."""

    code = "idempotency_key_reused"
    title = "Idempotency key already used"
    detail = "The idempotency key was used for a different request in the last 24 hours."
    remedy = "Send the same request to get its result again, or use a new key."


class KeyInProgress(Conflict):
    """The request with the same key has no result yet."""

    code = "idempotency_key_in_progress"
    title = "Request in progress"
    remedy = "Send it again later to get its result."

    def __init__(self, seconds: int) -> None:
        super().__init__("The first request with this idempotency key is in progress.", retry_after_seconds=seconds)


class KeyTaken(Conflict):
    """A concurrent request inserted the key first; `StartOnce` returns the result of that request."""

    code = "idempotency_key_taken"
    title = "Idempotency key conflict"
    detail = "Another request with this idempotency key was processed first."
    remedy = "Send the request again."
