"""RE2, used for all users' regular expressions: matching time is linear in the text."""

from typing import Any


def re2() -> Any:  # noqa: ANN401 - the module has no types
    """Return the RE2 module, imported when first used."""
    import re2 as module  # noqa: PLC0415

    return module
