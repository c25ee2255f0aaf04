"""The component for arithmetic."""

from headgate.components.arithmetic import LONGEST, Number, evaluate
from headgate.sdk import Component, Data, Text, field, output

_EXACT = 2**63


class Calculator(Component):
    """Computes an arithmetic expression: + - * / // % **, parentheses, and functions such as round, sqrt, min, sum."""

    label = "Calculator"
    category = "data"
    icon = "calculator"
    keywords = (
        "math", "arithmetic", "compute", "calculate", "sum", "add", "subtract", "multiply", "divide", "percent",
        "formula", "total", "average", "number", "equation", "evaluate", "count up",
    )  # fmt: skip

    expression: str = field(
        label="Expression",
        help="For example (12.5 + 3) * 4 or round(100 / 3, 2); {{...}} puts in values of other steps.",
        tool_mode=True,
        main=True,
        max_length=LONGEST,
    )

    @output(help="The number. A whole number over 63 bits becomes a decimal here and stays exact in the text.")
    def result(self) -> Data:
        """Return the value as a number."""
        value = self._value()
        return float(value) if isinstance(value, int) and abs(value) >= _EXACT else value

    @output(help="The number as text.")
    def text(self) -> Text:
        """Return the value as text, with exact integers."""
        return str(self._value())

    def _value(self) -> Number:
        return evaluate(self.expression)
