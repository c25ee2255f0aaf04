"""Text from elsewhere on a terminal: what would command the terminal is taken out."""

import re

_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but for tabs and line ends, and what turns the direction of writing."""


def printable(text: str) -> str:
    """The text without what commands a terminal: it would write the clipboard, hide lines or stand for others."""
    return _COMMANDS.sub("", text)
