"""Errors of patterns."""

from headgate.foundation.errors import NotFound


class PatternNotFound(NotFound):
    """The caller sees no such pattern."""

    code = "codev_pattern_not_found"
    title = "Pattern not found"

    def __init__(self, pattern_id: str) -> None:
        super().__init__(f"There is no pattern '{pattern_id[:64]}'.", remedy="Search the patterns to see their ids.")
