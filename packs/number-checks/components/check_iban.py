"""Checks bank account numbers."""

import re

from headgate.sdk import NOT_TAKEN, Component, NotTaken, Text, field, output

_LENGTHS = {
    "AT": 20, "BE": 16, "BG": 22, "CH": 21, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18,
    "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20,
    "LV": 21, "MT": 31, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "SE": 24, "SI": 19, "SK": 24,
}  # fmt: skip
"""Characters of an IBAN by country (ISO 13616)."""


class CheckIBAN(Component):
    """Checks an international bank account number (IBAN): its country, length and check digits."""

    label = "Check IBAN"
    category = "data"
    icon = "landmark"
    keywords = ("bank account", "iban", "payment", "check digit", "validate")

    number: str = field(label="IBAN", help="With or without spaces.", main=True, tool_mode=True, max_length=100)

    @output(help="The number without spaces, when it is valid.", branch=True)
    def valid(self) -> Text | NotTaken:
        """The branch of valid numbers."""
        return NOT_TAKEN if self._problem() else self._plain()

    @output(help="Why it is not valid.", branch=True)
    def invalid(self) -> Text | NotTaken:
        """The branch of invalid numbers."""
        return self._problem() or NOT_TAKEN

    def _plain(self) -> str:
        return re.sub(r"\s+", "", self.number).upper()

    def _problem(self) -> str:
        plain = self._plain()
        if re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{1,30}", plain) is None:
            return "It does not begin with a country and two check digits."
        length = _LENGTHS.get(plain[:2])
        if length is None:
            return f"The country {plain[:2]} is not known."
        if len(plain) != length:
            return f"An IBAN of {plain[:2]} has {length} characters, this one has {len(plain)}."
        digits = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
        return "" if int(digits) % 97 == 1 else "The check digits are wrong."
