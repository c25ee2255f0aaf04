"""Waiting for what the page does behind itself: what it saves, what it starts."""

import time
from collections.abc import Callable

from tests.support.patience import PATIENCE_SECONDS


def until(found: Callable[[], object], wanted: object = True) -> None:
    """Ask the server again until what is found is what is wanted."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (now := found()) != wanted and time.monotonic() < end:
        time.sleep(0.1)
    assert now == wanted
