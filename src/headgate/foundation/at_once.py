"""Limits concurrent operations per key in this process. The rate per minute is limited by `accounts.throttle`."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headgate.foundation.errors import HeadgateError


class AtOnce:
    """Counts running operations by key. Bound to one event loop, so check and increment are atomic.

    Args:
        limit: Maximum per key; 0 means no limit.
        full: Creates the error for a rejected operation from `limit`.
    """

    def __init__(self, limit: int, full: Callable[[int], HeadgateError]) -> None:
        self._most = limit
        self._full = full
        self._held: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._held.total()

    @contextmanager
    def held(self, key: str) -> Iterator[None]:
        """Count one operation of this key for the duration of the block. Raises the error of `full` at the limit."""
        if self._most and self._held[key] >= self._most:
            raise self._full(self._most)
        self._held[key] += 1
        try:
            yield
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
