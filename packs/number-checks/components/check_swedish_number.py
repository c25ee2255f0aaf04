"""Checks Swedish numbers whose last digit is a check digit."""

import re

from headgate.sdk import NOT_TAKEN, Component, NotTaken, Text, field, output

_LENGTHS = {"personal": (10, 12), "organisation": (10,), "bankgiro": (7, 8), "plusgiro": (2, 3, 4, 5, 6, 7, 8)}


class CheckSwedishNumber(Component):
    """Checks a Swedish personal, organisation, bankgiro or plusgiro number by its length and check digit."""

    label = "Check Swedish number"
    category = "data"
    icon = "badge-check"
    keywords = ("personnummer", "organisationsnummer", "bankgiro", "plusgiro", "check digit", "luhn")

    number: str = field(label="Number", help="With or without hyphens.", main=True, tool_mode=True, max_length=40)
    kind: str = field(
        default="organisation",
        label="Kind",
        help="What kind of number it is.",
        options=["personal", "organisation", "bankgiro", "plusgiro"],
    )

    @output(help="The digits, when the number is valid.", branch=True)
    def valid(self) -> Text | NotTaken:
        """The branch of valid numbers."""
        return NOT_TAKEN if self._problem() else self._digits()

    @output(help="Why it is not valid.", branch=True)
    def invalid(self) -> Text | NotTaken:
        """The branch of invalid numbers."""
        return self._problem() or NOT_TAKEN

    def _digits(self) -> str:
        return re.sub(r"[\s+-]+", "", self.number)

    def _problem(self) -> str:
        digits = self._digits()
        if re.fullmatch(r"[0-9]+", digits) is None:
            return "It contains other characters than digits and hyphens."
        if len(digits) not in _LENGTHS[self.kind]:
            return f"It has {len(digits)} digits."
        checked = digits[-10:] if self.kind == "personal" else digits
        doubled = (int(digit) * (2 if at % 2 else 1) for at, digit in enumerate(reversed(checked)))
        return "" if sum(value // 10 + value % 10 for value in doubled) % 10 == 0 else "The check digit is wrong."
