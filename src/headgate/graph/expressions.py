"""RE2, which every regular expression of a person runs on: no expression takes longer than its text is long."""

from typing import Any


def re2() -> Any:  # noqa: ANN401 - the module has no types
    """The RE2 module, imported when first used."""
    import re2 as module  # noqa: PLC0415

    return module
