"""Sums."""

from headgate.sdk import Component, field, output


class SumComponent(Component):
    """Adds two numbers."""

    label = "Sum"
    category = "logic"
    icon = "plus"

    a: float = field(default=1.0, label="A", help="The first number.")
    b: float = field(default=2.0, label="B", help="The second number.")

    @output(label="Sum", help="The two numbers added.")
    def add_numbers(self) -> str:
        """The sum as text."""
        return f"{self.a + self.b:g}"
