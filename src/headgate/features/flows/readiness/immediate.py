"""Runs a coroutine that does not wait: checks are part of edits, which are synchronous."""

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def at_once(coroutine: Coroutine[Any, Any, T]) -> T | None:
    """Return the result of a coroutine that does not wait; None when it would wait."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    return None
