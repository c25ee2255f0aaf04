"""A component with a reserved method."""

from headgate.sdk import Component, field, output


class ToolName(Component):
    """Repeats a text."""

    text: str = field(label="Text", help="Anything.", main=True)

    @output(label="Component as tool", help="A text.")
    def component_as_tool(self) -> str:
        """The text."""
        return self.text
