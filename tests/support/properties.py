"""How many made-up cases a property is tried with: all of them in `make test`, a few in `make test-unit`."""

import os

from hypothesis import settings

FEW = 25
QUICK = os.environ.get("HEADGATE_EXAMPLES") == "quick"


def cases(most: int) -> settings:
    """Settings of a property with up to `most` cases. How long one takes is the machine's affair."""
    return settings(deadline=None, max_examples=min(most, FEW) if QUICK else most)
