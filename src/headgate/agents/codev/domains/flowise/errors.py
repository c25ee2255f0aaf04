"""Errors of a Flowise server. No message contains a key; server messages are quoted and truncated.

Forbidden
└── KeyRefused          401 or 403
NotFound
└── ChatflowNotFound
Invalid
└── BadSpec             a compact description that is none
UpstreamFailed
├── FlowiseUnreachable  no connection, or no complete answer in time
└── FlowiseFailed       it answered with an error, or with what it never answers
    └── AnswerTooLarge  or with more than is read
"""

from headgate.foundation.errors import Forbidden, Invalid, NotFound, UpstreamFailed


class KeyRefused(Forbidden):
    """The server does not take the key, or the key may not do this."""

    code = "flowise_key_refused"
    title = "Key rejected by Flowise"


class ChatflowNotFound(NotFound):
    """The server has no such chatflow."""

    code = "flowise_chatflow_not_found"
    title = "Chatflow not found"

    def __init__(self, chatflow_id: str) -> None:
        super().__init__(
            f"Flowise has no chatflow '{chatflow_id[:64]}'.", remedy="List the chatflows to see their ids."
        )


class BadSpec(Invalid):
    """The description of a chatflow is invalid."""

    code = "flowise_bad_spec"
    title = "Not a chatflow"


class FlowiseUnreachable(UpstreamFailed):
    """No connection, or no complete response in time."""

    code = "flowise_unreachable"
    title = "Flowise is unreachable"


class FlowiseFailed(UpstreamFailed):
    """The server responded with an error or an invalid response."""

    code = "flowise_failed"


class AnswerTooLarge(FlowiseFailed):
    """The response exceeds its size limit."""
