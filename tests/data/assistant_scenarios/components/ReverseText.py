"""Text the other way round."""

from headgate.sdk import Component, field, output


class ReverseText(Component):
    """Turns a text round, so that its last character comes first."""

    label = "Reverse text"
    category = "text"
    icon = "arrow-left"

    text: str = field(label="Text", help="The text to turn round.", main=True, tool_mode=True)

    @output(label="Reversed", help="The text from its end to its beginning.")
    def reverse_text(self) -> str:
        """The text turned round."""
        return self.text[::-1]
