"""A component that is called as a built-in one is."""

from headgate.sdk import Component, field, output


class ChatInput(Component):
    """Repeats a text."""

    text: str = field(label="Text", help="Anything.", main=True)

    @output(label="Repeated", help="The text.")
    def repeat_text(self) -> str:
        """The text."""
        return self.text
