"""How much tests try: the usual amount in `make test`, a few cases in `make test-unit`, all in `make test-faults`.

`HEADGATE_EXAMPLES` sets it: `quick` or `thorough`. The code of a test is the same; the number of its cases differs.
"""

import os

from hypothesis import settings

FEW = 25
QUICK = os.environ.get("HEADGATE_EXAMPLES") == "quick"
THOROUGH = os.environ.get("HEADGATE_EXAMPLES") == "thorough"


def cases(most: int) -> settings:
    """Settings of a property with up to `most` cases, ten times as many in `make test-faults`; none has a deadline."""
    return settings(deadline=None, max_examples=min(most, FEW) if QUICK else most * 10 if THOROUGH else most)


def sized(usual: int, thorough: int) -> int:
    """A number of cases, rows or requests: the usual one, or that of `make test-faults`."""
    return thorough if THOROUGH else usual
