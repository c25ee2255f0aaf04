"""Output components: the chat."""

from headgate.sdk import Component, Message, Text, field, output


class ChatOutput(Component):
    """Shows a result to the user: the answer of the flow in chat, API and run page."""

    label = "Chat output"
    category = "output"
    icon = "message-square-reply"
    keywords = (
        "answer", "reply", "respond", "response", "show", "display", "print", "result", "say", "return", "end",
        "finish", "final", "present", "tell",
    )  # fmt: skip

    input: str | Message = field(
        label="Answer", help=("The value to show; tables and data become readable text."), main=True
    )

    @output(help="The answer as a message of role assistant.")
    def message(self) -> Message:
        """Return the answer as a message; files of a message stay attached."""
        files = self.input.files if isinstance(self.input, Message) else ()
        return Message(role="assistant", text=self.text(), files=files)

    @output(help="The answer as text.")
    def text(self) -> Text:
        """Return the answer as text."""
        return self.input.text if isinstance(self.input, Message) else self.input
