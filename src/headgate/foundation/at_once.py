"""Bounds what one key has at work at once, in this process. How often a minute it may begin is `accounts.throttle`."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from headgate.foundation.errors import HeadgateError


class AtOnce:
    """Counts what is at work, by key. Lives on one event loop: between asking and taking nothing else happens.

    Args:
        most: How many of one key; 0: without a limit.
        full: What is raised for one more, made from `most`.
    """

    def __init__(self, most: int, full: Callable[[int], HeadgateError]) -> None:
        self._most = most
        self._full = full
        self._held: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._held.total()

    @contextmanager
    def held(self, key: str) -> Iterator[None]:
        """A place of this key's, for as long as it lasts. Raises what `full` makes where none is left."""
        if self._most and self._held[key] >= self._most:
            raise self._full(self._most)
        self._held[key] += 1
        try:
            yield
        finally:
            self._held[key] -= 1
            if not self._held[key]:
                del self._held[key]
