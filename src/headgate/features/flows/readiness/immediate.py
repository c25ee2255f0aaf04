"""Runs a coroutine that waits for nothing: checks are part of edits, which are not asynchronous."""

from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def at_once(coroutine: Coroutine[Any, Any, T]) -> T | None:
    """The result of a coroutine that does not wait, as when variables are loaded; None when it would wait."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    return None
