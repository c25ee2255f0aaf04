"""Errors of conversations with flows."""

from headgate.foundation.errors import Invalid, NotFound


class ConversationNotFound(NotFound):
    """The caller has no such conversation."""

    code = "conversation_not_found"

    def __init__(self, conversation_id: str) -> None:
        super().__init__(
            f"You have no conversation '{conversation_id[:64]}'.", remedy="List your conversations, or start a new one."
        )


class MessageNotFound(NotFound):
    """The conversation has no such message."""

    code = "chat_message_not_found"
    title = "Message not found"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"The conversation has no message '{run_id[:64]}'.", remedy="List the messages of the conversation."
        )


class NotAChat(Invalid):
    """The published version takes no chat messages."""

    code = "not_a_chat"
    title = "The flow takes no chat messages"
    remedy = "Publish a version with a ChatInput and without a form, or run the flow from its page."
    detail = "The published version of '{}' has a form, or no chat input."
