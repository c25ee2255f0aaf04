"""Removes terminal control sequences from untrusted text."""

import re

_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but for tabs and line ends, and what turns the direction of writing."""


def printable(text: str) -> str:
    """Return the text without control sequences: they could write to the clipboard, hide lines or forge output."""
    return _COMMANDS.sub("", text)
